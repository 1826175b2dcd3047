"""The site's MCP servers, for an agent: what each offers now, and one call of a tool.

A call is made only of the tool that was approved: what its server declares is asked for right before each
call and its digest compared. What reads may be asked again once where a connection turns out to be over; what
writes is sent once. Once a part of it was sent, only the answer to that request may say that it was not let
in: where that is lost, by whatever way, nobody here knows whether it was done, and says so.
"""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from mcp.shared.exceptions import MCPError, UrlElicitationRequiredError
from mcp_types import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    URL_ELICITATION_REQUIRED,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    ElicitRequestParams,
    ElicitResult,
    InputRequiredResult,
)
from pydantic import TypeAdapter, ValidationError

from actors.platform.mcp.answers import answer_of, text_of
from actors.platform.mcp.connection import ServerConnection
from actors.platform.mcp.exchange import Exchange, Unanswered
from actors.platform.mcp.listing import ToolsOnOffer, headers_for, offered_by
from actors.platform.mcp.mock_answers import MockServer
from actors.platform.mcp.questions import QuestionRound, asked_by, key_of, round_after, round_of
from actors.platform.mcp.schemas import fault_in
from models.config import McpServer
from models.error_lines import error_line
from models.errors import (
    McpServerAway,
    ServedToolChanged,
    ServedToolInvalid,
    ServedToolRefused,
    SignoffError,
    WriteAnswerLost,
)
from models.mcp.served_tools import ServedTool, ServerListing
from models.mcp.tool_answers import GivenToServer, ServedToolCall, ToolAnswer

_RESULT: TypeAdapter[CallToolResult | InputRequiredResult] = TypeAdapter(CallToolResult | InputRequiredResult)
# A server that says "later" without a question is asked again so often, each time a little later.
_MOST_LATERS = 10
_LATER_SECONDS = 0.1
# Errors from before a tool does anything. With any other one, a write may have been done.
_NOT_BEGUN = frozenset({INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, URL_ELICITATION_REQUIRED})


class McpServers:
    """The configured servers. Their connections are opened when they are needed, and kept."""

    def __init__(self, settings: Mapping[str, McpServer]) -> None:
        """Raises ConfigInvalid where a server's `mock` can't be read."""
        self._servers = {name: _Server.of(name, each) for name, each in settings.items()}

    async def listing(self, server: str) -> ServerListing:
        """What a server offers now, of what is allowed. Whatever is wrong with it is said in the listing.

        Raises:
            ServedToolRefused: no server of this name is configured.
        """
        its = self._its(server)
        try:
            connection, offered = await its.offered()
        except Unanswered as fault:
            reason = error_line(fault.reason)
            if fault.kind == "away" and its.mock is not None:
                tools, withheld = its.mock.tools()
                return ServerListing(
                    server=server, state="mock", reason=reason, tools=tools, withheld=withheld
                )
            return ServerListing(server=server, state=fault.kind, reason=reason)
        return ServerListing(
            server=server,
            state="answers",
            protocol=connection.protocol,
            tools=tuple(offered.tools.values()),
            withheld=offered.withheld,
        )

    async def call(
        self, call: ServedToolCall, *, given: GivenToServer | None = None, confirmed: bool = False
    ) -> ToolAnswer:
        """Call a tool once.

        Args:
            given: what a person answered to the question that this call came to before.
            confirmed: he has seen this very call, and said yes; without it nothing that writes is called.

        Raises:
            McpServerAway: its server is away, or slow. Nothing was written.
            Fenced, NotSent: it may not go out any more. Nothing was sent.
            ServedToolChanged: it is not the tool that was approved.
            ServedToolRefused: this call may not be made: it is not allowed, not confirmed, or not let in.
            ServedToolInvalid: the server broke the protocol or its own schema.
            WriteAnswerLost: it writes, was sent, and had no answer that can be used. It is not sent again.
        """
        its = self._its(call.server)
        writes = call.tool in its.settings.writes
        if not writes and call.tool not in its.settings.tools:
            raise ServedToolRefused(
                f"{call.server}.{call.tool}: is not allowed: it is not in its server's tools or writes"
            )
        if writes and not confirmed:
            raise ServedToolRefused(
                f"{call.server}.{call.tool}: it writes, so a person has to see this call and confirm it first"
            )
        answers = await round_after(given)
        started = time.monotonic()
        if question := answers.next_question(call):
            return ToolAnswer(
                server=call.server, tool=call.tool, status="asks", question=question, seconds=0.0
            )
        for again in (False, True):
            try:
                connection, offered = await its.offered()
            except Unanswered as fault:
                if fault.kind == "away" and its.mock is not None and not writes:
                    mocked = await its.mock.answer(call, seconds=time.monotonic() - started)
                    if mocked is not None:
                        return mocked
                raise _error(fault, call) from fault
            tool = _approved(offered, call)
            if wrong := await fault_in(dict(call.arguments), tool.input_schema):
                raise ServedToolRefused(f"{call.server}.{call.tool}: arguments: {wrong}")
            one = _Call(call, tool, connection, answers, started)
            try:
                return await one.made()
            except Unanswered as fault:
                if one.exchange.withheld is not None:
                    raise one.exchange.withheld from fault
                if fault.stale:
                    connection.retire()
                if writes and one.exchange.sent and not one.exchange.turned_away:
                    raise WriteAnswerLost(
                        f"{call.server}.{call.tool}: {error_line(fault.reason)}: whether it was done is not "
                        "known; look there before it is called again"
                    ) from fault
                if one.exchange.untold is not None:
                    raise one.exchange.untold from fault
                if again or not fault.stale or (writes and one.exchange.sent):
                    raise _error(fault, call) from fault
        raise AssertionError("a call is answered, or raises")

    async def close(self) -> None:
        """End all connections, and the programs behind them."""
        await asyncio.gather(*(its.close() for its in self._servers.values()))

    def _its(self, server: str) -> "_Server":
        if (found := self._servers.get(server)) is None:
            raise ServedToolRefused(f"{server[:80]}: no such MCP server is configured: add it to mcp.servers")
        return found


@dataclass(eq=False)
class _Server:
    """One server's settings, and the connection that is open to it."""

    name: str
    settings: McpServer
    mock: MockServer | None
    # The last is the one in use; those before it are retired, and may have requests under way.
    connections: list[ServerConnection] = field(default_factory=list)
    opening: asyncio.Lock = field(default_factory=asyncio.Lock)

    @classmethod
    def of(cls, name: str, settings: McpServer) -> "_Server":
        mock = None if settings.mock is None else MockServer(name, settings, settings.mock)
        return cls(name, settings, mock)

    async def offered(self) -> tuple[ServerConnection, ToolsOnOffer]:
        """What it offers now, and the connection that said so; a connection that is over is opened anew once.

        Raises:
            Unanswered: it does not say.
        """
        while True:
            connection, kept = await self._connected()
            try:
                return connection, await offered_by(connection, self.name, self.settings)
            except Unanswered as fault:
                connection.retire()
                if not (kept and fault.stale):
                    raise

    async def close(self) -> None:
        """End them all."""
        await asyncio.gather(*(connection.close() for connection in self.connections))

    async def _connected(self) -> tuple[ServerConnection, bool]:
        """An open connection, and whether it was open before."""
        async with self.opening:
            self.connections = [each for each in self.connections if not each.ended]
            if self.connections and not self.connections[-1].retired:
                return self.connections[-1], True
            connection = ServerConnection(self.settings)
            await connection.open()
            self.connections.append(connection)
            return connection, False


class _Call:
    """One call on one connection."""

    def __init__(
        self,
        call: ServedToolCall,
        tool: ServedTool,
        connection: ServerConnection,
        answers: QuestionRound,
        started: float,
    ) -> None:
        self._call = call
        self._tool = tool
        self._connection = connection
        self._answers = answers
        self._started = started
        self._asked: ElicitRequestParams | None = None
        modern = connection.modern
        self.exchange = Exchange(
            writes=tool.writes,
            acts=True,
            headers=headers_for(tool, call.arguments) if modern else {},
            elicited=None if modern else self._elicited,
        )

    async def made(self) -> ToolAnswer:
        """Make it, and make of its result what it is.

        Raises:
            Unanswered: there is no result, or none that can be used; or it writes, and failed from within.
        """
        try:
            result = await self._result()
        except MCPError as error:
            return await self._refused_by_server(error)
        except Unanswered:
            if self._asked is None or self._tool.writes:
                raise
            return await self._put_off(None)  # it reads, and it has said what it wants to know
        if (late := self.exchange.untold) is not None:
            raise Unanswered("away", str(late))  # it was answered in nobody's name
        if isinstance(result, InputRequiredResult):
            return self._asks(await round_of(result))
        if self._asked is not None:
            return await self._put_off(text_of(result.content))
        return await answer_of(result, self._call, self._tool.output_schema, seconds=self._seconds())

    async def _result(self) -> CallToolResult | InputRequiredResult:
        modern = self._connection.modern
        responses = self._answers.responses() if modern else None
        state = self._answers.state if modern else None
        for later in range(_MOST_LATERS):
            request = CallToolRequest(
                params=CallToolRequestParams(
                    name=self._call.tool,
                    arguments=dict(self._call.arguments),
                    input_responses=responses,
                    request_state=state,
                )
            )
            result = await self._connection.request(request, _RESULT, self.exchange)
            if not isinstance(result, InputRequiredResult) or result.input_requests:
                return result
            # It is at it, and says how to go on: that is an answer, and no call that was lost.
            responses, state = None, result.request_state
            await asyncio.sleep(_LATER_SECONDS * 2**later)
        raise Unanswered("away", f"it said {_MOST_LATERS} times that it will answer later")

    def _elicited(self, params: ElicitRequestParams) -> ElicitResult:
        """A question of 2025-11-25: what a person gave to it before, or that it is put off."""
        before = self._answers.given.get(key_of(params))
        if before is not None:
            return before.result()
        self._asked = self._asked or params
        return ElicitResult(action="cancel")

    async def _put_off(self, said: str | None) -> ToolAnswer:
        """It was told `cancel`: the person is asked, and sees what the tool made of that.

        For a tool that writes this is all that there is to know whether it wrote without his answer: whoever
        confirms the call anew has to be shown it.
        """
        assert self._asked is not None
        asked = await asked_by(self._asked, key=key_of(self._asked))
        return self._asks(self._answers.model_copy(update={"left": (asked,)}), said)

    async def _refused_by_server(self, error: MCPError) -> ToolAnswer:
        told = error_line(f"error {error.code}: {error.message}")
        if self._tool.writes and error.code not in _NOT_BEGUN:
            raise Unanswered("invalid", told)
        if self._asked is not None:
            return await self._put_off(error_line(error.message))
        if error.code == URL_ELICITATION_REQUIRED:
            try:
                required = UrlElicitationRequiredError.from_error(error.error).elicitations
            except (ValidationError, TypeError, AttributeError) as broken:
                raise Unanswered("invalid", "it asks for pages to be opened, and names none") from broken
            left = [await asked_by(params, key=key_of(params)) for params in required[:1]]
            before = self._answers.given.get(left[0].key) if left else None
            if left and (before is None or before.action == "accept"):
                return self._asks(self._answers.model_copy(update={"left": tuple(left)}))
        return ToolAnswer(
            server=self._call.server,
            tool=self._call.tool,
            status="failed",
            text=told,
            seconds=self._seconds(),
        )

    def _asks(self, answers: QuestionRound, said: str | None = None) -> ToolAnswer:
        return ToolAnswer(
            server=self._call.server,
            tool=self._call.tool,
            status="asks",
            question=answers.next_question(self._call, said),
            seconds=self._seconds(),
        )

    def _seconds(self) -> float:
        return round(time.monotonic() - self._started, 4)


def _approved(offered: ToolsOnOffer, call: ServedToolCall) -> ServedTool:
    tool = offered.tools.get(call.tool)
    if tool is None:
        what = next((each.reason for each in offered.withheld if each.name == call.tool), "it is gone")
    elif (change := tool.change_since(call)) is None:
        return tool
    else:
        what = change
    raise ServedToolChanged(
        f"{call.server}.{call.tool}: {what}: nothing was called; plan again with what there is"
    )


def _error(fault: Unanswered, call: ServedToolCall) -> SignoffError:
    """What a call that was not made, or that only reads, came to."""
    told = f"MCP server {call.server}: {error_line(fault.reason)}"
    match fault.kind:
        case "away":
            return McpServerAway(told, waits_for=f"MCP server {call.server}")
        case "refuses":
            return ServedToolRefused(told)
    return ServedToolInvalid(told)
