"""Answers under way, for the doors of the chat: `POST /api/chat` and the OpenAI endpoints.

An answer is taken in by a task of its own, so that what came of it is kept even when the door's request
has been cancelled. A client that leaves stops it at once: uvicorn and Serve say so through `receive`.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any, Generic, Protocol, TypeVar

from fastapi import Request

from actors.platform import tracing
from actors.platform.runtime.directory import Directory
from models.chat.messages import ChatStatus, Done, Piece, Route, Routed, Said, ToolUsed, Turn
from models.config import Config
from models.error_lines import trace_of
from models.errors import (
    AgentDied,
    AnswerFailed,
    FeatureOff,
    ModelUnavailable,
    RateLimited,
    SignoffError,
)
from models.people.users import UserContext
from models.store.database import GONE, Database, unavailable
from models.store.people import tool_calls
from models.text import storable

_log = logging.getLogger(__name__)

T = TypeVar("T")
# Called once with what came of an answer: whole, interrupted or failed.
Keep = Callable[[Done], Awaitable[T]]
Away = Callable[[], Awaitable[SignoffError | None]]

HEARTBEAT_SECONDS = 15.0
# How often it is asked whether the model is there, while nothing has been said.
LOOK_SECONDS = 2.0
# How the chat is named where calls are counted: `tools.rate_limits.chat`.
COUNTED_AS = "chat"
_CLOSE_SECONDS = 10.0


class Assistant(Protocol):
    """The seam to whoever answers: the agents of the chat, or a script in tests."""

    def answer(self, turn: Turn) -> AsyncGenerator[Piece, None]:
        """The pieces of an answer, the last of them `Done`; closing it stops the work."""
        ...


class ChatAgents:
    """The agents of the chat, wherever they run in the cluster; `serve.api` makes one per replica.

    Each verb is one streamed call of a Ray actor (`RemoteAgent.stream`): closing it cancels the call, which
    is not begun again once something came.
    """

    def __init__(self, directory: Directory) -> None:
        self._directory = directory

    async def answer(self, turn: Turn) -> AsyncGenerator[Piece, None]:
        """The answer, as the agent gives it whom `main_chat` routes the turn to.

        Raises:
            AgentDied: the process of one of them ended meanwhile.
        """
        route: Route | None = None
        async with aclosing(self._pieces("main_chat", "route_or_answer", turn)) as received:
            async for piece in received:
                if isinstance(piece, Route):
                    route = piece
                    yield Routed.of(piece)
                else:
                    yield piece
        if route is None or route.agent_type == "main_chat":
            return
        async with aclosing(self._pieces(route.agent_type, "stream_answer", turn, route)) as answered:
            async for piece in answered:
                yield piece

    async def _pieces(self, role: str, verb: str, *of: Turn | Route) -> AsyncGenerator[Any, None]:
        async with aclosing(self._directory.agent(role).stream(verb, *of)) as batches:
            async for batch in batches:
                for piece in batch:
                    yield piece

    def start(self) -> None:
        """Begin to start `main_chat`, so that the first chat needn't wait for that; blocks a moment."""
        for replica in range(self._directory.replicas("main_chat")):
            self._directory.handle("main_chat", replica)


class ClientGone(Exception):
    """The client hung up: there is nobody to answer."""


class Answering(Generic[T]):
    """One answer under way. `follow` it, then ask what was `kept`.

    `away` tells the outage of the model that answers, where it is known: a person who has heard nothing
    yet is told of that, and does not wait for the model's return.
    """

    def __init__(
        self, turn: Turn, pieces: AsyncGenerator[Piece, None], keep: Keep[T], away: Away | None = None
    ) -> None:
        self._turn = turn
        self._away = away
        self._outage: SignoffError | None = None
        self._pieces = pieces
        self._keep = keep
        self._said: list[str] = []
        self._tools: list[str] = []
        self._routed: Routed | None = None
        self._done: Done | None = None
        # Stopping it has no use any more: it was stopped, or is being kept.
        self._stopped = False
        self._gone = False
        # None: it is over.
        self._queue: asyncio.Queue[Piece | None] = asyncio.Queue()
        self.task: asyncio.Task[T] = asyncio.create_task(self._run())

    async def follow(
        self, request: Request, *, heartbeat_seconds: float = HEARTBEAT_SECONDS
    ) -> AsyncGenerator[Piece | None, None]:
        """The pieces before `Done` as they come, None where nothing came for a while; over once it is kept.

        Closing it (`contextlib.aclosing`), or the client's leaving, stops the assistant.

        Raises:
            ClientGone.
        """
        watch = asyncio.create_task(self._watch(request))
        try:
            while True:
                try:
                    async with asyncio.timeout(heartbeat_seconds):
                        piece = await self._queue.get()
                except TimeoutError:
                    yield None
                    continue
                if self._gone:
                    raise ClientGone
                if piece is None:
                    return
                yield piece
        finally:
            watch.cancel()
            self.stop()

    async def kept(self) -> T:
        """What `keep` returned. Raises what the assistant or `keep` raised."""
        return await asyncio.shield(self.task)

    def stop(self) -> None:
        """Stop the assistant; what it said so far is kept. Nothing happens when it has ended."""
        if not self._stopped:
            self._stopped = True
            self.task.cancel()

    async def _watch(self, request: Request) -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass
        self._gone = True
        self.stop()

    async def _run(self) -> T:
        waiting = asyncio.create_task(self._wait_for_words(self._away)) if self._away else None
        try:
            return await self._answer()
        except SignoffError:
            raise
        except GONE as error:
            raise unavailable(error) from error
        except Exception as error:
            trace_id = trace_of(error, _log, "an answer failed")
            raise AnswerFailed(
                f"the assistant failed: ask again, and tell whoever runs the site (trace {trace_id})"
            ) from error
        finally:
            if waiting is not None:
                waiting.cancel()
            self._queue.put_nowait(None)

    async def _wait_for_words(self, away: Away) -> None:
        """Until something is said, ask now and then whether the model is there; if not, end the answer."""
        while not self._said and self._outage is None:
            await asyncio.sleep(LOOK_SECONDS)
            outage = None if self._said else await away()
            # Words that came while it was asked: whatever it said, the model is there.
            if outage is not None and not self._said:
                self._outage = outage
                self.stop()

    async def _answer(self) -> T:
        try:
            done = await self._take_in()
        except asyncio.CancelledError:
            # Stopped; the task itself goes on until that is kept.
            self.task.uncancel()
            if self._outage is not None:
                await self._keep(self._so_far("failed"))
                raise self._outage from None
            done = self._done or self._so_far("interrupted")
        except Exception:
            self._stopped = True
            await self._keep(self._so_far("failed"))
            raise
        self._stopped = True
        tracing.tell_calls(done.calls)
        return await self._keep(done)

    async def _take_in(self) -> Done:
        try:
            await self._read()
        except AgentDied:
            if self._done is None:
                raise
        if self._done is None:
            raise AgentDied("the agent ended its answer without saying how: ask again")
        return self._done

    async def _read(self) -> None:
        """All pieces, to the end of the stream behind `Done`: one that has ended needs no cancelling."""
        async with aclosing(self._pieces) as pieces:
            async for piece in pieces:
                match piece:
                    case Done():
                        self._done = piece.model_copy(update={"response": storable(piece.response)})
                        continue
                    case Said():
                        piece = Said(text=storable(piece.text))
                        self._said.append(piece.text)
                    case Routed():
                        self._routed = piece
                    case ToolUsed():
                        self._tools.append(piece.name)
                self._queue.put_nowait(piece)

    def _so_far(self, status: ChatStatus) -> Done:
        return Done(
            response="".join(self._said),
            agent_type=self._routed.agent_type if self._routed else "main_chat",
            topic=self._routed.topic if self._routed else self._turn.topic,
            status=status,
            tools_used=tuple(dict.fromkeys(self._tools)),
            took_as=self._routed.took_as if self._routed else None,
        )


class Answers:
    """The answers under way in this replica; made in the app's lifespan, and closed before its database."""

    def __init__(self, away: Away | None = None) -> None:
        self._away = away
        self._open: set[Answering[object]] = set()

    def begin(self, assistant: Assistant, turn: Turn, keep: Keep[T]) -> Answering[T]:
        """Let the assistant answer a turn."""
        answering = Answering(turn, assistant.answer(turn), keep, self._away)
        self._open.add(answering)  # type: ignore[arg-type]  # what is kept does not matter here

        def ended(task: asyncio.Task[T]) -> None:
            self._open.discard(answering)
            if not task.cancelled():
                task.exception()  # nobody may be left to ask for it

        answering.task.add_done_callback(ended)
        return answering

    async def close(self) -> None:
        """Stop them all, and wait until what was said is kept."""
        for answering in self._open:
            answering.stop()
        if self._open:
            await asyncio.wait([answering.task for answering in self._open], timeout=_CLOSE_SECONDS)


async def assistant_for(request: Request, caller: UserContext) -> Assistant:
    """The assistant, if the caller may ask it now; the question counts against the chat's rate limit.

    Raises:
        FeatureOff: the chat is switched off. ModelUnavailable: nobody is here to answer.
        RateLimited: the caller asks too often.
    """
    config: Config = request.app.state.config
    if not config.features.enable_new_agent_system:
        raise FeatureOff("the chat is switched off: set features.enable_new_agent_system to true")
    assistant: Assistant | None = request.app.state.assistant
    if assistant is None:
        raise ModelUnavailable("no assistant answers here: start the site with `signoff up`")
    database: Database = request.app.state.database
    limit = config.tools.rate_limits.get(COUNTED_AS, config.tools.rate_limit)
    async with database.connection() as connection:
        wait = await tool_calls.admit(connection, caller.subject, COUNTED_AS, limit)
    if wait:
        raise RateLimited(
            f"more than {limit.calls} messages in {limit.per_seconds:g} s: send it again in {wait:.1f} s",
            retry_after_seconds=wait,
        )
    return assistant
