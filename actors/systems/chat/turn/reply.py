"""A reply in the making: what was said so far, which tools were used, what it cost, how it ends.

An agent tells its reply what there is, and returns; whoever asked reads it meanwhile, in batches. `Done`
comes last, and its `response` is exactly the text that came before.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Coroutine, Iterator, Sequence
from itertools import groupby
from typing import Any

from pydantic import BaseModel

from actors.platform.tools.registry import InTransaction
from actors.systems.chat.turn.messages import language_of_turn
from actors.systems.chat.turn.toolbox import Toolbox
from models import trace_context
from models.chat.messages import (
    AgentType,
    ChatStatus,
    Done,
    Piece,
    Route,
    Said,
    ToolUsed,
    Turn,
    Usage,
    WorkflowState,
)
from models.errors import SignoffError
from models.llm import ModelCall
from models.tools import about_of

# Between two batches with text, at least. A model that writes 30 tokens a second waits for nothing.
_REST_SECONDS = 0.03
# The same where nobody reads before the end: what an agent that dies had said by then is still kept.
_WHOLE_REST_SECONDS = 0.5


class Reply:
    """One turn's reply by one agent. `limited`: the budget ran out before the model was done."""

    def __init__(self, *, agent: AgentType, turn: Turn, route: Route, tools: Toolbox) -> None:
        self.topic = route.topic
        self.limited = False
        self.language = language_of_turn(turn)
        self._agent = agent
        self._turn = turn
        self._took_as = route.took_as
        self._tools = tools
        self._said: list[str] = []
        self._used: dict[str, None] = {}
        # Routing was the first to cost something.
        self._calls = list(route.calls)
        self._usage = Usage(
            prompt_tokens=sum(call.prompt_tokens for call in route.calls),
            completion_tokens=sum(call.completion_tokens for call in route.calls),
        )
        self._end: dict[str, Any] = {}
        # What nobody has read yet; the event is set when there is something, or the agent is done.
        self._unread: list[str | ToolUsed] = []
        self._news = asyncio.Event()

    @property
    def text(self) -> str:
        """What was said so far."""
        return "".join(self._said)

    def say(self, text: str) -> None:
        """Say a piece of text."""
        self._said.append(text)
        self._tell(text)

    def use(self, piece: ToolUsed) -> None:
        """Tell that a tool was called."""
        self._used.setdefault(piece.name)
        self._tell(piece)

    async def call(
        self, tool: str, arguments: dict[str, Any], *, first: InTransaction | None = None
    ) -> BaseModel:
        """Call a tool as the person who asks, and tell of it, also where it failed.

        Raises:
            What `first` and the tool raise: see `Registry.call`.
        """
        try:
            # A workflow that it begins is part of the request's trace.
            with trace_context.within(self._turn.traceparent):
                answer = await self._tools.call(tool, arguments, caller=self._turn.caller, first=first)
        except SignoffError as error:
            self.use(ToolUsed(name=tool, status=type(error).__name__, about=about_of(arguments)))
            raise
        self.use(ToolUsed(name=tool, status="ok", about=about_of(arguments)))
        return answer

    def cost(self, usage: Usage, calls: tuple[ModelCall, ...]) -> None:
        """Add what a conversation with the model cost."""
        self._usage = Usage(
            prompt_tokens=self._usage.prompt_tokens + usage.prompt_tokens,
            completion_tokens=self._usage.completion_tokens + usage.completion_tokens,
        )
        self._calls.extend(calls)

    def ends(
        self,
        status: ChatStatus,
        *,
        task_id: str | None = None,
        workflow_state: WorkflowState | None = None,
    ) -> None:
        """Say how the reply ends, unless it is `completed` (or `limited`)."""
        self._end = {"status": status, "task_id": task_id, "workflow_state": workflow_state}

    async def batches(
        self, answering: Coroutine[Any, Any, None], *, first: Sequence[Route] = ()
    ) -> AsyncGenerator[list[Route | Piece], None]:
        """What is told while `answering` runs, as it comes; `Done` is last. Closing it stops `answering`.

        What comes within a few hundredths of a second is one batch (half a second for who reads the answer
        whole), and texts side by side are one piece: each batch that leaves an agent's process costs
        milliseconds there and in the replica. The first text of a stream waits for nothing; `first` stands
        before it, and waits a moment for it.

        Raises:
            What `answering` raises, after all that came before.
        """
        batch: list[Route | Piece] = list(first)
        work = asyncio.create_task(answering)
        work.add_done_callback(lambda _: self._news.set())
        now = asyncio.get_running_loop().time
        rest = _WHOLE_REST_SECONDS if self._turn.whole else _REST_SECONDS
        leaves_at = now() + rest if self._turn.whole else 0.0
        try:
            ended = False
            while not ended:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(rest if batch else None):
                        await self._news.wait()
                if (early := leaves_at - now()) > 0:
                    await asyncio.wait([work], timeout=early)
                self._news.clear()
                # First: what is told before it ends is read, too.
                ended = work.done()
                batch += self._read()
                if ended and not work.cancelled() and work.exception() is None:
                    batch.append(self._done())
                if batch:
                    yield batch
                    if any(isinstance(piece, Said) for piece in batch):
                        leaves_at = now() + rest
                    batch = []
            await work
        finally:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)

    def _tell(self, piece: str | ToolUsed) -> None:
        self._unread.append(piece)
        self._news.set()

    def _read(self) -> Iterator[Piece]:
        unread, self._unread = self._unread, []
        for is_text, group in groupby(unread, lambda piece: isinstance(piece, str)):
            if is_text:
                yield Said(text="".join(piece for piece in group if isinstance(piece, str)))
            else:
                yield from (piece for piece in group if isinstance(piece, ToolUsed))

    def _done(self) -> Done:
        return Done(
            response=self.text,
            agent_type=self._agent,
            topic=self.topic,
            tools_used=tuple(self._used),
            usage=self._usage,
            calls=tuple(self._calls),
            took_as=self._took_as,
            **({"status": "limited" if self.limited else "completed"} | self._end),
        )
