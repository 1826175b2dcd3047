"""What one message may cost: rounds, tokens, seconds. Who reaches it ends with what there is, and says so."""

import asyncio
import json
import time
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.platform.llm.chat_model import ChatModel
from actors.platform.llm.endpoint import StreamChunk, ToolDelta
from actors.systems.chat.turn.budget import Budget
from actors.systems.chat.turn.messages import site_text
from actors.systems.chat.turn.tool_loop import ToolLoop
from models.chat.messages import ToolUsed, Usage
from models.config.chat import BudgetConfig
from models.errors import ModelReplyInvalid
from models.llm import ModelCall
from tests.fakes.chat_tools import TOOLS, Called, chat_prompts, chat_settings, tool_use
from tests.fakes.model.model_server import ModelServer, Rule, ToolCall
from tests.fakes.model.scripted import ScriptedCompletions, ScriptedStreams

QUESTION = [{"role": "user", "content": "What is new?"}]
PROMPTS = chat_prompts()
CALLING = pytest.mark.parametrize("calling", ["native", "json_schema"])


def budget(**changes: Any) -> BudgetConfig:
    return BudgetConfig.model_validate({"iterations": 3, "tokens": 100_000, "seconds": 60} | changes)


class Talked(NamedTuple):
    """What came of a conversation."""

    text: str
    used: list[ToolUsed]
    status: str
    usage: Usage
    calls: tuple[ModelCall, ...]


async def talk(
    model: ModelServer | ChatModel,
    limits: BudgetConfig,
    *,
    calling: str,
    call: Called | None = None,
    **more: Any,
) -> Talked:
    said: list[str] = []
    used: list[ToolUsed] = []
    if isinstance(model, ModelServer):
        model = ChatModel(agent="a", settings=chat_settings(model.base_url, **more))
    outcome = await ToolLoop(
        model=model,
        use=tool_use(calling),
        tools=TOOLS,
        call=call or Called(),
        messages=QUESTION,
        budget=Budget(limits),
        prompts=PROMPTS,
        say=said.append,
        stopped=lambda limit: site_text("limited", "en", LIMIT=limit),
        used=used.append,
    ).run()
    return Talked("".join(said), used, outcome.status, outcome.usage, outcome.calls)


def always_another(server: ModelServer) -> None:
    """A model that wants to look up more and more as long as it may."""
    for n in range(20):
        query = {"query": f"question {n}"}
        step = json.dumps({"use": "look_up", "arguments": query})
        server.script(
            Rule(kind="next_step", reply=step, times=1),
            Rule(tool_calls=(ToolCall(name="look_up", arguments=query),), times=1),
        )
    server.script(Rule(reply="This is it."))


@CALLING
@pytest.mark.parametrize("iterations", [1, 3, 10])
async def test_the_rounds_end(server: ModelServer, calling: str, iterations: int) -> None:
    always_another(server)
    call = Called()
    outcome = await talk(server, budget(iterations=iterations), calling=calling, call=call)
    assert len(call.calls) == iterations
    assert outcome.status == "limited"
    assert outcome.text == (
        "This is it.\n\nI stopped here because this request has used all the tool calls it may make."
    )
    last = server.calls()[-1]
    assert (last.tools, last.stream) == ([], True)


@CALLING
async def test_a_model_that_needs_all_its_rounds_and_no_more_is_not_limited(
    server: ModelServer, calling: str
) -> None:
    step = json.dumps({"use": "look_up", "arguments": {"query": "salt"}})
    server.script(
        Rule(kind="next_step", reply=step, times=1),
        Rule(kind="next_step", reply='{"use": "answer"}'),
        Rule(tool_calls=(ToolCall(name="look_up", arguments={"query": "salt"}),), times=1),
        Rule(reply="This is it."),
    )
    outcome = await talk(server, budget(iterations=1), calling=calling)
    assert (outcome.status, outcome.text) == ("completed", "This is it.")


@CALLING
async def test_the_tokens_end_and_replies_are_lowered_to_what_is_left(
    server: ModelServer, calling: str
) -> None:
    always_another(server)
    call = Called(look_up="word " * 500)
    outcome = await talk(server, budget(iterations=10, tokens=2600), calling=calling, call=call)
    assert 0 < len(call.calls) < 10
    assert outcome.text.startswith("This is it.\n\nI stopped here")
    assert outcome.usage.prompt_tokens + outcome.usage.completion_tokens <= 2600
    assert all(seen.body["max_tokens"] <= 100 for seen in server.calls())


async def test_a_reply_that_the_budget_cut_is_limited(server: ModelServer) -> None:
    server.script(Rule(reply="half a", finish_reason="length"))
    outcome = await talk(server, budget(tokens=80), calling="native")
    assert server.calls()[-1].body["max_tokens"] < 80
    assert outcome.text.startswith("half a\n\nI stopped here")
    # The settings' own limit is no budget.
    outcome = await talk(server, budget(), calling="native")
    assert (outcome.status, outcome.text) == ("completed", "half a")


async def test_without_tokens_no_model_is_called(server: ModelServer) -> None:
    outcome = await talk(server, budget(tokens=10), calling="native")
    assert server.calls() == []
    assert outcome.status == "limited"
    assert outcome.text.startswith("I stopped here")


async def test_where_no_tool_is_offered_none_is_called() -> None:
    unasked = StreamChunk(text="Fine.", tools=(ToolDelta(index=0, name="now", arguments="{}"),))
    streams, call = ScriptedStreams([unasked, StreamChunk(finish_reason="stop")]), Called()
    model = ChatModel(agent="a", settings=chat_settings(), streams=streams, completions=ScriptedCompletions())
    outcome = await talk(model, budget(tokens=300), calling="native", call=call)
    assert streams.offered == [[]]
    assert call.calls == []
    assert outcome.text.startswith("Fine.\n\nI stopped here")


@CALLING
async def test_the_seconds_end_a_reply_and_keep_its_text(server: ModelServer, calling: str) -> None:
    server.script(
        Rule(kind="next_step", reply='{"use": "answer"}'), Rule(reply="This is more.", chunk_delay=3600)
    )
    begun = time.monotonic()
    outcome = await talk(server, budget(seconds=0.8), calling=calling)
    assert time.monotonic() - begun < 3
    assert outcome.status == "limited"
    assert outcome.text == "This\n\nI stopped here because the time for this request is over."
    assert len(outcome.calls) == len(server.calls())
    assert outcome.usage.prompt_tokens > 0
    await server.await_calls(1, state="cancelled", timeout=1)


async def test_a_choice_that_takes_too_long_leaves_time_for_the_answer(server: ModelServer) -> None:
    server.script(Rule(kind="next_step", hold=True), Rule(reply="This is it."))
    outcome = await talk(server, budget(seconds=3), calling="json_schema")
    assert outcome.text == "This is it.\n\nI stopped here because the time for this request is over."
    assert [call.error is None for call in outcome.calls] == [False, True]


@CALLING
async def test_a_tool_that_takes_too_long_leaves_time_for_the_answer(
    server: ModelServer, calling: str
) -> None:
    class Slow(Called):
        async def __call__(self, name: str, arguments: dict[str, Any]) -> Any:
            await asyncio.Event().wait()

    always_another(server)
    outcome = await talk(server, budget(seconds=3), calling=calling, call=Slow())
    assert outcome.text == "This is it.\n\nI stopped here because the time for this request is over."
    assert [each.status for each in outcome.used] == ["TimeoutError"]


async def test_where_no_usage_is_told_it_is_estimated(server: ModelServer) -> None:
    server.script(Rule(reply="word " * 60, usage=False))
    outcome = await talk(server, budget(), calling="native")
    assert outcome.usage.completion_tokens >= 60
    assert outcome.usage.prompt_tokens > 0
    assert outcome.calls[0].completion_tokens == 0


def test_a_budget_counts_and_never_falls_below_nothing() -> None:
    now = 100.0
    turn = Budget(budget(tokens=50, seconds=10), clock=lambda: now)
    told = ModelCall(
        agent="a", model="m", prompt_sha256="", prompt_tokens=20, completion_tokens=5, latency_seconds=0
    )
    assert turn.count(told, prompt=1, reply=1).prompt_tokens == 20
    assert turn.tokens_left == 25
    silent = told.model_copy(update={"prompt_tokens": 0, "completion_tokens": 0})
    assert turn.count(silent, prompt=7, reply=3).completion_tokens == 3
    assert turn.tokens_left == 15
    turn.count(told, prompt=0, reply=0)
    assert turn.tokens_left == 0
    now += 6
    assert (turn.seconds_left, turn.working_seconds_left) == (4, 1)
    now += 60
    assert (turn.seconds_left, turn.working_seconds_left) == (0, 0)


REQUESTS = st.builds(
    ToolDelta,
    index=st.one_of(st.none(), st.integers(0, 3)),
    id=st.one_of(st.none(), st.sampled_from(["a", "b", ""])),
    name=st.sampled_from(["look_up", "now", "get_page", "publish_article", "", "look"]),
    arguments=st.sampled_from(
        ["", "{}", '{"query": "a"}', '{"query": "b"}', '{"article_id": 1}', "{", "[]", "\0"]
    ),
)
CHUNKS = st.builds(
    StreamChunk,
    text=st.sampled_from(["", "", "text ", "<think>", "</think>"]),
    tools=st.lists(REQUESTS, max_size=3).map(tuple),
    finish_reason=st.sampled_from([None, None, "stop", "length", "tool_calls", "odd"]),
)
REPLIES = st.lists(CHUNKS, min_size=1, max_size=4).map(
    lambda chunks: [*chunks, StreamChunk(finish_reason="stop")]
)


@given(replies=st.lists(REPLIES, min_size=1, max_size=6), iterations=st.integers(1, 10))
async def test_whatever_a_model_writes_the_turn_ends_and_only_offered_tools_are_called(
    replies: list[list[StreamChunk]], iterations: int
) -> None:
    streams, call = ScriptedStreams(*replies), Called()
    model = ChatModel(agent="a", settings=chat_settings(), streams=streams, completions=ScriptedCompletions())
    try:
        outcome = await talk(model, budget(iterations=iterations), calling="native", call=call)
    except ModelReplyInvalid:
        outcome = None
    assert {name for name, _ in call.calls} <= {tool.name for tool in TOOLS}
    assert len(call.calls) == len({(name, json.dumps(arguments)) for name, arguments in call.calls})
    assert sum(1 for offered in streams.offered if offered) <= iterations + 1
    if outcome is not None:
        assert outcome.text
        assert ("I stopped here" in outcome.text) == (outcome.status == "limited")
        assert len(outcome.used) == len(call.calls)
