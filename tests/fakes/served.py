"""MCP servers of a test, without a socket: what they offer and answer is said by the test."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from models.errors import McpServerAway, ServedToolChanged, ServedToolRefused, WriteAnswerLost
from models.llm import ModelCall
from models.mcp.served_tools import ServedTool, ServerListing
from models.mcp.tool_answers import GivenToServer, ServedToolCall, ServerQuestion, ToolAnswer

SCHEMA: Mapping[str, Any] = {"type": "object", "properties": {"query": {"type": "string"}}}


class ServedThings:
    """One server that has some things, and finds those that hold the words of a query.

    `digest` is that of its one tool, `search`. `away`, `slow` and `asks` make it as servers may be.
    """

    def __init__(self, name: str, *things: Mapping[str, Any]) -> None:
        self.name = name
        self.things = list(things)
        self.digest = "d" * 64
        self.address = f"https://{name}.example/mcp"
        self.away = False
        self.fault: str | None = None
        self.asks: ServerQuestion | None = None
        self.mock = False
        self.calls: list[ServedToolCall] = []
        self.given: list[GivenToServer] = []
        self.before_answer: Callable[[ServedToolCall], None] = lambda call: None
        self.held = asyncio.Event()
        self.held.set()
        # A tool that writes, where it has one; `lost` has answers get lost after it did what it was asked.
        self.writes: str | None = None
        self.written: list[Mapping[str, Any]] = []
        self.lost = False
        self.before_write: Callable[[ServedToolCall], Awaitable[None]] | None = None

    async def listing(self, server: str) -> ServerListing:
        """What it offers."""
        if self.away:
            return ServerListing(server=server, state="away", reason="it can't be reached")
        tool = ServedTool(
            server=server,
            name="search",
            description="Find",
            input_schema=SCHEMA,
            digest=self.digest,
            address=self.address,
        )
        tools: tuple[ServedTool, ...] = (tool,)
        if self.writes is not None:
            tools += (tool.model_copy(update={"name": self.writes, "writes": True}),)
        return ServerListing(server=server, state="mock" if self.mock else "answers", tools=tools)

    async def call(
        self, call: ServedToolCall, *, given: GivenToServer | None = None, confirmed: bool = False
    ) -> ToolAnswer:
        """What it has."""
        if self.away:
            raise McpServerAway(f"MCP server {self.name}: away", waits_for=f"MCP server {self.name}")
        if call.tool == self.writes:
            if self.before_write is not None:
                await self.before_write(call)
            return self._wrote(call, confirmed=confirmed)
        if call.digest != self.digest:
            raise ServedToolChanged(f"{self.name}.{call.tool}: it is declared otherwise")
        self.calls.append(call)
        self.before_answer(call)
        await self.held.wait()
        if given is not None:
            self.given.append(given)
        elif self.asks is not None:
            return self._answer("asks", question=self.asks)
        if self.fault is not None:
            return self._answer("failed", text=self.fault)
        words = str(call.arguments.get("query", "")).casefold().split()
        found = [
            one for one in self.things if not words or any(word in str(one).casefold() for word in words)
        ]
        return self._answer("answered", structured={"items": found})

    def _wrote(self, call: ServedToolCall, *, confirmed: bool) -> ToolAnswer:
        if not confirmed:
            raise ServedToolRefused(f"{self.name}.{call.tool}: a person has to confirm it")
        self.written.append(call.arguments)
        if self.lost:
            raise WriteAnswerLost(f"{self.name}.{call.tool}: whether it was done is not known")
        return self._answer("answered", text="done")

    def _answer(self, status: Any, **more: Any) -> ToolAnswer:
        return ToolAnswer(
            server=self.name, tool="search", status=status, seconds=0.01, mock=self.mock, **more
        )


class ScriptedChoices:
    """A model that chooses calls as a test says, one after the other, and then is done."""

    def __init__(self, *choices: Mapping[str, Any]) -> None:
        self._left = list(choices)
        self.prompts: list[str] = []

    async def complete(
        self,
        *,
        messages: Sequence[Mapping[str, Any]],
        response_format: dict[str, Any] | None,
        max_tokens: int | None = None,
    ) -> tuple[str, ModelCall]:
        """The next choice, as a model writes it."""
        self.prompts.append(str(messages[-1]["content"]))
        done = {"reason": "enough", "tool": "done", "arguments": {}}
        said = json.dumps({"reason": "it may help", **(self._left.pop(0) if self._left else done)})
        call = ModelCall(
            agent="crm",
            model="m",
            prompt_sha256="p",
            prompt_tokens=1,
            completion_tokens=1,
            latency_seconds=0.0,
        )
        return said, call
