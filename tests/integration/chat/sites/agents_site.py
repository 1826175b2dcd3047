"""What the tests of the chat share: a site with articles, its agents in this process, a scripted model.

The agents are the real ones over the real tools and database; only Ray is left out: `LocalDirectory` makes an
agent where the cluster would start an actor.
"""

import importlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from actors.platform import systems
from models.chat.messages import AgentType, ChatMessage, Done, Intent, Piece, Route, Said, ToolUsed, Turn
from models.config import Config
from models.people.users import UserContext
from models.store.database import Database
from serve.answering import ChatAgents
from tests.fakes.local_agents import LocalAgent, NoIndex
from tests.fakes.model.model_server import ModelServer
from tests.integration.conftest import ROOT
from tests.integration.editorial.desk import Desk
from tests.integration.search.search_site import Site

MACRO = (
    "The Fed held rates at 4.25 percent in May. Inflation eased to 3.1 percent. Officials expect cuts later."
)


class LocalDirectory:
    """Makes the agents of the chat when they are asked for."""

    def __init__(self, config: Config, database_url: str) -> None:
        self.database_url = database_url
        self._config = config
        self._agents: dict[str, LocalAgent] = {}

    def agent(self, role: str) -> LocalAgent:
        """The agent of a role, one for all."""
        if role not in self._agents:
            if role == "search_index":
                self._agents[role] = LocalAgent(NoIndex())
            else:
                path, arguments = systems.roles()[role]
                module, _, name = path.partition(":")
                plain = getattr(importlib.import_module(module), name)
                self._agents[role] = LocalAgent(plain(**arguments(self._config, self)))  # type: ignore[arg-type]
        return self._agents[role]

    async def close(self) -> None:
        """Close what the agents opened."""
        for agent in self._agents.values():
            if (context := getattr(agent.plain, "_context", None)) is not None:
                await context.tools.close()


class ChatSite:
    """A site whose chat can be asked."""

    def __init__(self, site: Site, config: Config, server: ModelServer) -> None:
        self.site = site
        self.config = config
        self.server = server
        self.desk = Desk(site.database, config)
        self.directory = LocalDirectory(config, site.url)

    async def person(self, name: str, *scopes: str) -> UserContext:
        """Somebody with scopes."""
        return await self.desk.person(name, *scopes)

    async def ask(
        self, who: UserContext, message: str, *, agent: AgentType, intent: Intent, **more: Any
    ) -> list[Piece]:
        """What one agent answers; `more` is of the turn."""
        turn = Turn(caller=who, message=message, **more)
        route = Route(
            intent=intent, agent_type=agent, topic=turn.topic, reason="a test", score=1.0, by="example"
        )
        batches = self.directory.agent(agent).stream("stream_answer", turn, route)
        return [piece async for batch in batches for piece in batch]

    async def chat(self, who: UserContext, message: str, **more: Any) -> list[Piece]:
        """What is answered by the agent that `main_chat` routes a message to."""
        return [piece async for piece in self.answer(Turn(caller=who, message=message, **more))]

    def answer(self, turn: Turn) -> AsyncGenerator[Piece, None]:
        """What is answered to a turn, as it comes."""
        return ChatAgents(self.directory).answer(turn)  # type: ignore[arg-type]  # its agents are in this process

    async def agreed(
        self, who: UserContext, message: str, *, agent: AgentType, intent: Intent, **more: Any
    ) -> list[Piece]:
        """What is answered to a yes, after one agent has asked for it."""
        asked = done(await self.ask(who, message, agent=agent, intent=intent, **more))
        assert asked.status == "asks", asked.response
        said = (
            ChatMessage(role="user", content=message),
            ChatMessage(role="assistant", content=asked.response),
        )
        return await self.chat(who, "yes", **{**more, "history": (*more.get("history", ()), *said)})

    async def calls(self) -> list[tuple[str, str]]:
        """The calls of tools that were recorded: name and status, oldest first."""
        rows = await self.site.rows("SELECT tool, status FROM tool_calls ORDER BY id")
        return [(row["tool"], row["status"]) for row in rows]


def done(pieces: list[Piece]) -> Done:
    """The last piece, whose text must be all that was said."""
    last = pieces[-1]
    assert isinstance(last, Done)
    assert last.response == "".join(piece.text for piece in pieces if isinstance(piece, Said))
    return last


def tools(pieces: list[Piece]) -> list[str]:
    """The tools that were used, as they were told."""
    return [piece.name for piece in pieces if isinstance(piece, ToolUsed)]


@pytest.fixture(scope="module", name="scripted_chat")
def make_scripted_chat() -> Iterator[ModelServer]:
    """One model for the module."""
    with ModelServer() as server:
        yield server


@pytest.fixture(name="chat")
async def make_chat(
    database: Database,
    database_url: str,
    scripted_chat: ModelServer,
    configure: Callable[..., Config],
) -> AsyncIterator[ChatSite]:
    """A site with a scripted model that calls tools natively."""
    chat = make_site(database, database_url, scripted_chat, configure)
    try:
        yield chat
    finally:
        await chat.directory.close()


def make_site(
    database: Database,
    database_url: str,
    server: ModelServer,
    configure: Callable[..., Config],
    changes: dict[str, Any] | None = None,
) -> ChatSite:
    """A site whose configuration is that of a laptop with `changes`."""
    server.reset()
    config = configure(
        {
            "chat.prompts_dir": str(ROOT / "configs/prompts/chat"),
            "drafting.prompts_dir": str(ROOT / "configs/prompts/drafting"),
            "chat.intents_file": str(ROOT / "configs/intents.yaml"),
            "publishing.prompts_dir": str(ROOT / "configs/prompts"),
            "chat.assistant_llm.api_base": server.base_url,
            "chat.assistant_llm.retry_delay": 0,
            "drafting.llm.api_base": server.base_url,
            "embedding.api_base": server.base_url,
            "chat.tools.calling": "native",
            "chat.tools.beside_sources": True,
            "chat.routing.ask_model": False,
            **(changes or {}),
        }
    )
    return ChatSite(Site(database, database_url, server.base_url), config, server)
