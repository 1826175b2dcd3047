"""A reply in the making: what was said so far, which tools were used, what it cost.

Every answering agent of the chat makes one for each turn, and ends it with `done`: its `response` is exactly
the text that was streamed before.
"""

from typing import Any

from pydantic import BaseModel

from actors.chat.turn.toolbox import Toolbox
from models.chat import AgentType, ChatStatus, Done, Said, ToolUsed, Turn, Usage, WorkflowState
from models.errors import SignoffError
from models.llm import ModelCall


class Reply:
    """One turn's reply by one agent. `limited`: the budget ran out before the model was done."""

    def __init__(self, *, agent: AgentType, turn: Turn, topic: str | None, tools: Toolbox) -> None:
        self.topic = topic
        self.limited = False
        self._agent = agent
        self._turn = turn
        self._tools = tools
        self._said: list[str] = []
        self._used: dict[str, None] = {}
        self._untold: list[ToolUsed] = []
        self._calls: list[ModelCall] = []
        self._usage = Usage()

    def say(self, text: str) -> Said:
        """A piece of text."""
        self._said.append(text)
        return Said(text=text)

    def whole(self) -> Said:
        """All that was said, as one piece, where none of it was given out yet."""
        return Said(text=self.text)

    @property
    def text(self) -> str:
        """What was said so far."""
        return "".join(self._said)

    async def call(self, tool: str, arguments: dict[str, Any]) -> BaseModel:
        """Call a tool as the person who asks; `told` then tells of it, also where it failed.

        Raises:
            What the tool raises: see `Registry.call`.
        """
        try:
            answer = await self._tools.call(tool, arguments, caller=self._turn.caller)
        except SignoffError as error:
            self.used(ToolUsed(name=tool, status=type(error).__name__, about=_about(arguments)))
            raise
        self.used(ToolUsed(name=tool, status="ok", about=_about(arguments)))
        return answer

    def used(self, piece: ToolUsed) -> None:
        """Note a use, and have it told."""
        self.note(piece)
        self._untold.append(piece)

    def note(self, piece: ToolUsed) -> ToolUsed:
        """Note a use that is told elsewhere."""
        self._used.setdefault(piece.name)
        return piece

    def told(self) -> list[ToolUsed]:
        """The uses that nobody was told of yet."""
        untold, self._untold = self._untold, []
        return untold

    def cost(self, usage: Usage, calls: tuple[ModelCall, ...]) -> None:
        """Add what a conversation with the model cost."""
        self._usage = Usage(
            prompt_tokens=self._usage.prompt_tokens + usage.prompt_tokens,
            completion_tokens=self._usage.completion_tokens + usage.completion_tokens,
        )
        self._calls.extend(calls)

    def done(
        self,
        status: ChatStatus | None = None,
        *,
        task_id: str | None = None,
        workflow_state: WorkflowState | None = None,
    ) -> Done:
        """The last piece; `tools_used` names each tool once, in order of first use."""
        return Done(
            response=self.text,
            agent_type=self._agent,
            topic=self.topic,
            status=status or ("limited" if self.limited else "completed"),
            tools_used=tuple(self._used),
            workflow_state=workflow_state,
            task_id=task_id,
            usage=self._usage,
            calls=tuple(self._calls),
        )


def _about(arguments: dict[str, Any]) -> str | None:
    for noun in ("article", "resource"):
        if f"{noun}_id" in arguments:
            return f"{noun}:{arguments[f'{noun}_id']}"
    return None
