"""Discovery whole: what a question finds, in which order, what is folded, and what is left out."""

import pytest
from psycopg import OperationalError

from actors.platform.runtime.outage import waits_for
from actors.systems.research.discovery.searching import hits_per_query
from models.content.outside import SearchHit
from models.errors import ProviderFailed, ProviderLimited
from models.research.candidates import Discovery, DiscoveryRequest, KnownPage, UrlCandidate
from tests.unit.research.discovery_seams import Known, LetterVectors, ListedHits, discovered, settings
from tests.unit.research.invented_hits import (
    DE_QUESTION,
    EN_QUESTION,
    ENGLISH,
    GERMAN,
    PL_QUESTION,
    POLISH,
    hit,
)

TIDES = "tides in the North Sea"


def ask(question: str = TIDES, **more: object) -> DiscoveryRequest:
    """A request for what a question says."""
    return DiscoveryRequest.model_validate({"question": question, **more})


def tide(url: str, number: int = 0, published_at: str | None = None) -> SearchHit:
    """A hit that bears on the question and is like no other."""
    names = ("Bremen", "Hull", "Esbjerg", "Gdynia", "Bergen", "Ostend")
    place = names[number % len(names)]
    return hit(
        url, f"Tides in the North Sea at {place} {number}", f"Tables of {place}, {number}.", published_at
    )


def left_out(found: Discovery) -> dict[str, int]:
    """What was left out, by its reason."""
    return {one.reason: one.count for one in found.left_out}


def urls(found: Discovery) -> list[str]:
    """The candidates' addresses, in their order."""
    return [candidate.url for candidate in found.candidates]


@pytest.mark.parametrize("by_meaning", [True, False])
@pytest.mark.parametrize(
    ("question", "hits", "best"),
    [(EN_QUESTION, ENGLISH, 4), (PL_QUESTION, POLISH, 3), (DE_QUESTION, GERMAN, 3)],
    ids=["en", "pl", "de"],
)
async def test_what_bears_on_a_question_comes_first_in_any_language(
    question: str, hits: tuple[SearchHit, ...], best: int, by_meaning: bool
) -> None:
    """The hits lie best first by eye; the provider gives them the other way around."""
    embedder = LetterVectors() if by_meaning else None
    found = await discovered(ask(question), ListedHits(hits[::-1]), embedder=embedder)
    told = urls(found)
    assert len(set(told[:best]) & {one.url for one in hits[: best + 2]}) >= best - 1
    beside = {"recipes", "kuchnia", "chefkoch", "fussball", "sport", "visitfrankfurt"}
    assert not [url for url in told[:7] if any(word in url for word in beside)]
    assert [one.score for one in found.candidates] == sorted(
        (o.score for o in found.candidates), reverse=True
    )
    assert [one.number for one in found.candidates] == list(range(1, len(told) + 1))


async def test_scores_do_not_come_from_the_providers_order() -> None:
    there = await discovered(ask(EN_QUESTION), ListedHits(ENGLISH), embedder=LetterVectors())
    back = await discovered(ask(EN_QUESTION), ListedHits(ENGLISH[::-1]), embedder=LetterVectors())
    assert {(one.url, one.score) for one in there.candidates} == {
        (one.url, one.score) for one in back.candidates
    }


async def test_of_pages_that_score_the_same_the_one_that_was_found_first_comes_first() -> None:
    hits = [hit(f"https://{name}.example/", "Tides", "") for name in ("c", "a", "b")]
    assert urls(await discovered(ask("tides"), ListedHits(hits))) == [one.url for one in hits]


async def test_a_candidate_says_what_is_known_of_it() -> None:
    found = await discovered(
        ask(PL_QUESTION, date_range="year"), ListedHits(POLISH), config=settings(trust=("nbp.pl",))
    )
    first = found.candidates[0]
    assert (first.domain, first.rating, first.language, first.source) == ("nbp.pl", "trust", "pl", "searxng")
    assert first.published == "2026-04-15"
    assert first.why.endswith("2026-04-15, trusted domain")


async def test_the_same_page_is_one_candidate_that_names_its_other_addresses() -> None:
    hits = [
        tide("http://www.tides.example/north?utm_source=x"),
        tide("https://m.tides.example/north/"),
        tide("https://tides.example/north"),
    ]
    [one] = (await discovered(ask(), ListedHits(hits))).candidates
    assert one.url == "https://tides.example/north"
    assert set(one.folded) == {hits[0].url, hits[1].url}


SAME = (
    "Low tide in the German Bight will fall on noon today, say the hydrographers in Hamburg, who have kept "
    "tables of it since the middle of the last century."
)


async def test_the_trusted_copy_of_a_text_stands_for_the_others() -> None:
    hits = [
        hit(f"{at}/tides", "Tides in the North Sea", SAME) for at in ("https://a.example", "http://b.example")
    ]
    hits.append(hit("http://trusted.example/t", "Tides in the North Sea", SAME))
    found = await discovered(ask(), ListedHits(hits), config=settings(trust=("trusted.example",)))
    [one] = found.candidates
    assert one.url == "http://trusted.example/t"
    assert one.folded == ("https://a.example/tides", "http://b.example/tides")
    [one] = (await discovered(ask(), ListedHits(hits[:2]))).candidates
    assert one.url == "https://a.example/tides"


async def test_of_copies_as_good_as_each_other_the_same_one_stands_in_any_order() -> None:
    hits = [hit(f"https://{name}.example/", "Tides in the North Sea", SAME) for name in ("b", "a", "c")]
    for some in (hits, hits[::-1]):
        [one] = (await discovered(ask(), ListedHits(some))).candidates
        assert one.url == "https://a.example/"


async def test_the_persons_own_address_is_folded_into_no_other() -> None:
    hits = [
        hit(f"https://{name}.example/", "Tides in the North Sea", SAME) for name in ("own", "also", "trusted")
    ]
    own = ("https://own.example/", "https://also.example/")
    found = await discovered(ask(urls=own), ListedHits(hits), config=settings(trust=("trusted.example",)))
    assert urls(found) == list(own)
    assert [url for one in found.candidates for url in one.folded] == ["https://trusted.example/"]


async def test_two_parts_of_a_series_are_two_candidates() -> None:
    hits = [
        hit(f"https://{n}.example/", f"Tides in the North Sea, part {n}", SAME) for n in ("1", "2", "three")
    ]
    assert len((await discovered(ask(), ListedHits(hits))).candidates) == 3


async def test_the_knowledge_of_the_project_is_asked_first_and_shown_as_such() -> None:
    known = Known(
        [KnownPage(id=7, url="https://kept.example/t", title="Tides in the North Sea", passage=SAME)]
    )
    provider = ListedHits([tide("https://new.example/", 1)], error=ProviderLimited("searxng: wait"))
    found = await discovered(ask(), provider, knowledge=known)
    [one] = found.candidates
    assert (one.url, one.source, one.known) == ("https://kept.example/t", "knowledge", 7)
    assert one.why.startswith("known already, ")
    assert "searxng: searxng: wait" in found.notes
    assert known.asked[0] == "about"


async def test_a_page_that_the_project_holds_is_known_under_another_address_too() -> None:
    known = Known(held={"https://www.tides.example/north": 9})
    hits = [tide("http://tides.example/north/?utm_id=1"), tide("https://other.example/", 1)]
    found = await discovered(ask(), ListedHits(hits), knowledge=known)
    assert {one.domain: one.known for one in found.candidates} == {"tides.example": 9, "other.example": None}


async def test_a_copy_of_what_the_project_holds_is_known() -> None:
    known = Known(
        [KnownPage(id=7, url="http://kept.example/t", title="Tides in the North Sea", passage=SAME)]
    )
    hits = [hit("https://copy.example/", "Tides in the North Sea", SAME)]
    [one] = (await discovered(ask(), ListedHits(hits), knowledge=known)).candidates
    assert (one.url, one.folded, one.known) == ("https://copy.example/", ("http://kept.example/t",), 7)


async def test_the_persons_own_addresses_come_first_as_he_gave_them_and_no_filter_takes_them() -> None:
    own = ("https://b.example/old-page", "http://a.example/x")
    found = await discovered(
        ask(urls=own, domains=("tides.example",), date_range="day", max_urls=3),
        ListedHits([tide("https://tides.example/1", 1), tide("https://tides.example/2", 2)]),
    )
    assert urls(found)[:2] == list(own)
    assert [one.source for one in found.candidates] == ["user", "user", "searxng"]
    assert left_out(found) == {"over_limit": 1}
    assert found.candidates[0].why.startswith("given by you, ")


async def test_a_person_is_told_why_an_address_of_his_is_not_read() -> None:
    own = (
        "https://x.never.example/a",
        "http://10.0.0.1/",
        "ftp://tides.example/",
        "tides",
        "https://ok.example/",
    )
    found = await discovered(ask(urls=own), config=settings(never=("never.example",)))
    assert urls(found) == ["https://ok.example/"]
    assert [one.url for one in found.refused] == list(own[:4])
    assert [one.rating for one in found.refused] == ["never", "neutral", "neutral", "neutral"]
    assert "research.domains.never" in found.refused[0].reason
    assert "outgoing.allow_internal" in found.refused[1].reason


async def test_what_is_never_read_and_what_is_no_address_are_left_out_and_counted() -> None:
    hits = [
        tide("https://never.example/1"),
        tide("https://www.NEVER.example./2"),
        tide("https://notnever.example/", 3),
        tide("http://127.0.0.1/", 4),
        tide("http://tides.example:25/", 5),
    ]
    found = await discovered(ask(), ListedHits(hits), config=settings(never=("never.example",)))
    assert urls(found) == ["https://notnever.example/"]
    assert left_out(found) == {"never": 2, "bad_address": 2}


async def test_dates_filter_and_an_unknown_date_is_kept() -> None:
    hits = [
        tide("https://new.example/", 1, "2026-06-30"),
        tide("https://old.example/", 2, "2026-05-01"),
        tide("https://undated.example/", 3),
        tide("https://odd.example/", 4, "last Tuesday"),
    ]
    found = await discovered(ask(date_range="month"), ListedHits(hits))
    assert urls(found)[0] == "https://new.example/"
    assert set(urls(found)[1:]) == {"https://undated.example/", "https://odd.example/"}
    assert all("date unknown" in one.why for one in found.candidates[1:])
    assert left_out(found) == {"too_old": 1}


async def test_domains_filter_with_all_that_lies_under_them() -> None:
    hits = [tide(f"https://{host}/", n) for n, host in enumerate(["a.gov.uk", "gov.uk", "b.org", "x.b.org"])]
    only = await discovered(ask(domains=("GOV.uk",)), ListedHits(hits))
    assert set(urls(only)) == {"https://a.gov.uk/", "https://gov.uk/"}
    assert left_out(only) == {"other_domain": 2}
    without = await discovered(ask(without_domains=("b.org",)), ListedHits(hits))
    assert set(urls(without)) == {"https://a.gov.uk/", "https://gov.uk/"}
    assert left_out(without) == {"excluded_domain": 2}


async def test_languages_filter_and_an_unknown_language_is_kept() -> None:
    short = hit("https://short.example/", "Wärmepumpe 2026", "")
    hits = [*GERMAN[:3], short, *(one for one in ENGLISH[:2])]
    found = await discovered(ask(DE_QUESTION, language="de"), ListedHits(hits))
    assert {one.language for one in found.candidates} == {"de", None}
    assert left_out(found) == {"other_language": 2}


async def test_beyond_the_least_only_what_bears_on_the_question_is_shown() -> None:
    good = [tide(f"https://t{n}.example/", n) for n in range(3)]
    weak = [hit(f"https://w{n}.example/", f"Chess opening {n}", "Knights and bishops") for n in range(5)]
    found = await discovered(ask(), ListedHits([*weak, *good]), config=settings(least=4, most=6))
    assert len(found.candidates) == 4
    assert left_out(found) == {"weak": 4}


async def test_there_are_no_more_than_the_site_and_the_request_want() -> None:
    hits = [tide(f"https://t{n}.example/", n) for n in range(70)]
    assert left_out(await discovered(ask(max_urls=200), ListedHits(hits))) == {"over_limit": 20}
    found = await discovered(ask(max_urls=5), ListedHits(hits))
    assert (len(found.candidates), left_out(found), found.notes) == (5, {"over_limit": 65}, (found.notes[0],))


async def test_of_pages_as_good_as_each_other_the_same_ones_are_shown_in_any_order() -> None:
    hits = [hit(f"https://{name}.example/", "Tides", "") for name in "dacb"]
    for some in (hits, hits[::-1]):
        found = await discovered(ask("tides", max_urls=2), ListedHits(some))
        assert set(urls(found)) == {"https://a.example/", "https://b.example/"}


async def test_every_address_of_a_page_that_is_left_out_is_counted() -> None:
    hits = [
        hit("https://a.example/", "Tides", ""),
        *(hit(f"https://{w}b.example/", "Tide", "") for w in ("", "www.")),
    ]
    found = await discovered(ask("tides", max_urls=1), ListedHits(hits))
    assert (urls(found), left_out(found)) == (["https://a.example/"], {"over_limit": 2})


async def test_few_candidates_are_said_to_be_few() -> None:
    found = await discovered(ask(date_range="day"), ListedHits([tide("https://t.example/")]))
    assert found.notes[-1] == (
        "fewer than 10 pages were found: 1; ask in other words, for a longer time, or give addresses"
    )
    found = await discovered(
        ask(max_urls=1), ListedHits([tide("https://t.example/")]), embedder=LetterVectors()
    )
    assert found.notes == ()


async def test_where_a_host_offers_several_pages_the_limit_of_leaving_one_out_is_told() -> None:
    hits = [tide(f"https://{host}.example/{n}", n) for n, host in enumerate(("t", "www.t", "u"))]
    assert any("only the host knows" in note for note in (await discovered(ask(), ListedHits(hits))).notes)
    assert not any(
        "only the host knows" in note for note in (await discovered(ask(), ListedHits(hits[1:]))).notes
    )


async def test_what_is_stored_here_is_shown_beside_the_candidates() -> None:
    stored = [
        hit(
            None,
            "Tides in the North Sea",
            "An article of ours",
            "2026-06-01",
            source="local",
            stored_as="article:3",
        ),
        hit(None, "Chess", "Another one", "2026-06-01", source="local", stored_as="article:4"),
        hit(None, "Tides", "An old one", "2020-01-01", source="local", stored_as="article:1"),
    ]
    found = await discovered(ask(date_range="year"), ListedHits([*stored, stored[0]], name="local"))
    assert [one.stored_as for one in found.stored] == ["article:3", "article:4"]
    assert found.stored[0].score > found.stored[1].score
    assert left_out(found) == {"too_old": 1}


async def test_each_provider_is_asked_each_query_and_one_that_fails_is_told_of() -> None:
    good = ListedHits([tide("https://t.example/")], note="engines that did not answer: x")
    broken = ListedHits(name="google_cse", error=ProviderFailed("answered 500"))
    found = await discovered(ask(queries=("a", "b"), date_range="week"), good, broken)
    assert [asked[0] for asked in good.asked] == [asked[0] for asked in broken.asked] == ["a", "b"]
    assert {asked[2] for asked in good.asked} == {"week"}
    assert found.queries == ("a", "b")
    assert found.notes[:2] == ("searxng: engines that did not answer: x", "google_cse: answered 500")


async def test_a_provider_whose_quota_is_used_up_is_asked_no_more() -> None:
    limited = ListedHits(name="google_cse", error=ProviderLimited("the quota is used up"))
    await discovered(ask(queries=("a", "b")), limited, ListedHits([tide("https://t.example/")]))
    assert len(limited.asked) == 1


async def test_a_search_that_nobody_answers_is_an_error_and_not_nothing_found() -> None:
    with pytest.raises(ProviderFailed, match="answered 500"):
        await discovered(ask(), ListedHits(error=ProviderFailed("answered 500")))
    found = await discovered(
        ask(urls=("https://t.example/",)), ListedHits(error=ProviderFailed("answered 500"))
    )
    assert urls(found) == ["https://t.example/"]


async def test_a_search_that_postgres_is_away_from_waits_for_it() -> None:
    away = OperationalError("server closed the connection unexpectedly")
    with pytest.raises(OperationalError) as raised:
        await discovered(ask(), ListedHits(name="local", error=away), ListedHits())
    assert waits_for(raised.value) == "Postgres"


async def test_where_nobody_is_asked_that_is_said() -> None:
    found = await discovered(ask(urls=("https://t.example/",)))
    assert "nothing was searched for" in found.notes[0]


@pytest.mark.parametrize(("queries", "wanted", "asked"), [(1, 50, 50), (8, 50, 20), (3, 5, 10), (1, 1, 10)])
def test_each_query_asks_for_its_share_twice_over(queries: int, wanted: int, asked: int) -> None:
    assert hits_per_query(queries, wanted) == asked


async def test_each_text_is_embedded_once() -> None:
    embedder = LetterVectors()
    await discovered(
        ask(), ListedHits([tide("https://a.example/"), tide("https://b.example/")]), embedder=embedder
    )
    assert len(set(embedder.texts)) == len(embedder.texts)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            {"urls": ["https://a.example/", "https://b.example/"], "max_urls": 1},
            "max_urls is 1, and urls are 2",
        ),
        ({"domains": ["X.org"], "without_domains": ["x.org"]}, "x.org is in domains and in without_domains"),
        ({"domains": ["https://x.org"]}, "is no domain: write a name alone"),
        ({"language": "German"}, "'German' is no language: write a code of two letters"),
        ({"max_urls": 201}, "less than or equal to 200"),
        ({"max_urls": 0}, "greater than or equal to 1"),
        ({"date_range": "decade"}, "'day', 'week', 'month', 'year' or 'any'"),
    ],
)
def test_a_request_that_can_not_be_is_refused_with_the_remedy(said: dict[str, object], told: str) -> None:
    with pytest.raises(ValueError, match=told.replace("(", r"\(")):
        ask(**said)


def test_a_page_that_is_never_read_can_be_no_candidate() -> None:
    with pytest.raises(ValueError, match="never read: its pages are no candidates"):
        UrlCandidate(
            number=1,
            url="https://x.example/",
            title="",
            snippet="",
            score=1.0,
            published=None,
            source="searxng",
            language=None,
            domain="x.example",
            rating="never",
        )
