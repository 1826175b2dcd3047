"""One answer under way: its pieces, its silences, and that what came of it is kept once, whatever happens."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest
from fastapi import Request

from models.chat.messages import Done, Piece, Routed, Said, ToolUsed, Turn
from models.errors import AgentDied, AnswerFailed, ModelUnavailable, SignoffError
from models.people.users import UserContext
from models.text import storable
from serve.answering import Answering, Answers, ClientGone

TURN = Turn(
    caller=UserContext(user_id=1, subject="rita", name="", email="", scopes=(), role=None),
    message="Hello",
    topic="equity",
)
ROUTED = Routed(agent_type="analyst", intent="research", topic="macro", reason="scripted")
DONE = Done(response="All", agent_type="analyst", topic="macro", status="completed")


class Client:
    """A client that may hang up."""

    def __init__(self) -> None:
        self.left = asyncio.Event()
        self.request = Request({"type": "http"}, receive=self._receive)

    async def _receive(self) -> dict[str, str]:
        await self.left.wait()
        return {"type": "http.disconnect"}


class Script:
    """An assistant that gives pieces, waits at every None and event, and fails at an exception."""

    def __init__(self, *steps: Piece | Exception | asyncio.Event | None) -> None:
        self._steps = steps
        self.go = asyncio.Event()
        self.closed = False

    async def answer(self, turn: Turn) -> AsyncGenerator[Piece, None]:
        """The pieces."""
        try:
            for step in self._steps:
                if isinstance(step, Exception):
                    raise step
                if step is None or isinstance(step, asyncio.Event):
                    await (step or self.go).wait()
                else:
                    yield step
        finally:
            self.closed = True


class Shelf:
    """Where answers are kept."""

    def __init__(self) -> None:
        self.kept: list[Done] = []

    async def keep(self, done: Done) -> Done:
        """Keep one."""
        await asyncio.sleep(0)
        self.kept.append(done)
        return done


def begin(script: Script, shelf: Shelf) -> Answering[Done]:
    """Let it answer."""
    return Answers().begin(script, TURN, shelf.keep)


async def leave(client: Client, answering: Answering[Done], *, after: Piece) -> None:
    """Follow it, and hang up after a piece."""
    async for piece in answering.follow(client.request):
        if piece == after:
            client.left.set()


async def test_pieces_come_in_order_and_silences_are_told() -> None:
    said = Said(text="All")
    script, shelf = Script(ROUTED, None, said, DONE), Shelf()
    answering = begin(script, shelf)
    seen: list[Piece | None] = []
    async with aclosing(answering.follow(Client().request, heartbeat_seconds=0.01)) as pieces:
        async for piece in pieces:
            seen.append(piece)
            if seen.count(None) == 2:
                script.go.set()
    assert [piece for piece in seen if piece is not None] == [ROUTED, said]
    assert seen[1:3] == [None, None]
    assert await answering.kept() == DONE
    assert (shelf.kept, script.closed) == ([DONE], True)


@pytest.mark.parametrize(
    "after", [None, AgentDied("the agent ended while it answered")], ids=["left", "died"]
)
async def test_an_answer_that_was_whole_is_kept_whole_whatever_comes_after(after: AgentDied | None) -> None:
    said, client = Said(text="All"), Client()
    script, shelf = Script(ROUTED, said, DONE, after), Shelf()
    answering = begin(script, shelf)
    if after is None:
        # While the stream has not ended yet.
        with pytest.raises(ClientGone):
            await leave(client, answering, after=said)
    assert await answering.kept() == DONE
    assert (shelf.kept, script.closed) == ([DONE], True)


@pytest.mark.parametrize("spoke", [True, False], ids=["words came meanwhile", "nothing came"])
async def test_a_model_that_speaks_while_it_is_asked_after_is_there(
    spoke: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Looking whether the model is there takes its time; an answer that flows by then is not cut off."""
    monkeypatch.setattr("serve.answering.LOOK_SECONDS", 0.0)
    asked, told, rest = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def away() -> SignoffError:
        asked.set()
        await told.wait()
        return ModelUnavailable("the model is away")

    script, shelf = Script(ROUTED, None, *([Said(text="All"), rest, DONE] if spoke else [])), Shelf()
    answering = Answers(away=away).begin(script, TURN, shelf.keep)
    await asked.wait()
    if not spoke:
        told.set()
        with pytest.raises(ModelUnavailable):
            await answering.kept()
        assert [done.status for done in shelf.kept] == ["failed"]
        return
    pieces = answering.follow(Client().request)
    assert await anext(pieces) == ROUTED
    script.go.set()
    assert await anext(pieces) == Said(text="All")
    told.set()
    for _ in range(10):  # what was told is heard
        await asyncio.sleep(0)
    rest.set()
    assert [piece async for piece in pieces] == []
    assert await answering.kept() == DONE


async def test_a_client_that_leaves_stops_it_and_what_was_said_is_kept() -> None:
    tool = ToolUsed(name="search_articles", status="ok")
    script, shelf, client = (
        Script(ROUTED, Said(text="So "), tool, tool, Said(text="far"), None, DONE),
        Shelf(),
        Client(),
    )
    answering = begin(script, shelf)
    with pytest.raises(ClientGone):
        await leave(client, answering, after=Said(text="far"))
    assert script.closed
    assert shelf.kept == [
        Done(
            response="So far",
            agent_type="analyst",
            topic="macro",
            status="interrupted",
            tools_used=("search_articles",),
        )
    ]


async def test_a_follower_that_is_cancelled_stops_it_too() -> None:
    script, shelf = Script(Said(text="So far"), None), Shelf()
    answering = begin(script, shelf)

    async def follow() -> None:
        async with aclosing(answering.follow(Client().request)) as pieces:
            async for _ in pieces:
                follower.cancel()

    follower = asyncio.create_task(follow())
    await asyncio.wait([follower])
    assert follower.cancelled()
    assert (await answering.kept()).status == "interrupted"
    assert (shelf.kept[0].agent_type, shelf.kept[0].topic) == ("main_chat", "equity")


async def test_leaving_while_it_is_kept_changes_nothing() -> None:
    going = asyncio.Event()
    kept: list[Done] = []

    async def keep(done: Done) -> Done:
        await going.wait()
        kept.append(done)
        return done

    client = Client()
    answering = Answers().begin(Script(Said(text="All"), DONE), TURN, keep)
    asyncio.get_running_loop().call_later(0.01, going.set)
    with pytest.raises(ClientGone):
        await leave(client, answering, after=Said(text="All"))
    assert kept == [DONE]


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (ModelUnavailable("the model is away"), ModelUnavailable),
        (ZeroDivisionError("secret"), AnswerFailed),
        (None, AgentDied),
    ],
)
async def test_what_fails_is_raised_after_what_was_said_is_kept(
    error: Exception | None, raised: type[Exception]
) -> None:
    # Without an error, and without a last piece, it ended before it was done.
    shelf = Shelf()
    answering = begin(Script(Said(text="So far"), *([error] if error else [])), shelf)
    assert [piece async for piece in answering.follow(Client().request)] == [Said(text="So far")]
    with pytest.raises(raised) as told:
        await answering.kept()
    assert "secret" not in str(told.value)
    assert [(done.response, done.status) for done in shelf.kept] == [("So far", "failed")]


async def test_closing_stops_all_of_them_and_waits_until_they_are_kept() -> None:
    answers, shelf = Answers(), Shelf()
    scripts = [Script(Said(text=f"{n}"), None) for n in range(3)]
    begun = [answers.begin(script, TURN, shelf.keep) for script in scripts]
    followers = [answering.follow(Client().request) for answering in begun]
    for follower in followers:
        await anext(follower)
    await answers.close()
    assert sorted(done.response for done in shelf.kept) == ["0", "1", "2"]
    assert {done.status for done in shelf.kept} == {"interrupted"}
    for follower in followers:
        assert [piece async for piece in follower] == []


def test_what_json_and_postgres_can_t_hold_is_left_out() -> None:
    assert storable("a\x00b\ud83dc ż 😀") == "ab?c ż 😀"
