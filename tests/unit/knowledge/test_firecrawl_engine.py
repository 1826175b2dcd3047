"""The engine `firecrawl`: addresses are judged before the API hears of them, and its answers are bounded."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from actors.systems.knowledge.fetching.firecrawl_engine import FirecrawlEngine
from models.config import Config, FirecrawlConfig, OutgoingConfig
from models.errors import PageFailed
from tests.fakes.outside.webhook_receiver import Reply, WebhookReceiver
from tests.unit.knowledge.test_http_engine import Turns

URL = "https://page.test/a"
Make = Callable[[], Awaitable[FirecrawlEngine]]


async def names(host: str) -> list[str]:
    return ["10.0.0.1"] if host == "inside.test" else ["93.184.216.34"]


@pytest.fixture
async def api() -> AsyncIterator[WebhookReceiver]:
    async with WebhookReceiver() as api:
        yield api


@pytest.fixture
def turns() -> Turns:
    return Turns()


@pytest.fixture
async def engine(config: Config, turns: Turns, api: WebhookReceiver) -> AsyncIterator[FirecrawlEngine]:
    engine = FirecrawlEngine(
        api=FirecrawlConfig(url=api.url),
        settings=config.knowledge.scraping.model_copy(update={"max_bytes": 10_000}),
        outgoing=OutgoingConfig(allow_internal=("127.0.0.1/32",)),
        turns=turns,
        resolve=names,
    )
    yield engine
    await engine.close()


def answers(api: WebhookReceiver, html: str = "<p>x", status: int = 200, url: str = URL) -> None:
    said = {"success": True, "data": {"rawHtml": html, "metadata": {"statusCode": status, "url": url}}}
    api.always("/v1/scrape", Reply(200, {}, json.dumps(said).encode()))


async def fault_of(engine: FirecrawlEngine, url: str = URL) -> str:
    with pytest.raises(PageFailed) as failed:
        await engine.fetch(url)
    return str(failed.value.facts["fault"])


async def test_a_page_is_had_and_its_turn_told_before_the_api_is_asked(
    engine: FirecrawlEngine, api: WebhookReceiver, turns: Turns
) -> None:
    told: list[int] = []
    sent = turns.sent

    async def sending(url: str) -> None:
        told.append(len(api.got))
        await sent(url)

    turns.sent = sending  # type: ignore[method-assign]
    answers(api)
    page = await engine.fetch(URL)
    assert (page.url, page.status, page.body) == (URL, 200, b"<p>x")
    assert (turns.asked, turns.sent_to, told) == ([URL], [URL], [0])


async def test_what_a_name_resolves_to_is_judged_before_and_after(
    engine: FirecrawlEngine, api: WebhookReceiver, turns: Turns
) -> None:
    assert await fault_of(engine, "https://inside.test/") == "refused_by_guard"
    assert (api.got, turns.asked) == ([], [])
    answers(api, url="https://inside.test/")
    assert await fault_of(engine) == "refused_by_guard"


async def test_a_host_that_is_asked_too_often_is_waited_for(
    engine: FirecrawlEngine, api: WebhookReceiver, turns: Turns
) -> None:
    answers(api, status=429)
    await engine.fetch(URL)
    answers(api)
    await engine.fetch(URL)
    assert (turns.told, turns.well) == ([(URL, None)], [URL])


async def test_an_answer_is_bounded(engine: FirecrawlEngine, api: WebhookReceiver) -> None:
    answers(api, html="x" * 10_001)
    assert await fault_of(engine) == "too_large"
    api.always("/v1/scrape", Reply(200, {}, b'{"success": true, "error": "' + b"x" * 50_000, endless="body"))
    assert await fault_of(engine) == "too_large"
    api.always("/v1/scrape", Reply(200, {}, b"no JSON"))
    assert await fault_of(engine) == "http_error"
