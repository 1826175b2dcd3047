"""Answers that come from agents in pieces: routed, stopped, cut off when an agent dies. On a real Ray."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any

import httpx2
import pytest

from actors.platform.runtime.directory import Directory, stop_agents
from models.chat.messages import Done, Piece, Said, Turn
from models.config import Config
from models.errors import AgentDied
from models.people.users import UserContext
from models.store.database import Database
from serve.answering import ChatAgents
from tests.fakes.barrier import Barrier
from tests.fakes.model.model_server import ModelServer
from tests.integration.chat.sites.chat_site import events_of
from tests.integration.rest import client, served

pytestmark = pytest.mark.usefixtures("ray_cluster")

CALLER = UserContext(
    user_id=1,
    subject="rita",
    name="Rita",
    email="rita@example.com",
    scopes=(),
    role=None,
    expires_at=datetime.now(UTC),
)


@pytest.fixture
def config(configure: Callable[..., Config]) -> Config:
    """The configuration of the agents."""
    return configure()


@pytest.fixture
def barrier(config: Config) -> Iterator[Barrier]:
    """What the agent at the end reports to."""
    with Barrier() as made:
        config.data_dir.mkdir(parents=True, exist_ok=True)
        (config.data_dir / "barrier").write_text(made.address)
        yield made


@pytest.fixture
def directory(config: Config, barrier: Barrier, ray_cluster: None) -> Iterator[Directory]:
    """`main_chat` leaves every turn to `article_query`; both are scripted."""
    stop_agents()
    yield Directory(config=config, roles="tests.fakes.assistant:ROLES")
    stop_agents()


def turn(message: str) -> Turn:
    """A message to be answered."""
    return Turn(caller=CALLER, message=message)


async def reached(barrier: Barrier, step: str, message: str = "Hello") -> int:
    """Wait until the scripted agent has reached a step; its process."""
    await asyncio.to_thread(barrier.until, lambda: barrier.runs(message, step) >= 1)
    return next(a.pid for a in reversed(barrier.arrivals) if (a.workflow, a.step) == (message, step))


async def begun(pieces: AsyncGenerator[Piece, None]) -> None:
    """Take pieces until something is said."""
    await anext(piece async for piece in pieces if isinstance(piece, Said))


async def test_pieces_come_as_they_are_made(directory: Directory, barrier: Barrier) -> None:
    assistant = ChatAgents(directory)
    await asyncio.to_thread(assistant.start)
    barrier.hold("end")
    async with aclosing(assistant.answer(turn("Hello"))) as pieces:
        seen = [await anext(pieces) for _ in range(4)]
        assert [piece.type for piece in seen] == ["routed", "said", "tool", "said"]
        barrier.release()
        rest = [piece async for piece in pieces]
    assert [type(piece) for piece in rest] == [Done]
    assert "".join(piece.text for piece in seen if isinstance(piece, Said)) == rest[0].response


async def test_leaving_stops_the_agent_within_a_second(directory: Directory, barrier: Barrier) -> None:
    barrier.hold("middle")
    async with aclosing(ChatAgents(directory).answer(turn("Hello"))) as pieces:
        await begun(pieces)
        await reached(barrier, "middle")
        left = time.monotonic()
    await reached(barrier, "stopped")
    assert time.monotonic() - left < 1


async def test_only_agents_that_are_not_to_be_kept_are_stopped(directory: Directory) -> None:
    made = {role: directory.handle(role, 0) for role in ("main_chat", "article_query")}
    assert stop_agents(keep={"main_chat"}) == 1
    assert directory.handle("main_chat", 0, fresh=True) == made["main_chat"]
    assert directory.handle("article_query", 0, fresh=True) != made["article_query"]
    assert stop_agents(keep=("main_chat", "article_query")) == 0
    assert stop_agents() == 2


async def test_a_question_to_agents_that_were_stopped_meanwhile_is_answered_by_new_ones(
    directory: Directory, barrier: Barrier
) -> None:
    """As `signoff up` stops them when the configuration has changed: a replica still has its handles."""
    assistant = ChatAgents(directory)
    assert isinstance([piece async for piece in assistant.answer(turn("One"))][-1], Done)
    assert stop_agents() == 2
    assert isinstance([piece async for piece in assistant.answer(turn("Two"))][-1], Done)


async def test_an_agent_killed_before_it_says_anything_is_not_asked_twice(
    directory: Directory, barrier: Barrier
) -> None:
    """What kills an agent must not kill the next one by itself."""
    assistant = ChatAgents(directory)
    assert isinstance([piece async for piece in assistant.answer(turn("One"))][-1], Done)
    barrier.hold("begun")
    async with aclosing(assistant.answer(turn("Two"))) as pieces:
        answering = asyncio.create_task(begun(pieces))
        os.kill(await reached(barrier, "begun", "Two"), signal.SIGKILL)
        with pytest.raises(AgentDied):
            await answering
    barrier.release()
    assert barrier.runs("Two", "begun") == 1


async def test_an_agent_killed_in_mid_answer_is_told_and_the_next_question_is_answered(
    directory: Directory, barrier: Barrier
) -> None:
    assistant = ChatAgents(directory)
    barrier.hold("middle")
    async with aclosing(assistant.answer(turn("One"))) as pieces:
        await begun(pieces)
        os.kill(await reached(barrier, "middle", "One"), signal.SIGKILL)
        with pytest.raises(AgentDied, match="the agent article_query ended"):
            await anext(piece async for piece in pieces if isinstance(piece, Done))
    barrier.release()
    said = [piece async for piece in assistant.answer(turn("Again"))]
    assert isinstance(said[-1], Done)


async def test_an_answer_outlives_the_agent_that_routed_it(directory: Directory, barrier: Barrier) -> None:
    assistant = ChatAgents(directory)
    barrier.hold("middle")
    async with aclosing(assistant.answer(turn("Two"))) as pieces:
        await begun(pieces)
        await reached(barrier, "middle", "Two")
        os.kill(await directory.agent("main_chat").pid(), signal.SIGKILL)
        barrier.release()
        said = [piece async for piece in pieces]
    assert isinstance(said[-1], Done)
    await directory.agent("main_chat").pid()  # waits until it is there again
    said = [piece async for piece in assistant.answer(turn("Again"))]
    assert isinstance(said[-1], Done)


@pytest.fixture
async def rita(config: Config, database_url: str, directory: Directory) -> AsyncIterator[httpx2.AsyncClient]:
    """Rita at the chat door, which agents on Ray answer; the model that people wait for is there."""
    with ModelServer() as model:
        there = config.chat.assistant_llm.model_copy(update={"api_base": model.base_url})
        chat = config.chat.model_copy(update={"assistant_llm": there})
        site = config.model_copy(update={"chat": chat})
        with served(site, database_url, assistant=ChatAgents(directory)) as url:
            async with client(config, url, "rita", "macro:reader") as made:
                yield made


async def test_the_door_s_client_stops_the_agents_by_leaving_and_hears_of_their_death(
    rita: httpx2.AsyncClient, database: Database, barrier: Barrier
) -> None:
    barrier.hold("middle")
    body: dict[str, Any] = {"message": "Hello", "stream": True}
    async with rita.stream("POST", "/api/chat", json=body) as response:
        seen = []
        async for event in events_of(response):
            seen.append(event)
            if event[0] == "text":
                break
        assert seen[-1][0] == "text", seen
        left = time.monotonic()
    await reached(barrier, "stopped")
    assert time.monotonic() - left < 1

    body = {"message": "Killed", "request_id": "r1", "stream": True}
    async with rita.stream("POST", "/api/chat", json=body) as response:
        events = events_of(response)
        os.kill(await reached(barrier, "middle", "Killed"), signal.SIGKILL)
        name, problem = [event async for event in events][-1]
    assert (name, problem["type"], problem["status"]) == ("error", "urn:signoff:problem:AgentDied", 503)
    barrier.release()
    answer = await rita.post("/api/chat", json={"message": "Killed", "request_id": "r1"})
    assert answer.json()["response"] == "You said Killed"
    async with database.connection() as connection:
        cursor = await connection.execute("SELECT content, status FROM messages ORDER BY id")
        kept = [tuple(row.values()) for row in await cursor.fetchall()]
    assert kept == [
        ("Hello", None),
        ("You said ", "interrupted"),
        ("Killed", None),
        ("You said Killed", "completed"),
    ]
