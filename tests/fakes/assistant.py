"""A scripted assistant: it repeats what was said, in pieces, and tests can hold it between them.

It speaks through a `Barrier`, so it may run in a test's process, in one of its own or as an agent:
steps `begun`, `middle` and `end`, and `stopped` where it was not let finish.
"""

import asyncio
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any

from actors.platform.runtime.directory import Directory
from actors.platform.system import AgentRole
from models.chat.messages import Done, Piece, Route, Routed, Said, ToolUsed, Turn, Usage
from models.config import Config
from models.llm import ModelCall
from tests.fakes.barrier import report

CALL = ModelCall(
    agent="main_chat",
    model="scripted",
    prompt_sha256="0" * 64,
    prompt_tokens=7,
    completion_tokens=3,
    latency_seconds=0.25,
)


class ScriptedAssistant:
    """Answers `You said` and the message. `ends` changes the last piece by message, or fails in mid-answer.

    Args:
        barrier: the address it reports to, if it does.
    """

    def __init__(
        self, barrier: str | None = None, ends: Mapping[str, dict[str, Any] | Exception] | None = None
    ) -> None:
        self._barrier = barrier
        self._ends = ends or {}
        self.turns: list[Turn] = []

    async def answer(self, turn: Turn) -> AsyncGenerator[Piece, None]:
        """The pieces of an answer, as a door sees them."""
        route = _route(turn)
        yield Routed.of(route)
        async with aclosing(self._pieces(turn, route)) as pieces:
            async for piece in pieces:
                yield piece

    async def stream_answer(self, turn: Turn, route: Route) -> AsyncGenerator[list[Piece], None]:
        """The answer, as an agent gives it: one piece at a time."""
        async with aclosing(self._pieces(turn, route)) as pieces:
            async for piece in pieces:
                yield [piece]

    async def _pieces(self, turn: Turn, route: Route) -> AsyncGenerator[Piece, None]:
        self.turns.append(turn)
        try:
            await self._reach("begun", turn)
            yield Said(text="You said ")
            await self._reach("middle", turn)
            end = self._ends.get(turn.message, {})
            if isinstance(end, Exception):
                raise end
            yield ToolUsed(name="search_articles", status="ok", about="article:1")
            yield Said(text=turn.message)
            await self._reach("end", turn)
        except (asyncio.CancelledError, GeneratorExit):
            await self._reach("stopped", turn)
            raise
        done = Done(
            response=f"You said {turn.message}",
            agent_type="article_query",
            topic=route.topic,
            status="completed",
            tools_used=("search_articles",),
            usage=Usage(prompt_tokens=7, completion_tokens=3),
            calls=(CALL,),
        )
        yield done.model_copy(update=end)

    async def _reach(self, step: str, turn: Turn) -> None:
        if self._barrier is not None:
            await report(self._barrier, workflow=turn.message[:100], step=step, pid=os.getpid())


class ScriptedRouter:
    """The agent `main_chat`: it leaves every turn to `article_query`, the scripted one."""

    async def route_or_answer(self, turn: Turn) -> AsyncGenerator[list[Route], None]:
        """Who answers."""
        yield [_route(turn)]

    async def pid(self) -> int:
        """The process it runs in."""
        return os.getpid()


def _scripted(config: Config, directory: Directory) -> dict[str, Any]:
    """An agent finds its barrier's address in the data folder."""
    return {"barrier": (config.data_dir / "barrier").read_text()}


def _nothing(config: Config, directory: Directory) -> dict[str, Any]:
    return {}


def _route(turn: Turn) -> Route:
    topic = turn.topic or "macro"
    return Route(
        intent="read", agent_type="article_query", topic=topic, reason="scripted", score=1, by="example"
    )


ROLES: dict[str, AgentRole] = {
    "main_chat": ("tests.fakes.assistant:ScriptedRouter", _nothing),
    "article_query": ("tests.fakes.assistant:ScriptedAssistant", _scripted),
}
