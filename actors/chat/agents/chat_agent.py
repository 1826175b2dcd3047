"""What every agent of the chat is: `answer` is its verb, and `batches` the actor's edge."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import ClassVar

from actors.chat.turn.agent_context import AgentContext
from actors.chat.turn.reply import Reply
from actors.runtime.directory import Directory
from models.chat.messages import AgentType, Piece, Route, Turn
from models.config import Config


class ChatAgent:
    """An agent that answers turns. A subclass has an `agent_type` and an `answer`."""

    agent_type: ClassVar[AgentType]

    def __init__(self, *, config: Config, directory: Directory, prompts: dict[str, str]) -> None:
        self._config = config
        self._with = AgentContext(agent=self.agent_type, config=config, directory=directory, prompts=prompts)

    async def batches(
        self, turn: Turn, route: Route, *, first: Sequence[Route] = ()
    ) -> AsyncGenerator[list[Route | Piece], None]:
        """The answer to a turn as it comes, after `first`; `Done` is last, its text all that was said.

        Raises:
            ModelUnavailable and the like: what kept the answer from being given.
        """
        reply = self._with.reply(turn, route)
        # Closed here and now when the caller leaves, so that the call of the model ends with it.
        async with aclosing(reply.batches(self.answer(turn, route, reply), first=first)) as batches:
            async for batch in batches:
                yield batch

    async def answer(self, turn: Turn, route: Route, reply: Reply) -> None:
        """Answer a turn: `reply` is told what to say, and how it ends."""
        raise NotImplementedError
