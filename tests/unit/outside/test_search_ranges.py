"""Date ranges in each provider's own parameter, and searches of more hits than one request gives."""

from collections.abc import Callable, Iterator

import pytest

from models.config.outside import SearchProviders
from models.content.outside import DateRange
from models.errors import ProviderFailed, ProviderLimited
from tests.fakes.outside.search_providers import Page, Reply, SearchServer, google_error, json_reply
from tests.unit.outside.search_config import configured, google, search, searxng

BY_DATE = "only those of its engines were asked that filter by date"
Providers = Callable[[SearchServer], SearchProviders]


@pytest.fixture
def server() -> Iterator[SearchServer]:
    with SearchServer() as running:
        yield running


def pages(count: int) -> list[Page]:
    return [Page(f"{number}", f"https://example.org/{number}") for number in range(count)]


def asked(server: SearchServer, name: str) -> list[str | None]:
    """What each request had for a parameter."""
    return [request.query.get(name) for request in server.asked]


@pytest.mark.parametrize("date_range", ["day", "week", "month", "year"])
async def test_searxng_is_asked_for_a_time_range(server: SearchServer, date_range: DateRange) -> None:
    server.found = pages(13)
    answer = await search(configured(search=searxng(server)), date_range=date_range, limit=20)
    assert len(answer.hits) == 13
    assert answer.note == BY_DATE
    assert asked(server, "time_range") == [date_range, date_range, date_range][: len(server.asked)]
    assert asked(server, "pageno") == [None, "2"]


@pytest.mark.parametrize(
    ("date_range", "restrict"), [("day", "d1"), ("week", "w1"), ("month", "m1"), ("year", "y1")]
)
async def test_google_is_asked_for_a_date_restrict(
    server: SearchServer, date_range: DateRange, restrict: str
) -> None:
    server.found = pages(13)
    answer = await search(configured(search=google(server)), date_range=date_range, limit=20)
    assert len(answer.hits) == 13
    assert answer.note is None
    assert asked(server, "dateRestrict") == [restrict, restrict]
    assert asked(server, "sort") == [None, None]
    server.asked.clear()
    await search(configured(search=google(server)), kind="news", date_range=date_range)
    assert (asked(server, "dateRestrict"), asked(server, "sort")) == ([restrict], ["date"])


async def test_without_a_range_none_is_asked_for(server: SearchServer) -> None:
    for providers in (searxng(server), google(server)):
        assert (await search(configured(search=providers))).note is None
    assert asked(server, "time_range") + asked(server, "dateRestrict") == [None] * 4


@pytest.mark.parametrize("providers", [searxng, google])
async def test_what_is_older_all_the_same_is_left_out_and_counted(
    server: SearchServer, providers: Providers
) -> None:
    server.found = [
        Page("old", "https://example.org/old", published="2001-01-01"),
        Page("unknown", "https://example.org/unknown"),
        Page("older", "https://example.org/older", published="2001-01-01T10:00:00Z"),
        Page("to come", "https://example.org/next", published="2090-01-01"),
    ]
    answer = await search(configured(search=providers(server)), date_range="month")
    assert [hit.title for hit in answer.hits] == ["unknown", "to come"]
    assert answer.note is not None
    assert answer.note.endswith("hits left out that are older than a month: 2")
    everything = await search(configured(search=providers(server)))
    assert len(everything.hits) == 4


@pytest.mark.parametrize(
    ("limit", "google_asked", "searxng_asked"),
    [
        (10, [("1", "10")], [None]),
        (11, [("1", "10"), ("11", "1")], [None, "2"]),
        (50, [(f"{10 * n + 1}", "10") for n in range(5)], [None, "2", "3", "4", "5"]),
    ],
)
async def test_pages_are_asked_for_until_there_is_enough(
    server: SearchServer,
    limit: int,
    google_asked: list[tuple[str, str]],
    searxng_asked: list[str | None],
) -> None:
    server.found = pages(70)
    titles = [str(number) for number in range(limit)]
    answer = await search(configured(search=google(server)), limit=limit)
    assert [hit.title for hit in answer.hits] == titles
    assert list(zip(asked(server, "start"), asked(server, "num"), strict=True)) == google_asked
    server.asked.clear()
    answer = await search(configured(search=searxng(server)), limit=limit)
    assert [hit.title for hit in answer.hits] == titles
    assert asked(server, "pageno") == searxng_asked


async def test_a_large_page_of_searxng_is_enough(server: SearchServer) -> None:
    server.found, server.page_size = pages(70), 25
    assert len((await search(configured(search=searxng(server)), limit=50)).hits) == 50
    assert asked(server, "pageno") == [None, "2"]


@pytest.mark.parametrize("providers", [searxng, google])
async def test_requests_are_bounded_whatever_comes(server: SearchServer, providers: Providers) -> None:
    """Pages full of what is left out do not lead to more requests."""
    server.found = [
        Page(f"{number}", f"https://example.org/{number}", published="2001-01-01") for number in range(200)
    ]
    answer = await search(configured(search=providers(server)), date_range="day", limit=30)
    assert (answer.hits, len(server.asked)) == ((), 3)
    assert answer.note is not None
    assert answer.note.endswith("older than a day: 30")


async def test_searxng_that_repeats_itself_is_asked_no_more(server: SearchServer) -> None:
    """As one does whose engines know no second page."""
    same = json_reply({"results": [{"title": "A", "url": "https://example.org/a"}]})
    server.script(same, same, same)
    answer = await search(configured(search=searxng(server)), limit=50)
    assert ([hit.title for hit in answer.hits], len(server.asked)) == (["A"], 2)


@pytest.mark.parametrize(
    ("providers", "first"),
    [
        (
            searxng,
            {"results": [{"title": f"{n}", "url": f"https://example.org/{n}"} for n in range(10)]},
        ),
        (
            google,
            {
                "kind": "customsearch#search",
                "items": [{"title": f"{n}", "link": f"https://example.org/{n}"} for n in range(10)],
            },
        ),
    ],
)
async def test_a_later_page_that_fails_is_told_and_the_first_kept(
    server: SearchServer, providers: Providers, first: dict[str, object]
) -> None:
    config = configured(search=providers(server))
    for fault, told in (
        (Reply(429, b"slow down"), "try again later"),
        (Reply(500, b"broken"), "answered 500"),
    ):
        server.script(json_reply(first), fault)
        answer = await search(config, limit=30)
        assert len(answer.hits) == 10
        assert answer.note is not None
        assert answer.note.startswith("page 2 of the results is missing: ")
        assert told in answer.note
    assert len(server.asked) == 4
    server.script(Reply(429, b"slow down"), Reply(500, b"broken"))
    with pytest.raises(ProviderLimited):
        await search(config, limit=30)
    with pytest.raises(ProviderFailed):
        await search(config, limit=30)


async def test_google_s_quota_that_ends_half_way_is_told(server: SearchServer) -> None:
    first = {
        "kind": "customsearch#search",
        "items": [{"title": f"{n}", "link": f"https://example.org/{n}"} for n in range(10)],
    }
    server.script(
        json_reply(first),
        google_error(403, "Quota exceeded", "dailyLimitExceeded", "RESOURCE_EXHAUSTED"),
    )
    answer = await search(configured(search=google(server)), limit=20)
    assert len(answer.hits) == 10
    assert "the quota of queries is used up" in (answer.note or "")


async def test_an_engine_that_is_silent_on_each_page_is_named_once(server: SearchServer) -> None:
    for number in range(3):
        page = [{"title": f"{number}", "url": f"https://example.org/{number}"}]
        server.script(json_reply({"results": page, "unresponsive_engines": [["google", "CAPTCHA"]]}))
    answer = await search(configured(search=searxng(server)), limit=30)
    assert len(answer.hits) == 3
    assert answer.note == "engines that did not answer: google (CAPTCHA)"


@pytest.mark.parametrize(
    ("again", "once"),
    [
        ("https://EXAMPLE.org:443/a#end", True),
        ("https://example.org/b/../a", True),
        ("https://example.org/a?", False),
        ("http://example.org/a", False),
        ("https://example.org/A", False),
    ],
)
async def test_a_page_is_found_once_by_its_normal_form(server: SearchServer, again: str, once: bool) -> None:
    server.found = [Page("first", "https://example.org/a"), Page("again", again)]
    answer = await search(configured(search=searxng(server)))
    assert [hit.title for hit in answer.hits] == (["first"] if once else ["first", "again"])
