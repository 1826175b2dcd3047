"""Which call of a tool comes next, where a model chooses. Called by `source_reader`, again and again.

The model sees the allowed tools alone, and what they answered as text between marks. Whatever it asks for
is looked at again before it is called: what the plan does not allow is not called, and what writes is only
proposed.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

from actors.platform.llm.client import Completions, ModelClient, RejectedReply
from actors.platform.llm.prompts import TwoPartPrompt
from models.config import BreakerConfig, ModelSettings
from models.llm import Answer
from models.mcp.served_tools import ServedTool
from models.mcp.tool_answers import ToolAnswer
from models.operations.items import SourceAgent
from models.operations.plans import LONGEST_DESCRIPTION
from models.operations.results import ProposedWrite, ServedToolUse
from models.operations.tasks import ReadingTask
from models.record import Record
from models.text import one_line, shortened, without_halves

CHOOSING_PROMPT = "choose_call.md"
DONE = "done"
_LONGEST_REASON, _LONGEST_ANSWER, _LONGEST_SCHEMA = 240, 1500, 2000


class CallChoice(Record):
    """What a model wants called, and why; `done` where it wants nothing more."""

    reason: str
    tool: str
    arguments: Mapping[str, Any] = {}


class CallChooser:
    """Asks the model of `operations.agents_llm`.

    Args:
        prompt: shown AGENT, TOOLS, QUESTION, SAID, LEADS and BEFORE, what was called so far.
    """

    def __init__(
        self,
        *,
        agent: SourceAgent,
        settings: ModelSettings,
        breaker: BreakerConfig,
        prompt: str,
        completions: Completions | None = None,
    ) -> None:
        self._agent = agent
        self._prompt = TwoPartPrompt(source=prompt, name=CHOOSING_PROMPT)
        self._model = ModelClient(agent=agent, settings=settings, completions=completions, breaker=breaker)

    async def next_call(
        self,
        task: ReadingTask,
        tools: Sequence[ServedTool],
        before: Sequence[tuple[ServedToolUse, ToolAnswer | None]],
        proposed: Sequence[ProposedWrite] = (),
    ) -> Answer[CallChoice]:
        """The next call, of one of `tools`. `proposed` wait for a person.

        Raises:
            ModelUnavailable: the model is away.
            ModelReplyInvalid, ModelRefused, ModelTimedOut, PromptTooLong: of this choice alone.
        """
        names = [tool.name for tool in tools]
        system, user = await asyncio.to_thread(
            self._prompt.render,
            AGENT=self._agent,
            TOOLS=[
                {
                    "name": tool.name,
                    "said": f"{shortened(one_line(tool.description), LONGEST_DESCRIPTION)}\n"
                    f"{shortened(json.dumps(tool.input_schema), _LONGEST_SCHEMA)}",
                    "writes": tool.writes,
                }
                for tool in tools
            ],
            QUESTION=task.question,
            SAID="\n".join(said for said in (task.instructions, task.feedback) if said),
            LEADS=", ".join(task.leads),
            BEFORE=_told(before, proposed),
        )

        def accept(choice: CallChoice) -> CallChoice:
            if choice.tool not in (*names, DONE):
                raise RejectedReply(f"tool: must be one of {', '.join((*names, DONE))}")
            if "\\u0000" in json.dumps(choice.arguments):
                raise RejectedReply("arguments: hold a NUL character: leave it out")
            return choice.model_copy(update={"reason": shortened(one_line(choice.reason), _LONGEST_REASON)})

        return await self._model.ask_record(
            system=system, user=user, reply=CallChoice, accept=accept, schema=_schema(names)
        )


def _told(
    before: Sequence[tuple[ServedToolUse, ToolAnswer | None]], proposed: Sequence[ProposedWrite]
) -> str:
    """What was called so far, each with the beginning of its answer, and what was proposed."""
    lines = []
    for use, answer in before:
        said = use.fault or ""
        if answer is not None:
            said = json.dumps(answer.structured) if answer.structured is not None else answer.text
        given = json.dumps(use.arguments)
        lines.append(f"{use.number}. {use.tool} {given}: {shortened(one_line(said), _LONGEST_ANSWER)}")
    for write in proposed:
        lines.append(f"proposed, a person decides later: {write.tool} {json.dumps(write.arguments)}")
    return without_halves("\n".join(lines)) or "nothing yet"


def _schema(names: Sequence[str]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            "reason": {"type": "string", "minLength": 1, "maxLength": _LONGEST_REASON},
            "tool": {"type": "string", "enum": [*names, DONE]},
            "arguments": {"type": "object"},
        },
        "required": ["reason", "tool", "arguments"],
        "additionalProperties": False,
    }
