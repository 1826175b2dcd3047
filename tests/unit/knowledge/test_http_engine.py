"""The engine `http`: each request in its turn, redirects through the guard, and bounds on what comes back."""

import gzip
import zlib
from collections.abc import AsyncIterator

import pytest

from actors.platform.web.politeness.host_turns import HostTurn
from actors.systems.knowledge.fetching.http_engine import HttpEngine
from models.config import Config, OutgoingConfig
from models.errors import PageFailed
from models.knowledge.reach import PageReach
from tests.fakes.outside.page_site import Answer, article, serving

HERE = OutgoingConfig(allow_internal=("127.0.0.1/32",))


class Turns:
    """Grants all but what is closed, and remembers what it was asked and told."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.sent_to: list[str] = []
        self.told: list[tuple[str, float | None]] = []
        self.well: list[str] = []
        self.closed: str | None = None

    async def turn(self, url: str, *, patience: float) -> HostTurn:
        self.asked.append(url)
        if self.closed is not None and self.closed in url:
            return HostTurn(granted=False, reason="robots.txt says no", fault="refused_by_robots")
        return HostTurn(granted=True)

    async def allowed(self, url: str) -> HostTurn:
        return HostTurn(granted=True)

    async def sent(self, url: str) -> None:
        self.sent_to.append(url)

    async def told_to_wait(self, url: str, seconds: float | None) -> None:
        self.told.append((url, seconds))

    async def went_well(self, url: str) -> None:
        self.well.append(url)


@pytest.fixture
def turns() -> Turns:
    return Turns()


@pytest.fixture
async def engine(config: Config, turns: Turns) -> AsyncIterator[HttpEngine]:
    settings = config.knowledge.scraping.model_copy(update={"timeout_seconds": 2.0, "max_bytes": 100_000})
    engine = HttpEngine(settings=settings, outgoing=HERE, turns=turns)
    yield engine
    await engine.close()


async def fault_of(engine: HttpEngine, url: str) -> str:
    with pytest.raises(PageFailed) as failed:
        await engine.fetch(url)
    return str(failed.value.facts["fault"])


async def test_a_page_is_had_where_its_redirects_end_each_in_its_turn(
    engine: HttpEngine, turns: Turns
) -> None:
    def to(path: str) -> Answer:
        return Answer(status=302, headers={"location": path})

    pages = {"/a": to("/b?x=ż"), "/b?x=%C5%BC": to("c/d"), "/c/d": article("D", "Text.")}
    with serving(pages) as site:
        page = await engine.fetch(f"{site.origin}/a")
        assert page.url == f"{site.origin}/c/d"
        assert turns.asked == [f"{site.origin}{hit.path}" for hit in site.hits]
        assert turns.sent_to == turns.asked
        assert b"Text." in page.body
        assert page.content_type == "text/html; charset=utf-8"


async def test_a_redirect_beyond_what_was_approved_is_not_followed(engine: HttpEngine, turns: Turns) -> None:
    with serving({"/b": article("B", "Text.")}) as elsewhere:
        pages = {
            "/a": Answer(status=302, headers={"location": "/here"}),
            "/here": Answer(status=302, headers={"location": f"{elsewhere.origin}/b"}),
        }
        with serving(pages) as site:
            with pytest.raises(PageFailed, match="not approved") as failed:
                await engine.fetch(f"{site.origin}/a", PageReach.of([site.origin]))
            assert failed.value.facts["fault"] == "other_host"
            assert [hit.path for hit in site.hits] == ["/a", "/here"]
            assert elsewhere.hits == []
            assert not any(url.startswith(elsewhere.origin) for url in turns.asked), "nor its robots.txt"
            await engine.fetch(f"{site.origin}/a")
            assert [hit.path for hit in elsewhere.hits] == ["/b"]


async def test_cookies_live_for_one_pages_redirects(engine: HttpEngine) -> None:
    def gate(hit: object) -> Answer:
        seen = getattr(hit, "headers", {}).get("cookie")
        if seen:
            return article("In", seen)
        return Answer(status=302, headers={"location": "/a", "set-cookie": "k=1; Path=/"})

    with serving({"/a": gate, "/b": article("B", "b")}) as site:
        assert b"k=1" in (await engine.fetch(f"{site.origin}/a")).body
        await engine.fetch(f"{site.origin}/b")
        assert "cookie" not in site.hits[-1].headers


@pytest.mark.parametrize(
    ("target", "fault"),
    [
        ("http://127.0.0.2:8081/", "refused_by_guard"),
        ("http://10.0.0.1/", "refused_by_guard"),
        ("\\\\0x7f.2\\a", "refused_by_guard"),
        ("//１２７。０。０。２/", "refused_by_guard"),
        ("http:\t//017700000002./", "refused_by_guard"),
        ("http://example.com@[::ffff:7f00:2]/", "bad_url"),
        ("file:///etc/passwd", "bad_url"),
        ("http://u:p@example.com/", "bad_url"),
        ("/a", "http_error"),
    ],
)
async def test_a_redirect_leads_nowhere_that_an_address_may_not(
    target: str, fault: str, engine: HttpEngine
) -> None:
    with serving({"/a": Answer(status=301, headers={"location": target})}) as site:
        assert await fault_of(engine, f"{site.origin}/a") == fault
        assert len(site.hits) <= 11


async def test_what_robots_close_is_not_asked_for_by_a_redirect_either(
    engine: HttpEngine, turns: Turns
) -> None:
    turns.closed = "/closed"
    with serving({"/a": Answer(status=302, headers={"location": "/closed"})}) as site:
        assert await fault_of(engine, f"{site.origin}/a") == "refused_by_robots"
        assert [hit.path for hit in site.hits] == ["/a"]


async def test_who_is_asked_too_often_is_asked_again_when_he_wants_it(
    engine: HttpEngine, turns: Turns
) -> None:
    busy = Answer(status=429, headers={"retry-after": "7"})
    pages = {"/a": [busy, Answer(status=503), article("A", "a")], "/b": busy, "/c": article("C", "c")}
    with serving(pages) as site:
        page = await engine.fetch(f"{site.origin}/a")
        assert (page.status, turns.told) == (200, [(f"{site.origin}/a", 7.0), (f"{site.origin}/a", None)])
        assert turns.well == [f"{site.origin}/a"]
        await engine.fetch(f"{site.origin}/a")
        assert len(turns.well) == 1
        # The last answer stands, and means what the verdict says.
        assert (await engine.fetch(f"{site.origin}/b")).status == 429
        assert site.asked("/b") == 3
        # It is the host that has answered, whatever page it was asked for.
        await engine.fetch(f"{site.origin}/c")
        assert turns.well == [f"{site.origin}/a", f"{site.origin}/c"]


async def test_what_breaks_off_is_tried_again_and_then_told(engine: HttpEngine) -> None:
    with serving(
        {"/a": [Answer(b"half", broken=True), article("A", "a")], "/b": Answer(broken=True)}
    ) as site:
        assert (await engine.fetch(f"{site.origin}/a")).status == 200
        assert await fault_of(engine, f"{site.origin}/b") == "unreachable"


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (Answer(b"x" * 100_001), "too_large"),
        (Answer(gzip.compress(b"x" * 10_000_000), headers={"content-encoding": "gzip"}), "too_large"),
        (Answer(zlib.compress(b"y" * 10_000_000), headers={"content-encoding": "deflate"}), "too_large"),
        (Answer(b"no gzip", headers={"content-encoding": "gzip"}), "unreadable"),
        (Answer(b"x", headers={"content-encoding": "br"}), "unreadable"),
        (Answer(b"\x89PNG", headers={"content-type": "image/png"}), "unsupported_type"),
        (Answer(b"late", seconds=3.0), "timeout"),
    ],
)
async def test_there_are_bounds_to_what_comes_back(answer: Answer, fault: str, engine: HttpEngine) -> None:
    with serving({"/a": answer}) as site:
        assert await fault_of(engine, f"{site.origin}/a") == fault


async def test_a_host_that_is_not_there_is_unreachable(engine: HttpEngine) -> None:
    assert await fault_of(engine, "http://127.0.0.1:9/") == "unreachable"
    assert await fault_of(engine, "http://127.0.0.9:9/") == "refused_by_guard"
