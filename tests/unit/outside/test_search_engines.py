"""SearXNG and Google's engine over real HTTP, in their formats; and which provider is asked."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from actors.platform.web.providers.search import lacking
from models.config.outside import GoogleCseSearch, LocalSearch, SearchProviders, SearxngSearch
from models.content.outside import SearchHit, SearchKind
from models.errors import AddressRefused, ProviderFailed, ProviderLimited, ProviderMissing, SignoffError
from tests.fakes.outside.search_providers import (
    KEY,
    Page,
    Reply,
    SearchServer,
    google_error,
    json_reply,
    redirect,
)
from tests.unit.outside.search_config import configured, google, search, searxng


@pytest.fixture
def server() -> Iterator[SearchServer]:
    with SearchServer() as running:
        yield running


async def refused(
    server: SearchServer, providers: SearchProviders, kind: type[SignoffError] = ProviderFailed, **more: Any
) -> str:
    """The message of the error, which holds no key."""
    with pytest.raises(kind) as caught:
        await search(configured(search=providers), **more)
    assert KEY not in str(caught.value)
    assert KEY not in repr(caught.value.facts)
    return str(caught.value)


@pytest.mark.parametrize(
    ("kind", "query", "category"),
    [
        ("web", "stopy procentowe", "general"),
        ("news", "stopy procentowe", "news"),
        ("financial_news", "stopy procentowe finance", "news"),
    ],
)
async def test_searxng_is_asked_by_category(
    server: SearchServer, kind: SearchKind, query: str, category: str
) -> None:
    answer = await search(configured(search=searxng(server)), "stopy procentowe", kind=kind)
    assert server.asked[0].path == "/search"
    assert server.asked[0].query == {"q": query, "format": "json", "categories": category}
    assert answer.provider == "searxng"
    assert answer.note is None
    assert answer.hits == (
        SearchHit(
            title="The ECB holds rates",
            url="https://example.org/ecb",
            snippet="What it says.",
            published_at="2026-10-30",
            source="searxng",
        ),
    )


async def test_searxng_may_be_under_a_path(server: SearchServer) -> None:
    providers = SearchProviders(searxng=SearxngSearch(url=server.url + "/searxng/"))
    server.script(json_reply({"results": []}))
    assert (await search(configured(search=providers))).hits == ()
    assert server.asked[0].path == "/searxng/search"


async def test_searxng_without_its_json_format_says_what_to_switch_on(server: SearchServer) -> None:
    server.json_format = False
    assert "add json to search.formats" in await refused(server, searxng(server))


async def test_searxng_names_the_engines_that_are_silent(server: SearchServer) -> None:
    silent = [
        ["google", "CAPTCHA"],
        ["<b>bing</b>", "timeout"],
        "odd",
        [],
        None,
        ["brave", "x"],
        ["qwant", "y"],
    ]
    server.script(json_reply({"results": [], "unresponsive_engines": silent}))
    answer = await search(configured(search=searxng(server)))
    assert answer.note == "engines that did not answer: google (CAPTCHA), bing (timeout), odd and 2 more"


async def test_hits_are_made_plain_and_odd_ones_left_out(server: SearchServer) -> None:
    server.script(
        json_reply(
            {
                "results": [
                    {"title": "<b>A&amp;B</b>\x00", "url": "https://example.org/1", "content": None},
                    {"title": "bad", "url": "javascript:alert(1)", "content": "x"},
                    {"title": "none", "content": "x"},
                    {"title": 3, "url": "https://example.org/2", "content": ["x"], "publishedDate": 5},
                    {"title": "again", "url": "https://example.org/1"},
                    {"url": "https://example.org/3", "unheard": {"of": 1}},
                ]
            }
        )
    )
    answer = await search(configured(search=searxng(server)))
    assert [(hit.title, hit.url, hit.snippet, hit.published_at) for hit in answer.hits] == [
        ("A&B", "https://example.org/1", "", None),
        ("https://example.org/2", "https://example.org/2", "", None),
        ("https://example.org/3", "https://example.org/3", "", None),
    ]
    assert answer.note == "hits left out that have no web address: 2"


@pytest.mark.parametrize("limit", [1, 5, 20])
async def test_no_more_hits_than_asked_for(server: SearchServer, limit: int) -> None:
    server.found = [Page(f"{number}", f"https://example.org/{number}") for number in range(30)]
    for providers in (searxng(server), google(server)):
        answer = await search(configured(search=providers), limit=limit)
        assert [hit.title for hit in answer.hits] == [str(number) for number in range(limit)]


@pytest.mark.parametrize(
    "reply",
    [
        Reply(200, b"<!DOCTYPE html><html>...</html>", {"Content-Type": "text/html"}),
        json_reply({"results": "none"}),
        json_reply({"results": [1]}),
        json_reply({"items": {}, "query": "x"}),
        json_reply([]),
        Reply(200, b"null"),
        Reply(502, b"Bad Gateway"),
        Reply(404, b""),
    ],
)
async def test_what_is_not_an_answer_is_an_error(server: SearchServer, reply: Reply) -> None:
    server.script(reply, reply)
    assert "searxng: " in await refused(server, searxng(server))
    assert "google_cse: " in await refused(server, google(server))


async def test_a_limiter_is_told_as_such(server: SearchServer) -> None:
    server.script(Reply(429, b"Too Many Requests"))
    await refused(server, searxng(server), ProviderLimited)


@pytest.mark.parametrize(
    ("kind", "extra"),
    [("web", {}), ("news", {"dateRestrict": "m1", "sort": "date"}), ("financial_news", None)],
)
async def test_google_is_asked_with_its_parameters(
    server: SearchServer, kind: SearchKind, extra: dict[str, str] | None
) -> None:
    answer = await search(configured(search=google(server)), kind=kind, limit=7)
    asked = dict(server.asked[0].query)
    assert (asked.pop("key"), asked.pop("q"), asked.pop("num"), asked.pop("start")) == (
        KEY,
        "rates",
        "7",
        "1",
    )
    assert asked.pop("cx")
    if extra is None:
        assert "finance" in asked.pop("orTerms").split()
        extra = {"dateRestrict": "m1", "sort": "date"}
    assert asked == extra
    assert answer.hits[0] == SearchHit(
        title="The ECB holds rates",
        url="https://example.org/ecb",
        snippet="What it says.",
        published_at="2026-10-30",
        source="google_cse",
    )


async def test_google_is_asked_for_more_pages_only_while_there_are_any(server: SearchServer) -> None:
    server.found = [Page(f"{number}", f"https://example.org/{number}") for number in range(13)]
    answer = await search(configured(search=google(server)), limit=20)
    assert len(answer.hits) == 13
    assert [(asked.query["start"], asked.query["num"]) for asked in server.asked] == [
        ("1", "10"),
        ("11", "10"),
    ]
    server.asked.clear()
    server.found = []
    assert (await search(configured(search=google(server)), limit=20)).hits == ()
    assert len(server.asked) == 1


async def test_google_with_a_wrong_key_names_the_settings(server: SearchServer) -> None:
    told = await refused(server, google(server, key="AIzaWrong"))
    assert "API key not valid" in told
    assert "outside.search.google_cse" in told


async def test_google_that_repeats_the_key_does_not_make_it_known(server: SearchServer) -> None:
    told = f"The provided API key {KEY} is restricted"
    server.script(
        google_error(403, told, "forbidden", "PERMISSION_DENIED"),
        google_error(500, told, "backendError", "INTERNAL"),
    )
    assert "restricted" in await refused(server, google(server))
    assert "restricted" in await refused(server, google(server))


@pytest.mark.parametrize(
    ("code", "reason", "status"),
    [
        (403, "dailyLimitExceeded", ""),
        (403, "rateLimitExceeded", "PERMISSION_DENIED"),
        (403, "other", "RESOURCE_EXHAUSTED"),
        (429, "rateLimitExceeded", "RESOURCE_EXHAUSTED"),
    ],
)
async def test_googles_quotas_are_limits(server: SearchServer, code: int, reason: str, status: str) -> None:
    server.script(google_error(code, "Quota exceeded for quota metric 'Queries'", reason, status))
    told = await refused(server, google(server), ProviderLimited)
    assert "Quota exceeded" in told
    assert "again later" in told


async def test_a_long_query_is_cut_and_said_so(server: SearchServer) -> None:
    for providers in (searxng(server), google(server)):
        answer = await search(configured(search=providers), "ż" * 2000)
        assert answer.note == "the query was too long and its end was left out"
        assert server.asked[-1].query["q"] == "ż" * 200


async def test_an_internal_searxng_has_to_be_allowed(server: SearchServer) -> None:
    config = configured(search=searxng(server), allow_internal=())
    with pytest.raises(AddressRefused, match=r"searxng: .*outgoing\.allow_internal"):
        await search(config)
    assert server.asked == []


async def test_a_redirect_inside_is_refused(server: SearchServer) -> None:
    server.script(redirect("http://169.254.169.254/latest/meta-data/"))
    with pytest.raises(AddressRefused, match=r"searxng: .*169\.254\.169\.254"):
        await search(configured(search=searxng(server)))


async def test_many_at_once_are_kept_apart(server: SearchServer) -> None:
    config = configured(search=searxng(server))
    answers = await asyncio.gather(*(search(config, f"q{number}", limit=1) for number in range(8)))
    assert all(len(answer.hits) == 1 for answer in answers)
    assert {asked.query["q"] for asked in server.asked} == {f"q{number}" for number in range(8)}


async def test_the_first_that_is_configured_is_asked(server: SearchServer) -> None:
    both = SearchProviders(
        local=LocalSearch(), google_cse=google(server).google_cse, searxng=searxng(server).searxng
    )
    assert (await search(configured(search=both))).provider == "searxng"
    assert (await search(configured(search=both), name="google_cse")).provider == "google_cse"


async def test_a_provider_that_fails_is_not_replaced(server: SearchServer) -> None:
    both = SearchProviders(google_cse=google(server).google_cse, searxng=searxng(server).searxng)
    server.script(Reply(500, b"broken"))
    with pytest.raises(ProviderFailed, match="searxng: answered 500"):
        await search(configured(search=both))
    assert len(server.asked) == 1


async def test_what_is_not_configured_names_its_setting() -> None:
    nothing, local = SearchProviders(), SearchProviders(local=LocalSearch())
    with pytest.raises(ProviderMissing, match=r"outside\.search\.searxng or .*google_cse or .*local"):
        await search(configured(search=nothing))
    with pytest.raises(ProviderMissing, match=r"provider: searxng .*add outside\.search\.searxng"):
        await search(configured(search=local), name="searxng")
    assert lacking(configured(search=nothing)) is not None
    assert lacking(configured(search=local)) is None


def test_the_key_is_not_shown_with_the_configuration() -> None:
    settings = {"url": "https://example.org", "api_key": KEY, "search_engine_id": "x"}
    assert KEY not in repr(GoogleCseSearch.model_validate(settings))
