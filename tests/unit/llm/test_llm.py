"""The model client over real HTTP: what it sends, what it tries again, and how it says no."""

import asyncio
from typing import Any

import pytest

from actors.platform.llm.client import (
    ModelClient,
    OpenAICompletions,
    RejectedReply,
    bounded_schema,
    strip_fence,
    strip_thinking,
)
from actors.platform.llm.endpoint import prompt_digest
from models.config import ModelSettings, SchemaLimits
from models.content.editorial import ArticleResponse, ConcernMappingResult
from models.errors import ModelRefused, ModelReplyInvalid, ModelUnavailable, PromptTooLong, SignoffError
from models.llm import Answer
from tests.fakes.model.model_server import ModelServer, Rule

ARTICLE = '{"headline": "h", "alternativeHeadline": "a", "articleBody": "b", "description": "d"}'


def settings(server: ModelServer, **changes: Any) -> ModelSettings:
    values: dict[str, Any] = {
        "model": "tiny",
        "api_base": server.base_url,
        "api_key": "secret-key",
        "context_window": 4096,
        "max_tokens": 100,
        "temperature": 0.2,
        "context_window_threshold": 90,
        "max_retries": 2,
        "retry_delay": 0.0,
        "timeout_seconds": 60,
    }
    return ModelSettings(**(values | changes))


async def ask(server: ModelServer, user: str = "hello", **changes: Any) -> Answer[str]:
    client = ModelClient(agent="writer", settings=settings(server, **changes))
    return await client.ask_text(system="You answer.", user=user, accept=lambda text: text)


async def ask_record(server: ModelServer, **changes: Any) -> Answer[ArticleResponse]:
    client = ModelClient(agent="writer", settings=settings(server, **changes))
    return await client.ask_record(
        system="s", user="u", reply=ArticleResponse, accept=lambda article: article
    )


async def test_a_call_sends_its_settings_and_records_its_cost(server: ModelServer) -> None:
    server.script(Rule(reply="  hi there  ", delay=0.05))
    answer = await ask(server, extra_body={"repetition_penalty": 1.15})
    (seen,) = server.calls()
    messages = [{"role": "system", "content": "You answer."}, {"role": "user", "content": "hello"}]
    assert seen.body == {
        "model": "tiny",
        "messages": messages,
        "max_tokens": 100,
        "temperature": 0.2,
        "repetition_penalty": 1.15,
    }
    assert answer.value == "hi there"
    (call,) = answer.calls
    assert (call.agent, call.model, call.error) == ("writer", "tiny", None)
    assert (call.prompt_tokens, call.completion_tokens) == (4, 2)
    assert call.latency_seconds >= 0.05
    assert call.prompt_sha256 == prompt_digest(messages)


@pytest.mark.parametrize("priority", [0, 10, -3])
async def test_a_priority_goes_with_the_call(server: ModelServer, priority: int) -> None:
    await ask(server, priority=priority, extra_body={"top_k": 3, "priority": 99})
    (seen,) = server.calls()
    assert (seen.priority, seen.body["top_k"]) == (priority, 3)


async def test_a_caller_can_lower_max_tokens(server: ModelServer) -> None:
    client = ModelClient(agent="writer", settings=settings(server))
    messages = [{"role": "user", "content": "hello"}]
    for limit in (7, 7000):
        await client.ask(messages, response_format=None, accept=str, max_tokens=limit)
    assert [call.body["max_tokens"] for call in server.calls()] == [7, 100]


async def test_a_record_is_asked_for_with_its_bounded_schema(server: ModelServer) -> None:
    server.script(Rule(kind="ArticleResponse", reply=f"<think>hm</think>```json\n{ARTICLE}\n```"))
    answer = await ask_record(server, schema_limits=SchemaLimits(strings=50, fields={"articleBody": 900}))
    assert answer.value.articleBody == "b"
    form = server.calls()[0].body["response_format"]
    assert form["type"] == "json_schema"
    assert form["json_schema"]["strict"] is True
    lengths = {name: part["maxLength"] for name, part in form["json_schema"]["schema"]["properties"].items()}
    assert lengths == {"headline": 50, "alternativeHeadline": 50, "articleBody": 900, "description": 50}


@pytest.mark.parametrize("fault", [Rule(status=500), Rule(status=503), Rule(status=429), Rule(drop=True)])
async def test_a_fault_that_may_pass_is_tried_again(server: ModelServer, fault: Rule) -> None:
    server.script(fault.model_copy(update={"times": 2}), Rule(reply="yes"))
    answer = await ask(server)
    assert answer.value == "yes"
    assert len(server.calls()) == 3
    assert [call.error is None for call in answer.calls] == [False, False, True]
    assert answer.calls[0].completion_tokens == 0


@pytest.mark.parametrize("retries", [0, 1, 3])
async def test_the_retries_end(server: ModelServer, retries: int) -> None:
    server.script(Rule(status=500, reply="out of memory"))
    with pytest.raises(ModelUnavailable) as raised:
        await ask(server, max_retries=retries)
    assert f"writer: model tiny at {server.base_url}: " in str(raised.value)
    assert "out of memory" in str(raised.value)
    assert "secret-key" not in str(raised.value)
    assert len(server.calls()) == retries + 1


async def test_the_wire_and_the_reply_share_one_budget(server: ModelServer) -> None:
    faults = (Rule(status=500, times=1), Rule(reply="{}", times=1), Rule(drop=True, times=1))
    server.script(*faults, Rule(reply=ARTICLE))
    answer = await ask_record(server, max_retries=3)
    assert [call.error is None for call in answer.calls] == [False, False, False, True]
    server.reset()
    server.script(*faults, Rule(reply=ARTICLE))
    with pytest.raises(ModelUnavailable):
        await ask_record(server, max_retries=2)
    assert len(server.calls()) == 3


@pytest.mark.parametrize(
    ("status", "refusal"),
    [
        (400, ModelRefused),
        (413, ModelRefused),
        (422, ModelRefused),
        (401, ModelUnavailable),
        (403, ModelUnavailable),
        (404, ModelUnavailable),
    ],
)
async def test_a_refused_call_is_not_tried_again(
    server: ModelServer, status: int, refusal: type[SignoffError]
) -> None:
    """What is held against the request fails it; what is wrong with the site's settings is an outage."""
    server.script(Rule(status=status, reply="the model does not exist"))
    with pytest.raises(refusal, match="the model does not exist"):
        await ask(server)
    assert len(server.calls()) == 1


@pytest.mark.parametrize(
    "raw",
    [
        Rule(raw="<html>Sign in</html>"),
        Rule(raw='{"choices": [', raw_type="application/json"),
        Rule(raw="{}", raw_type="application/json"),
        Rule(raw="[]", raw_type="application/json"),
        Rule(raw='{"choices": []}', raw_type="application/json"),
        Rule(raw='{"choices": [{}]}', raw_type="application/json"),
        Rule(raw='{"choices": [{"message": {"content": 5}}]}', raw_type="application/json"),
    ],
)
async def test_what_is_no_chat_completion_is_refused_at_once(server: ModelServer, raw: Rule) -> None:
    server.script(raw)
    with pytest.raises(ModelUnavailable, match=r"the reply is not (a chat completion|JSON)"):
        await ask(server)
    assert len(server.calls()) == 1


async def test_a_silent_model_runs_into_timeout_seconds(server: ModelServer) -> None:
    server.script(Rule(hold=True))
    with pytest.raises(ModelUnavailable, match=r"no answer within timeout_seconds \(0\.2 s\)"):
        await ask(server, timeout_seconds=0.2, max_retries=1)
    assert len(await server.await_calls(2, state="cancelled")) == 2


@pytest.mark.timeout(60)
async def test_a_model_that_trickles_runs_into_timeout_seconds_too(server: ModelServer) -> None:
    async def trickle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99999\r\n\r\n")
        while not reader.at_eof():
            writer.write(b" ")
            try:
                async with asyncio.timeout(0.02):
                    await reader.read(1024)
            except TimeoutError:
                continue
        writer.close()

    async with await asyncio.start_server(trickle, "127.0.0.1", 0) as slow:
        url = f"http://127.0.0.1:{slow.sockets[0].getsockname()[1]}/v1"
        with pytest.raises(ModelUnavailable, match="timeout_seconds"):
            await ask(server, api_base=url, timeout_seconds=0.3, max_retries=0)


async def test_a_model_that_is_not_there_is_named(server: ModelServer) -> None:
    url = "http://127.0.0.1:9/v1"  # nobody listens on the discard port
    with pytest.raises(ModelUnavailable, match=r"at http://127\.0\.0\.1:9/v1: Connection error\. \(.+\)"):
        await ask(server, api_base=url, max_retries=0)


async def test_a_proxy_in_the_environment_sees_nothing(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    await ask(server)
    assert len(server.calls()) == 1


@pytest.mark.parametrize(
    ("bad", "fault"),
    [
        ("nonsense", "Invalid JSON"),
        ('{"headline": "h"}', "articleBody: Field required"),
        (ARTICLE.replace('"d"}', '"d", "notes": 1}'), "notes: Extra inputs are not permitted"),
        (ARTICLE.replace('"d"}', '"d", "headline": "other"}'), "'headline' is there twice"),
        (f"<think>{ARTICLE}", "never came out of its thinking"),
    ],
)
async def test_a_bad_reply_is_mended(server: ModelServer, bad: str, fault: str) -> None:
    server.script(Rule(reply=bad, times=1), Rule(reply=ARTICLE))
    answer = await ask_record(server)
    assert answer.value.headline == "h"
    first, second = answer.calls
    assert fault in (first.error or "")
    assert second.error is None
    asked, again = (call.messages for call in server.calls())
    assert again[:2] == asked
    assert fault in again[-1]["content"]


async def test_a_reply_cut_at_max_tokens_is_no_reply(server: ModelServer) -> None:
    server.script(Rule(reply="half a sen", finish_reason="length"))
    with pytest.raises(ModelReplyInvalid, match=r"in 3 tries: the reply was cut at max_tokens \(100\)"):
        await ask(server)
    assert len(server.calls()) == 3


async def test_what_only_the_caller_knows_is_mended_too(server: ModelServer) -> None:
    server.script(Rule(reply="blue", times=1), Rule(reply="green"))

    def accept(text: str) -> str:
        if text != "green":
            raise RejectedReply(f"{text} is not green")
        return text

    client = ModelClient(agent="writer", settings=settings(server))
    assert (await client.ask_text(system="s", user="u", accept=accept)).value == "green"
    server.reset()
    server.script(Rule(reply="blue"))
    with pytest.raises(ModelReplyInvalid, match="no usable reply in 3 tries: blue is not green"):
        await client.ask_text(system="s", user="u", accept=accept)
    assert len(server.calls()) == 3


async def test_retries_wait_for_retry_delay(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    sleep = asyncio.sleep

    async def record(delay: float, result: Any = None) -> Any:
        waited.append(delay)
        return await sleep(0, result)

    monkeypatch.setattr("actors.platform.llm.client.asyncio.sleep", record)
    server.script(Rule(status=500, times=1), Rule(reply="{}", times=1), Rule(reply=ARTICLE))
    await ask_record(server, retry_delay=7.5)
    assert [delay for delay in waited if delay] == [7.5, 7.5]


async def test_cancelling_ends_the_call_at_the_model(server: ModelServer) -> None:
    server.script(Rule(hold=True))
    task = asyncio.create_task(ask(server))
    await server.await_calls(1, state="held")
    task.cancel()
    await server.await_calls(1, state="cancelled")
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(server.calls()) == 1


async def test_one_client_serves_many_calls_at_once(server: ModelServer) -> None:
    server.script(Rule(hold=True))
    client = OpenAICompletions(agent="writer", settings=settings(server))
    messages = [{"role": "user", "content": "u"}]
    calls = [asyncio.create_task(client.complete(messages=messages, response_format=None)) for _ in range(50)]
    await server.await_calls(50, state="held")
    server.release()
    assert len(await asyncio.gather(*calls)) == 50


async def test_a_prompt_over_its_share_of_the_window_is_not_sent(server: ModelServer) -> None:
    with pytest.raises(PromptTooLong, match=r"writer: .* over 180 \(90 % of context_window 200\)"):
        await ask(server, user="word " * 200, context_window=200)
    assert server.calls() == []


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("<think>a</think> b", "b"),
        ("a</think>b", "b"),
        ("b <think>a", "b"),
        ("<think>a</think><think>\nc</think>b", "b"),
        (" b ", "b"),
    ],
)
def test_thinking_is_stripped(text: str, rest: str) -> None:
    assert strip_thinking(text) == rest


@pytest.mark.parametrize("text", ["```json\n{}\n```", "```\n{}```", " {} ", "{}"])
def test_a_fence_around_the_whole_is_stripped(text: str) -> None:
    assert strip_fence(text) == "{}"


def test_limits_reach_every_string_and_list_but_no_closed_choice() -> None:
    schema = ConcernMappingResult.model_json_schema()
    bounded = bounded_schema(schema, SchemaLimits(strings=80, items=4))
    mapping = bounded["$defs"]["ConcernMapping"]["properties"]
    assert bounded["properties"]["mappings"]["maxItems"] == 4
    assert mapping["reason"]["maxLength"] == 80
    assert "maxLength" not in mapping["selected_agent"]
    assert bounded_schema(schema, SchemaLimits()) == schema


def test_the_lower_of_two_lengths_holds_and_none_stands_beside_a_pattern() -> None:
    schema = {
        "type": "object",
        "properties": {
            "long": {"type": "string", "maxLength": 2000},
            "short": {"type": "string", "maxLength": 5},
            "code": {"type": "string", "pattern": "^[a-z]+$"},
        },
    }
    bounded = bounded_schema(schema, SchemaLimits(strings=80))["properties"]
    assert bounded["long"]["maxLength"] == 80
    assert bounded["short"]["maxLength"] == 5
    assert "maxLength" not in bounded["code"]
