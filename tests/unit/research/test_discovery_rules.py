"""Whatever is found and asked: no candidate twice, no address lost, nothing that may not be read."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from actors.platform.web.page_urls import page_url
from models.content.outside import SearchHit
from models.domains import standing_over
from models.errors import PageFailed
from models.knowledge.page_keys import page_key
from models.research.candidates import Discovery, DiscoveryRequest
from tests.examples import examples
from tests.unit.research.discovery_seams import Known, LetterVectors, ListedHits, discovered
from tests.unit.research.discovery_seams import settings as research
from tests.unit.research.invented_hits import DE_QUESTION, ENGLISH, GERMAN, POLISH, hit

NEVER, TRUSTED = "never.example", "trusted.example"
_URLS = st.one_of(
    st.sampled_from(
        [
            *(one.url for one in (*ENGLISH[:3], *POLISH[:3], *GERMAN[:3])),
            "https://never.example/a",
            "https://x.Never.example./b",
            "http://trusted.example/a",
            "http://10.1.2.3/",
            "mailto:x@y.example",
            "",
        ]
    ),
    st.builds(
        "{}://{}{}/{}{}".format,
        st.sampled_from(["http", "https", "HTTPS"]),
        st.sampled_from(["", "www.", "m.", "amp."]),
        st.sampled_from(["a.example", "b.example", TRUSTED, NEVER, "bbc.co.uk"]),
        st.sampled_from(["", "x", "x/", "x/index.html", "y?id=1", "y?id=2", "%78", "x/amp"]),
        st.sampled_from(["", "#top", "?utm_source=q", "&utm_source=q"]),
    ),
)
_LONG = "Wärmepumpen im Altbau brauchen Strom, und was der kostet, weiß vorher niemand so recht, sagen alle."
_HITS = st.builds(
    hit,
    st.one_of(_URLS, _URLS, _URLS, st.none()),
    st.sampled_from(
        ["", "Wärmepumpen im Altbau", "Wärmepumpen, Teil 1", "Wärmepumpen, Teil 2", "Stromkosten"]
    ),
    st.sampled_from(["", _LONG, _LONG.replace("niemand", "keiner"), "Kurz."]),
    st.sampled_from([None, "2026-06-30", "2026-06-01", "1999-01-01", "gestern"]),
    stored_as=st.sampled_from([None, "article:1", "resource:2"]),  # type: ignore[arg-type]
)
_REQUESTS = st.builds(
    DiscoveryRequest,
    question=st.just(DE_QUESTION),
    max_urls=st.integers(2, 8),
    date_range=st.sampled_from(["any", "month"]),
    language=st.sampled_from(["any", "de"]),
    without_domains=st.sampled_from([(), ("b.example",)]),
    urls=st.lists(_URLS, max_size=2).map(tuple),
)


@dataclass
class World:
    """What a discovery had before it."""

    request: DiscoveryRequest
    hits: Sequence[SearchHit]
    by_meaning: bool
    found: Discovery = field(init=False)

    def __post_init__(self) -> None:
        self.found = asyncio.run(
            discovered(
                self.request,
                ListedHits(self.hits),
                knowledge=Known(held={"https://a.example/x": 5}),
                embedder=LetterVectors() if self.by_meaning else None,
                config=research(least=2, most=6, never=(NEVER,), trust=(TRUSTED,)),
            )
        )


_WORLDS = st.builds(World, _REQUESTS, st.lists(_HITS, max_size=14), st.booleans())


def form(text: str) -> str | None:
    """An address in the form by which pages are fetched; None where it is none."""
    try:
        return page_url(text)
    except PageFailed:
        return None


def is_never(url: str) -> bool:
    """Whether the site never reads an address."""
    return standing_over(url.split("/")[2], {NEVER}) is not None


@examples(60)
@given(_WORLDS)
def test_no_page_is_there_twice(world: World) -> None:
    shown = [url for one in world.found.candidates for url in (one.url, *one.folded)]
    assert len(set(shown)) == len(shown)
    keys = [page_key(one.url) for one in world.found.candidates]
    assert len(set(keys)) == len(keys)
    assert [one.number for one in world.found.candidates] == list(range(1, len(keys) + 1))


@examples(60)
@given(_WORLDS)
def test_no_address_is_lost_without_a_count(world: World) -> None:
    hits = [(one.url, one.stored_as, one.title) for one in world.hits]
    given_ = {form(url) or url for url in world.request.urls}
    own = {url for url in given_ if (good := form(url)) and not is_never(good)}
    addresses = {form(url) or url for url, _, _ in hits if url is not None} | own
    nowhere = {title for url, stored, title in hits if url is None and stored is None}
    stored = {kept for url, kept, _ in hits if url is None and kept is not None}
    shown = {url for one in world.found.candidates for url in (one.url, *one.folded)}
    counted = sum(one.count for one in world.found.left_out)
    # An address that is none and a title may be the same text: "".
    lost = len(addresses) + len(nowhere - addresses) + len(stored) - len(shown) - len(world.found.stored)
    assert counted == lost
    assert shown <= addresses
    assert {one.url for one in world.found.refused} == {
        url.strip() for url in world.request.urls if form(url) not in own
    }


@examples(60)
@given(_WORLDS, st.randoms(use_true_random=False))
def test_the_order_of_hits_does_not_change_what_is_found(world: World, random: object) -> None:
    shuffled = list(world.hits)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    other = World(world.request, shuffled, world.by_meaning)

    def plain(found: Discovery) -> set[object]:
        return {(one.url, frozenset(one.folded), one.score, one.source) for one in found.candidates}

    assert plain(other.found) == plain(world.found)
    assert other.found.left_out == world.found.left_out


@examples(60)
@given(_WORLDS)
def test_every_address_may_be_fetched_and_none_is_of_a_domain_that_is_never_read(world: World) -> None:
    for one in world.found.candidates:
        for url in (one.url, *one.folded):
            assert page_url(url) == url
            assert not is_never(url)
        assert one.rating != "never"
        assert 0.0 <= one.score <= 1.0


@examples(60)
@given(_WORLDS)
def test_there_are_never_more_than_are_wanted_but_for_the_persons_own(world: World) -> None:
    own = [one for one in world.found.candidates if one.source == "user"]
    assert len(world.found.candidates) <= max(min(6, world.request.max_urls), len(own))
    assert [one.source == "user" for one in world.found.candidates] == sorted(
        (one.source == "user" for one in world.found.candidates), reverse=True
    )


def _many(count: int) -> list[SearchHit]:
    """Hits of which every fourth is a copy of another, and all share the words of a template."""
    return [
        hit(
            f"https://site{n}.example/{n}",
            f"Report {n // 4} on tides",
            f"Read the latest report with tables and charts by our team number {n // 4} of the coast.",
        )
        for n in range(count)
    ]


def _seconds(hits: Sequence[SearchHit]) -> float:
    begun = time.process_time()
    found = asyncio.run(discovered(DiscoveryRequest(question="tides"), ListedHits(hits)))
    assert len(found.candidates) == 50
    return time.process_time() - begun


def test_a_thousand_hits_take_about_ten_times_as_long_as_a_hundred() -> None:
    _seconds(_many(250))
    few, many = min(_seconds(_many(250)) for _ in range(2)), min(_seconds(_many(1_000)) for _ in range(2))
    assert many < 8 * few + 0.5
    assert many < 10


def test_alike_texts_of_a_thousand_sites_take_no_longer() -> None:
    one = ENGLISH[1]
    hits = [one.model_copy(update={"url": f"https://copy{n}.example/"}) for n in range(1_000)]
    begun = time.process_time()
    found = asyncio.run(discovered(DiscoveryRequest(question="ECB rates"), ListedHits(hits)))
    assert time.process_time() - begun < 10
    assert len(found.candidates[0].folded) == 999
