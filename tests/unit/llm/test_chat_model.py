"""The conversational model over real HTTP: what streams, what is tried again, what never hangs."""

import asyncio
import time
from contextlib import aclosing
from typing import Any

import pytest

from actors.platform.llm.chat_model import DEADLINE, ChatModel, Ended, TextDelta, ToolRequest
from models.errors import (
    ModelRefused,
    ModelReplyInvalid,
    ModelTimedOut,
    ModelUnavailable,
    PromptTooLong,
    SignoffError,
)
from tests.fakes.chat_tools import chat_settings
from tests.fakes.model.model_server import ModelServer, Rule, ToolCall

HELLO = [{"role": "user", "content": "hello"}]
LOOK_UP = {"type": "function", "function": {"name": "look_up", "parameters": {"type": "object"}}}
EVENTS = "text/event-stream"


def model(server: ModelServer, **changes: Any) -> ChatModel:
    return ChatModel(agent="article_query", settings=chat_settings(server.base_url, **changes))


class Heard:
    """What a stream gave, also where it broke off."""

    def __init__(self) -> None:
        self.deltas: list[str] = []
        self.spoke = asyncio.Event()
        self.tools: list[ToolRequest] = []
        self.ended: Ended | None = None

    async def listen(self, model: ChatModel, **more: Any) -> "Heard":
        async with aclosing(model.stream(HELLO, **more)) as pieces:
            async for piece in pieces:
                assert self.ended is None, "nothing comes after the end"
                match piece:
                    case TextDelta(text):
                        assert text
                        self.deltas.append(text)
                        self.spoke.set()
                    case ToolRequest():
                        self.tools.append(piece)
                    case Ended():
                        self.ended = piece
        return self

    @property
    def text(self) -> str:
        return "".join(self.deltas)

    @property
    def end(self) -> Ended:
        assert self.ended is not None
        return self.ended


async def listen(server: ModelServer, *, seconds: float | None = None, **changes: Any) -> Heard:
    return await Heard().listen(model(server, **changes), seconds=seconds)


async def test_a_reply_streams_and_its_cost_is_recorded(server: ModelServer) -> None:
    server.script(Rule(reply="one two three"))
    heard = await listen(server, priority=-1, extra_body={"repetition_penalty": 1.1})
    assert heard.text == "one two three"
    assert len(heard.deltas) == 3
    assert (heard.end.finish_reason, heard.end.retried) == ("stop", ())
    call = heard.end.call
    assert (call.agent, call.model, call.error) == ("article_query", "tiny", None)
    assert (call.prompt_tokens, call.completion_tokens) == (1, 3)
    (seen,) = server.calls()
    assert (seen.priority, seen.stream, seen.tools) == (-1, True, [])
    assert seen.body == {
        "model": "tiny",
        "messages": HELLO,
        "max_tokens": 100,
        "temperature": 0.2,
        "stream": True,
        "stream_options": {"include_usage": True},
        "repetition_penalty": 1.1,
        "priority": -1,
    }


async def test_without_a_priority_none_is_sent(server: ModelServer) -> None:
    await listen(server)
    assert "priority" not in server.calls()[0].body


@pytest.mark.parametrize(("asked", "sent"), [(None, 100), (40, 40), (4000, 100), (0, 1), (-3, 1)])
async def test_a_caller_can_only_lower_the_reply(server: ModelServer, asked: int | None, sent: int) -> None:
    await Heard().listen(model(server), max_tokens=asked, temperature=0.9)
    body = server.calls()[0].body
    assert (body["max_tokens"], body["temperature"]) == (sent, 0.9)


async def test_it_speaks_before_the_reply_is_whole(server: ModelServer) -> None:
    server.script(Rule(reply="one two", chunk_delay=3600))
    async with aclosing(model(server).stream(HELLO)) as pieces:
        assert await anext(pieces) == TextDelta("one")


@pytest.mark.parametrize(
    "pieces",
    [
        ("<think>secret</think>", "Hello."),
        ("<thi", "nk>sec", "ret</th", "ink>\n\nHel", "lo."),
        tuple("\n<think>secret</think>\n\nHello.\n"),
        ("Hel", "<think>", "secret", "</think>", "lo."),
        ("Hello.", "<think>secret"),
    ],
)
async def test_thoughts_reach_nobody(server: ModelServer, pieces: tuple[str, ...]) -> None:
    server.script(Rule(pieces=pieces))
    assert (await listen(server)).text == "Hello."


async def test_two_tools_in_one_reply(server: ModelServer) -> None:
    calls = (ToolCall(name="look_up", arguments={"query": "złoty"}), ToolCall(name="now", arguments="{oops"))
    server.script(Rule(reply="Let me see.", tool_calls=calls))
    heard = await Heard().listen(model(server), tools=[LOOK_UP])
    assert heard.text == "Let me see."
    assert [(tool.name, tool.arguments) for tool in heard.tools] == [
        ("look_up", '{"query": "z\\u0142oty"}'),
        ("now", "{oops"),
    ]
    assert len({tool.id for tool in heard.tools}) == 2
    assert heard.end.finish_reason == "tool_calls"
    assert server.calls()[0].body["tools"] == [LOOK_UP]


async def test_tool_calls_without_an_index_are_told_apart_by_their_ids(server: ModelServer) -> None:
    deltas = [
        '{"id": "a", "function": {"name": "one", "arguments": "{"}}',
        '{"function": {"arguments": "}"}}',
        '{"id": "b", "function": {"name": "two"}}',
    ]
    chunks = [f'data: {{"choices": [{{"delta": {{"tool_calls": [{delta}]}}}}]}}\n\n' for delta in deltas]
    last = 'data: {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}\n\ndata: [DONE]\n\n'
    server.script(Rule(raw="".join(chunks) + last, raw_type=EVENTS))
    heard = await listen(server)
    assert heard.tools == [ToolRequest("a", "one", "{}"), ToolRequest("b", "two", "")]


@pytest.mark.parametrize("fault", [Rule(status=500), Rule(status=429), Rule(drop=True)])
async def test_a_fault_before_the_first_word_is_tried_again(server: ModelServer, fault: Rule) -> None:
    server.script(fault.model_copy(update={"times": 1}), Rule(reply="yes"))
    heard = await listen(server)
    assert heard.text == "yes"
    assert [call.error is None for call in heard.end.retried] == [False]
    assert len(server.calls()) == 2


async def test_the_retries_end(server: ModelServer) -> None:
    server.script(Rule(status=503, reply="out of memory"))
    with pytest.raises(ModelUnavailable, match=r"article_query: model tiny at http.*out of memory") as raised:
        await listen(server, max_retries=2)
    assert "secret-key" not in str(raised.value)
    assert len(server.calls()) == 3


async def test_a_reset_in_mid_answer_is_an_error_and_no_second_answer(server: ModelServer) -> None:
    server.script(Rule(reply="one two three four", drop_after=2))
    heard = Heard()
    with pytest.raises(ModelUnavailable, match="Connection error"):
        await heard.listen(model(server, max_retries=3))
    assert heard.text == "one two"
    assert heard.ended is None
    assert len(server.calls()) == 1


async def test_a_stream_that_just_stops_is_no_answer(server: ModelServer) -> None:
    server.script(Rule(raw='data: {"choices": [{"delta": {"content": "half a"}}]}\n\n', raw_type=EVENTS))
    heard = Heard()
    with pytest.raises(ModelUnavailable, match="the stream ended before the reply did"):
        await heard.listen(model(server))
    assert heard.text == "half a"
    assert len(server.calls()) == 1


@pytest.mark.parametrize(
    ("status", "refusal"),
    [(400, ModelRefused), (422, ModelRefused), (401, ModelUnavailable), (404, ModelUnavailable)],
)
async def test_a_refused_call_is_not_tried_again(
    server: ModelServer, status: int, refusal: type[SignoffError]
) -> None:
    server.script(Rule(status=status, reply="the model does not exist"))
    with pytest.raises(refusal, match="the model does not exist"):
        await listen(server)
    assert len(server.calls()) == 1


@pytest.mark.parametrize(
    ("raw", "raw_type"),
    [
        ("<html>Sign in</html>", "text/html"),
        ('{"choices": []}', "application/json"),
        *(
            (f"data: {event}\n\n", EVENTS)
            for event in (
                "{}",
                "[]",
                "5",
                '"text"',
                "{oops",
                '{"choices": 5}',
                '{"choices": [5]}',
                '{"choices": [{"delta": {"content": 5}}]}',
                '{"choices": [{"delta": {"tool_calls": [{"function": 5}]}}]}',
                '{"choices": [{"delta": {"tool_calls": [{"index": "x"}]}}]}',
            )
        ),
    ],
)
async def test_what_is_no_stream_of_chunks_is_refused_at_once(
    server: ModelServer, raw: str, raw_type: str
) -> None:
    server.script(Rule(raw=raw, raw_type=raw_type))
    with pytest.raises(ModelUnavailable, match=r"the (reply|stream) "):
        await listen(server)
    assert len(server.calls()) == 1


async def test_an_error_inside_the_stream_is_told(server: ModelServer) -> None:
    server.script(Rule(raw='data: {"error": {"message": "the engine died"}}\n\n', raw_type=EVENTS))
    with pytest.raises(ModelUnavailable, match="the engine died"):
        await listen(server)
    assert len(server.calls()) == 2


@pytest.mark.parametrize(
    ("reason", "error"), [("abort", ModelUnavailable), ("content_filter", ModelReplyInvalid)]
)
async def test_a_reply_that_was_broken_off_is_no_answer(
    server: ModelServer, reason: Any, error: type[Exception]
) -> None:
    server.script(Rule(reply="half a", finish_reason=reason))
    with pytest.raises(error):
        await listen(server)


async def test_a_reply_cut_at_max_tokens_says_so(server: ModelServer) -> None:
    server.script(Rule(reply="half a", finish_reason="length"))
    heard = await listen(server)
    assert (heard.text, heard.end.finish_reason) == ("half a", "length")
    assert heard.end.call.error == "cut at max_tokens (100)"


async def test_a_server_that_tells_no_usage_works(server: ModelServer) -> None:
    server.script(Rule(reply="fine", usage=False))
    heard = await listen(server)
    assert (heard.text, heard.end.call.completion_tokens) == ("fine", 0)


async def test_a_silent_or_trickling_model_runs_into_timeout_seconds(server: ModelServer) -> None:
    server.script(Rule(hold=True, times=2), Rule(reply="word " * 50, chunk_delay=0.05))
    with pytest.raises(ModelUnavailable, match=r"no answer within timeout_seconds \(0\.3 s\)"):
        await listen(server, timeout_seconds=0.3)
    begun = time.monotonic()
    with pytest.raises(ModelTimedOut, match="timeout_seconds"):  # it has begun to answer: it is there
        await listen(server, timeout_seconds=0.3)
    assert time.monotonic() - begun < 1.5
    assert len(await server.await_calls(3, state="cancelled")) == 3


async def test_a_deadline_ends_the_stream_with_what_there_is(server: ModelServer) -> None:
    server.script(Rule(reply="one two", chunk_delay=3600))
    begun = time.monotonic()
    heard = await listen(server, seconds=0.3)
    assert time.monotonic() - begun < 1.5
    assert (heard.text, heard.end.finish_reason) == ("one", DEADLINE)
    assert "the time for it was over" in (heard.end.call.error or "")
    await server.await_calls(1, state="cancelled", timeout=1)


@pytest.mark.parametrize("delay", [0.0, 3600.0])
async def test_a_deadline_ends_the_retries_too(server: ModelServer, delay: float) -> None:
    server.script(Rule(status=500, times=1), Rule(hold=True))
    heard = await listen(server, seconds=0.3, retry_delay=delay)
    assert (heard.text, heard.end.finish_reason) == ("", DEADLINE)
    assert len(heard.end.retried) == 1


async def test_leaving_the_stream_stops_the_model_within_a_second(server: ModelServer) -> None:
    server.script(Rule(reply="one two", chunk_delay=3600))
    async with aclosing(model(server).stream(HELLO)) as pieces:
        await anext(pieces)
    await server.await_calls(1, state="cancelled", timeout=1)


@pytest.mark.parametrize("rule", [Rule(hold=True), Rule(reply="one two", chunk_delay=3600)])
async def test_cancelling_stops_the_model_within_a_second(server: ModelServer, rule: Rule) -> None:
    server.script(rule)
    heard = Heard()
    task = asyncio.create_task(heard.listen(model(server)))
    await server.await_calls(1, state="held" if rule.hold else "started")
    if not rule.hold:
        await heard.spoke.wait()
    task.cancel()
    await server.await_calls(1, state="cancelled", timeout=1)
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_readers_own_timeout_is_not_swallowed(server: ModelServer) -> None:
    server.script(Rule(reply="one two", chunk_delay=3600))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.3):
            await listen(server, seconds=3600)


async def test_a_prompt_over_its_share_of_the_window_is_not_sent(server: ModelServer) -> None:
    with pytest.raises(PromptTooLong):
        await Heard().listen(model(server, context_window=150), tools=[LOOK_UP] * 10)
    await Heard().listen(model(server, context_window=150))
    assert len(server.calls()) == 1


async def test_what_utf8_cannot_carry_is_sent_as_a_question_mark(server: ModelServer) -> None:
    async with aclosing(model(server).stream([{"role": "user", "content": "a\ud800b"}])) as pieces:
        assert [piece async for piece in pieces]
    assert server.calls()[0].prompt == "a?b"


COLOUR = {
    "type": "object",
    "properties": {"colour": {"enum": ["red", "green"]}, "why": {"type": "string"}},
    "required": ["colour", "why"],
    "additionalProperties": False,
}


async def choose(server: ModelServer, **more: Any) -> Any:
    limits = {"strings": 40}
    chosen = model(server, schema_limits=limits, priority=3)
    return await chosen.choose(HELLO, name="Colour", schema=COLOUR, **more)


async def test_a_choice_keeps_to_its_schema(server: ModelServer) -> None:
    server.script(Rule(kind="Colour", reply='<think>hm</think>{"colour": "red", "why": "so"}'))
    answer = await choose(server, max_tokens=20)
    assert answer.value == {"colour": "red", "why": "so"}
    assert len(answer.calls) == 1
    (seen,) = server.calls("Colour")
    assert (seen.stream, seen.priority, seen.body["max_tokens"]) == (False, 3, 20)
    sent = seen.body["response_format"]["json_schema"]
    assert sent["strict"] is True
    assert sent["schema"]["properties"]["why"]["maxLength"] == 40
    assert "maxLength" not in COLOUR["properties"]["why"]


@pytest.mark.parametrize(
    ("bad", "fault"),
    [
        ("red", "not valid JSON"),
        ('["red"]', "not a JSON object"),
        ('{"colour": "blue", "why": "x"}', "colour: 'blue' is not one of"),
        ('{"colour": "red"}', "'why' is a required property"),
        ('{"colour": "red", "why": "x", "n": NaN}', "the number NaN can't be kept"),
        ('{"colour": "red", "why": "x", "colour": "green"}', "'colour' is there twice"),
        ("[" * 100_000, "not valid JSON"),
        ('{"colour": "\\ud800", "why": "x"}', "is not one of"),
    ],
)
async def test_a_choice_that_breaks_its_schema_is_asked_for_again(
    server: ModelServer, bad: str, fault: str
) -> None:
    server.script(Rule(reply=bad, times=1), Rule(reply='{"colour": "green", "why": ""}'))
    answer = await choose(server)
    assert answer.value["colour"] == "green"
    assert fault in (answer.calls[0].error or "")
    server.reset()
    server.script(Rule(reply=bad))
    with pytest.raises(ModelReplyInvalid, match="no usable reply in 2 tries"):
        await choose(server)
