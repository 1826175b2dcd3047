"""A reply: what an agent tells it is read as it comes, nothing lost or reordered, and it ends as it says."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.systems.chat.turn.reply import Reply
from models.chat.messages import Done, Piece, Route, Said, ToolUsed, Turn, Usage
from models.errors import ArticleNotFound
from models.llm import ModelCall
from tests.unit.chat.routing import routers

ROUTE = Route(intent="read", agent_type="article_query", topic="macro", reason="r", score=1, by="example")
USED = ToolUsed(name="get_article", status="ok", about="article:7")
CALL = ModelCall(
    agent="main_chat", model="m", prompt_sha256="x", prompt_tokens=5, completion_tokens=2, latency_seconds=0.1
)


class Tools:
    """Answers one call, or fails it."""

    def __init__(self, error: Exception | None = None) -> None:
        self._error = error

    async def call(self, name: str, arguments: dict[str, Any], *, caller: Any, first: Any = None) -> Turn:
        if self._error is not None:
            raise self._error
        return routers.turn("what a tool answers")


def reply(route: Route = ROUTE, tools: Any = None, *, whole: bool = False) -> Reply:
    turn = routers.turn("Hello").model_copy(update={"whole": whole})
    return Reply(agent="article_query", turn=turn, route=route, tools=tools or Tools())


async def read(reply: Reply, answer: Callable[[], Awaitable[None]]) -> list[Piece]:
    async def answering() -> None:
        await answer()

    return [piece async for batch in reply.batches(answering()) for piece in batch]


def told(pieces: Sequence[Piece | str]) -> list[str]:
    """The texts and tools in order, whatever pieces the texts came in."""
    found: list[str] = []
    for piece in pieces:
        text = piece if isinstance(piece, str) else piece.text if isinstance(piece, Said) else None
        if text is not None and found and found[-1].startswith("said "):
            found[-1] += text
        elif not isinstance(piece, Done):
            found.append("tool" if text is None else f"said {text}")
    return found


@given(st.lists(st.text(max_size=3) | st.just(USED)), st.lists(st.booleans()))
def test_nothing_is_lost_or_reordered(pieces: list[str | ToolUsed], pauses: list[bool]) -> None:
    made = reply()

    async def answer() -> None:
        for piece, pause in zip(pieces, [*pauses, *([False] * len(pieces))], strict=False):
            made.say(piece) if isinstance(piece, str) else made.use(piece)
            if pause:
                await asyncio.sleep(0)

    seen = asyncio.run(read(made, answer))
    assert told(seen) == told(pieces)
    assert [type(piece) for piece in seen].count(Done) == 1
    assert isinstance(seen[-1], Done)
    assert seen[-1].response == "".join(piece for piece in pieces if isinstance(piece, str))


async def test_what_is_ready_is_joined_and_the_first_waits_for_nothing() -> None:
    made, go_on = reply(), asyncio.Event()

    async def answer() -> None:
        made.say("a")
        await go_on.wait()
        for letter in "bcd":
            made.say(letter)

    batches = made.batches(answer())
    assert await anext(batches) == [Said(text="a")]
    go_on.set()
    [rest] = [batch async for batch in batches]
    assert rest[0] == Said(text="bcd")
    assert isinstance(rest[1], Done)


async def test_what_stands_first_comes_with_the_first_text_or_without_it() -> None:
    at_once, later = reply(), reply()

    async def talk() -> None:
        at_once.say("a")

    [batch] = [batch async for batch in at_once.batches(talk(), first=[ROUTE])]
    assert batch[:2] == [ROUTE, Said(text="a")]

    go_on = asyncio.Event()

    async def think() -> None:
        await go_on.wait()
        later.say("b")

    batches = later.batches(think(), first=[ROUTE])
    assert await anext(batches) == [ROUTE]
    go_on.set()
    assert [batch[0] async for batch in batches] == [Said(text="b")]


async def test_who_reads_it_whole_gets_few_batches_and_not_only_at_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    quick, slow, go_on = reply(whole=True), reply(whole=True), asyncio.Event()

    async def talk() -> None:
        for letter in "abc":
            quick.say(letter)
            await asyncio.sleep(0.05)

    [batch] = [batch async for batch in quick.batches(talk(), first=[ROUTE])]
    assert batch[:2] == [ROUTE, Said(text="abc")]

    async def think() -> None:
        slow.say("a")
        await go_on.wait()

    monkeypatch.setattr("actors.systems.chat.turn.reply._WHOLE_REST_SECONDS", 0.05)
    batches = slow.batches(think())
    async with asyncio.timeout(5):
        assert await anext(batches) == [Said(text="a")]
        go_on.set()
        assert len(await anext(batches)) == 1


async def test_text_is_not_kept_back_by_what_is_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    made, go_on = reply(), [asyncio.Event(), asyncio.Event()]

    async def answer() -> None:
        made.use(USED)
        await go_on[0].wait()
        made.say("a")
        await go_on[1].wait()

    batches = made.batches(answer())
    assert await anext(batches) == [USED]
    monkeypatch.setattr("actors.systems.chat.turn.reply._REST_SECONDS", 3600)
    go_on[0].set()
    async with asyncio.timeout(5):
        assert await anext(batches) == [Said(text="a")]
        go_on[1].set()
        assert len(await anext(batches)) == 1


async def test_an_error_comes_after_what_was_said_before_it() -> None:
    made = reply()

    async def answer() -> None:
        made.say("a")
        raise ValueError("broken")

    batches = made.batches(answer())
    assert await anext(batches) == [Said(text="a")]
    with pytest.raises(ValueError, match="broken"):
        await anext(batches)


async def test_leaving_stops_what_is_under_way() -> None:
    made, stopped = reply(), asyncio.Event()

    async def answer() -> None:
        try:
            made.say("a")
            await asyncio.Event().wait()
        finally:
            stopped.set()

    async with aclosing(made.batches(answer())) as batches:
        await anext(batches)
    assert stopped.is_set()


async def test_a_call_of_a_tool_is_told_as_it_ended() -> None:
    made = reply()
    ok = await read(made, lambda: made.call("get_article", {"article_id": 7}))  # type: ignore[arg-type]
    assert ok[0] == USED
    assert isinstance(ok[-1], Done)
    assert ok[-1].tools_used == ("get_article",)
    failing = reply(tools=Tools(ArticleNotFound("there is no article 7")))
    batches = failing.batches(failing.call("get_article", {"article_id": 7}))  # type: ignore[arg-type]
    assert await anext(batches) == [ToolUsed(name="get_article", status="ArticleNotFound", about="article:7")]
    with pytest.raises(ArticleNotFound):
        await anext(batches)


async def test_what_routing_cost_and_what_it_took_the_message_for_are_part_of_the_answer() -> None:
    made = reply(ROUTE.model_copy(update={"calls": (CALL,), "took_as": "I took this for it"}))

    async def answer() -> None:
        made.cost(Usage(prompt_tokens=1), ())

    (done,) = await read(made, answer)
    assert isinstance(done, Done)
    assert done.usage == Usage(prompt_tokens=6, completion_tokens=2)
    assert done.calls == (CALL,)
    assert (done.took_as, done.topic, done.status) == ("I took this for it", "macro", "completed")


@pytest.mark.parametrize("limited", [False, True])
async def test_it_ends_as_the_agent_says(limited: bool) -> None:
    made = reply()
    made.limited = limited

    async def nothing() -> None:
        return

    (done,) = await read(made, nothing)
    assert isinstance(done, Done)
    assert done.status == ("limited" if limited else "completed")

    made = reply()
    made.limited = limited

    async def asks() -> None:
        made.ends("processing", task_id="t1")

    (done,) = await read(made, asks)
    assert isinstance(done, Done)
    assert (done.status, done.task_id) == ("processing", "t1")
