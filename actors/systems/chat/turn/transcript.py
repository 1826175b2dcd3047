"""What the model is shown in one turn: the conversation, what it asked for since, and what tools answered.

The tool loop adds to it. Everything that a tool said is cut to what may be read and fenced as data. User and
assistant take turns throughout, because many chat templates refuse anything else.
"""

import json
from collections.abc import Sequence
from typing import Any

from actors.platform.llm.chat_model import ToolRequest
from actors.platform.llm.client import BYTES_PER_TOKEN, rough_tokens
from actors.platform.llm.endpoint import Message
from actors.systems.chat.turn.model_messages import Prompts
from actors.systems.chat.turn.offered_tools import ToolReport, arguments_text
from models.config import ModelSettings
from models.text import start_of

# What the words around a tool's answer take, in tokens, and the least of an answer that is shown.
_AROUND_RESULT = 100
_LEAST_RESULT = 24
# Kept free for what the last message is told beside: to answer now.
_LAST_WORDS = 60


class Transcript:
    """One turn's messages. `result_tokens` is how much of a tool's answer is read, roughly."""

    def __init__(
        self,
        messages: Sequence[Message],
        *,
        settings: ModelSettings,
        prompts: Prompts,
        result_tokens: int,
    ) -> None:
        self.messages = list(messages)
        self._given = len(messages)
        self._settings = settings
        self._prompts = prompts
        self._result_tokens = result_tokens

    @property
    def tokens(self) -> int:
        """About how many tokens they have."""
        return rough_tokens(self.messages)

    @property
    def room(self) -> int:
        """How many tokens may be added, so that a reply still fits; less than 0 where none may."""
        settings = self._settings
        share = settings.context_window * settings.context_window_threshold // 100
        return min(share, settings.context_window - settings.max_tokens) - _LAST_WORDS - self.tokens

    @property
    def grew(self) -> bool:
        """Whether a round of tools was added."""
        return len(self.messages) > self._given

    def to_choose(self, tools: Sequence[dict[str, Any]]) -> list[Message]:
        """The messages, with the tools to choose from at the end."""
        return _adding(self.messages, self._prompts.render("tool_choice", TOOLS=tools))

    def to_answer(self, *, after_empty: bool) -> list[Message]:
        """The messages for the answer; after tools, or an empty reply, the model is told to answer."""
        messages = self.messages
        if self.grew:
            messages = _adding(messages, self._prompts.render("tool_answer"))
        if after_empty:
            messages = _adding(messages, self._prompts.render("empty_answer"))
        return messages

    def add_requests(self, text: str, requests: Sequence[ToolRequest]) -> None:
        """What the model said, and the tools it asked for by the API's own calls."""
        calls = [
            {
                "id": request.id,
                "type": "function",
                "function": {"name": request.name, "arguments": arguments_text(request.arguments)},
            }
            for request in requests
        ]
        self.messages.append({"role": "assistant", "content": text or None, "tool_calls": calls})

    def add_report(self, request: ToolRequest, report: ToolReport) -> None:
        """What came of one of those requests."""
        told = self._told(request.name, report)
        self.messages.append({"role": "tool", "tool_call_id": request.id, "content": told})

    def add_choice(self, choice: dict[str, Any], report: ToolReport) -> None:
        """What the model chose by a JSON schema, and what came of it."""
        own_words = json.dumps(choice, ensure_ascii=False)
        self.messages.append({"role": "assistant", "content": own_words})
        self.messages.append({"role": "user", "content": self._told(choice["use"], report)})

    def _told(self, name: str, report: ToolReport) -> str:
        # Half of the room at most: there may be more to come.
        tokens = max(_LEAST_RESULT, min(self._result_tokens, self.room // 2 - _AROUND_RESULT))
        size = tokens * BYTES_PER_TOKEN
        text = start_of(report.text, size)
        if report.is_error:
            return self._prompts.render("tool_error", ERROR=text)
        return self._prompts.render("tool_result", TOOL=name, RESULT=text, CUT=len(text) < len(report.text))


def _adding(messages: Sequence[Message], text: str) -> list[Message]:
    *before, last = messages
    return [*before, {**last, "content": f"{last['content']}\n\n{text}"}]
