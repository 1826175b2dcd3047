"""The chat's agents as Ray actors: text streams, leaving stops the model, death is told."""

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing

import psutil
import pytest

from actors.platform.runtime.directory import Directory, stop_agents
from models.chat.messages import Done, Piece, Routed, Said, Turn
from models.config import Config
from models.errors import AgentDied
from models.store.database import Database
from serve.answering import ChatAgents
from tests.fakes.model.model_script import Rule
from tests.fakes.model.model_server import ModelServer
from tests.integration.chat.sites.agents_site import MACRO, ChatSite, make_scripted_chat, make_site

__all__ = ["make_scripted_chat"]

QUESTION = "what did we write about inflation?"


@pytest.fixture(name="chat")
async def make_chat(
    ray_cluster: None,
    database: Database,
    database_url: str,
    scripted_chat: ModelServer,
    configure: Callable[..., Config],
) -> AsyncIterator[ChatSite]:
    """A site whose agents are actors."""
    stop_agents()
    yield make_site(database, database_url, scripted_chat, configure)
    stop_agents()


def kill(agent: str) -> None:
    """SIGKILL the process of an agent's class, one of this Ray's."""
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if process.cmdline()[:1] and process.cmdline()[0].startswith(f"ray::{agent}"):
                os.kill(process.pid, signal.SIGKILL)
                return
    raise AssertionError(f"no process of {agent}")


async def test_an_answer_streams_stops_with_its_client_and_dies_with_its_agent(chat: ChatSite) -> None:
    """One test, because each agent that is started costs seconds."""
    directory = Directory(
        config=chat.config, roles="actors.platform.systems:roles", database_url=chat.site.url
    )
    await chat.site.article(MACRO, headline="The Fed holds", publish=True)
    turn = Turn(caller=await chat.person("rita", "macro:reader"), message=QUESTION, topic="macro")

    def ask() -> AsyncIterator[Piece]:
        return ChatAgents(directory).answer(turn)

    chat.server.script(Rule(kind="text", reply="Inflation eased to 3.1 percent [1].", times=1))
    async with aclosing(ask()) as answer:  # type: ignore[type-var]  # an async generator
        pieces = [piece async for piece in answer]
    assert isinstance(pieces[0], Routed)
    assert isinstance(pieces[-1], Done)
    assert pieces[-1].response == "".join(piece.text for piece in pieces if isinstance(piece, Said))
    assert "[The Fed holds](" in pieces[-1].response

    chat.server.script(Rule(kind="text", reply="Inflation eased. " * 400, chunk_delay=0.05))
    async with aclosing(ask()) as answer:  # type: ignore[type-var]
        await anext(piece async for piece in answer if isinstance(piece, Said))
    async with asyncio.timeout(1):
        await chat.server.wait_until(lambda calls: any(call.cancelled for call in calls), timeout=1)

    async with aclosing(ask()) as answer:  # type: ignore[type-var]
        await anext(piece async for piece in answer if isinstance(piece, Said))
        kill("ArticleQuery")
        with pytest.raises(AgentDied, match="article_query ended while it answered"):
            [piece async for piece in answer if isinstance(piece, Done)]

    chat.server.reset()
    chat.server.script(Rule(kind="text", reply="Inflation eased [1]."))
    async with aclosing(ask()) as answer:  # type: ignore[type-var]
        pieces = [piece async for piece in answer]
    assert isinstance(pieces[-1], Done)
    assert pieces[-1].status == "completed"
