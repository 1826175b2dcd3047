"""An open client of one server: opened in the configured era, used by many requests at once, and closed.

It belongs to a task of its own, because the SDK's parts must be left where they were entered; whoever asks
waits beside it. A connection on which a request had no answer is retired: it ends with its last request.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CONNECTION_CLOSED,
    INVALID_REQUEST,
    PARSE_ERROR,
    ElicitRequestParams,
    ElicitResult,
    ErrorData,
    Implementation,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel, TypeAdapter, ValidationError

from actors.platform.mcp.exchange import CURRENT, Exchange, Unanswered
from actors.platform.mcp.http_wire import http_client
from actors.platform.mcp.program import ServerProgram
from models.config import McpServer
from models.error_lines import error_line
from models.release import RELEASE

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams
    from mcp.client.session import ClientRequestContext, ClientSession
    from mcp.shared.dispatcher import CallOptions
    from mcp_types import Request

_log = logging.getLogger(__name__)
_Result = TypeVar("_Result", bound=BaseModel)
# What the SDK says in place of a body that holds no error of JSON-RPC.
_STAND_INS = ("Server returned an error response", "Not Found", "Session terminated")
_CLOSING_SECONDS = 6.0
# Whoever asks gives up before the wire does, and says after how long.
_WIRE_LONGER_SECONDS = 5.0


class ServerConnection:
    """A client of a server. `protocol` is the version that both speak, once it is open."""

    def __init__(self, settings: McpServer) -> None:
        self._settings = settings
        self._program = (
            None
            if settings.stdio is None
            else ServerProgram(settings.stdio, max_bytes=settings.max_answer_bytes)
        )
        self._client: Client | None = None
        self._task: asyncio.Task[None] | None = None
        self._ending = asyncio.Event()
        self._under_way = 0
        self._calls: list[Exchange] = []
        self._own = Exchange()  # of what is said on it for no request
        self._one_by_one = asyncio.Lock()
        self.retired = False
        self.protocol = ""  # kept, for a client that has been closed knows its own no more

    @property
    def modern(self) -> bool:
        """Whether it is of 2026-07-28 or later: without sessions, and questions are answers."""
        return self.protocol in MODERN_PROTOCOL_VERSIONS

    async def open(self) -> None:
        """Start it and settle the protocol. It is closed again where that fails.

        Raises:
            Unanswered: it can't be reached, does not let us in, or speaks another protocol.
        """
        exchange = self._own
        opened: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._live(exchange, opened))
        try:
            async with asyncio.timeout(self._settings.timeout_seconds):
                self._client = await asyncio.shield(opened)
            self.protocol = self._client.protocol_version
            if self._settings.era == "2026-07-28" and not self.modern:
                raise Unanswered("invalid", f"it speaks {self.protocol}: set its era to 2025-11-25 or newest")
        except BaseException as error:
            with suppress(Exception):
                await self.close()
            if opened.done() and not opened.cancelled():
                opened.exception()
            if not isinstance(error, Exception):
                raise
            raise self._unanswered(error, exchange, "the handshake") from error

    async def request(
        self,
        request: "Request[Any, Any]",
        answer: "type[_Result] | TypeAdapter[_Result]",
        exchange: Exchange,
        *,
        as_it_is: bool = False,
    ) -> _Result:
        """Send one request, once, and wait for its answer.

        Args:
            as_it_is: `answer` alone says what is right, and the SDK's own form of the whole does not.

        Raises:
            MCPError: the server answers with an error of JSON-RPC.
            Unanswered: there is no answer, or none that keeps to the protocol; the connection is retired.
        """
        assert self._client is not None
        token = CURRENT.set(exchange)
        self._under_way += 1
        try:
            async with self._alone(exchange), asyncio.timeout(self._settings.timeout_seconds):
                if self._ending.is_set() or (self.retired and self._program and exchange.elicited):
                    raise Unanswered("away", "its connection was closed before the request", stale=True)
                if as_it_is:
                    raw = await self._raw(self._client.session, request)
                    if isinstance(answer, TypeAdapter):
                        return answer.validate_python(raw)
                    return answer.model_validate(raw)
                return await self._client.session.send_request(request, answer)
        except asyncio.CancelledError:
            # Its server is at it yet, and what it asks then would be taken for another call's.
            self.retired = self.retired or exchange.elicited is not None
            raise
        # The SDK raises what its parts raise: of anyio, httpx2, pydantic, and groups of them. Whatever it is,
        # nobody knows any more how this connection stands.
        except Exception as error:
            if isinstance(error, MCPError) and self._is_answer(error, exchange):
                raise
            self.retired = True
            raise self._unanswered(error, exchange, "the request") from error
        finally:
            CURRENT.reset(token)
            self._under_way -= 1
            if self.retired:
                self.retire()

    def retire(self) -> None:
        """Give it nothing more to do: it ends by itself, with its last request."""
        self.retired = True
        if not self._under_way:
            self._ending.set()

    @property
    def ended(self) -> bool:
        """Whether nothing of it is left."""
        return self._task is None or self._task.done()

    async def close(self) -> None:
        """End it, and its program. What is under way on it has no answer."""
        self.retired = True
        self._ending.set()
        if self._task is None:
            return
        _, late = await asyncio.wait([self._task], timeout=_CLOSING_SECONDS)
        if late:
            self._task.cancel()
            await asyncio.wait([self._task])

    @staticmethod
    async def _raw(session: "ClientSession", request: "Request[Any, Any]") -> Any:
        """What was answered. The SDK shows it to nobody but by these two."""
        data = request.model_dump(by_alias=True, mode="json", exclude_none=True)
        options: CallOptions = {}
        session._stamp(data, options)
        return await session._dispatcher.send_raw_request(data["method"], data.get("params"), options)

    async def _live(self, exchange: Exchange, opened: "asyncio.Future[Client]") -> None:
        CURRENT.set(exchange)
        try:
            client = Client(
                self._streams(),
                mode="legacy" if self._settings.era == "2025-11-25" else "auto",
                cache=None,
                elicitation_callback=self._elicited,
                client_info=Implementation(name="Signoff", version=RELEASE),
            )
            async with client:
                if not opened.done():
                    opened.set_result(client)
                await self._ending.wait()
        except Exception as error:  # noqa: BLE001 - whoever waits for it is told, and others find it retired
            if not opened.done():
                opened.set_exception(error)
            else:
                _log.info("%s: the connection ended: %s", self._settings.title, error_line(error))
        finally:
            self.retired = True
            if not opened.done():
                opened.cancel()

    @asynccontextmanager
    async def _streams(self) -> "AsyncIterator[TransportStreams]":
        settings = self._settings
        if self._program is not None:
            async with self._program.streams() as streams:
                yield streams
            return
        assert settings.http is not None
        async with (
            http_client(
                settings.http,
                max_bytes=settings.max_answer_bytes,
                timeout=settings.timeout_seconds + _WIRE_LONGER_SECONDS,
            ) as http,
            streamable_http_client(
                settings.http.url, http_client=http, max_sse_event_size=settings.max_answer_bytes
            ) as streams,
        ):
            yield streams

    @asynccontextmanager
    async def _alone(self, exchange: Exchange) -> AsyncIterator[None]:
        """Know it as a call that may be asked about. Pipes do not tell which one is: there it is the only."""
        if exchange.elicited is None:
            yield
        elif self._program is not None and not self.modern:
            async with self._one_by_one:
                self._calls.append(exchange)
                try:
                    yield
                finally:
                    self._calls.remove(exchange)
        else:
            self._calls.append(exchange)
            try:
                yield
            finally:
                self._calls.remove(exchange)

    async def _elicited(
        self, context: "ClientRequestContext", params: ElicitRequestParams
    ) -> ElicitResult | ErrorData:
        """What a server of 2025-11-25 asks: for the call that it came with, or the only one there is.

        Once a call had no answer, what is asked beside the calls may be for that one, and is for none.
        """
        exchange = CURRENT.get()
        if exchange is self._own and len(self._calls) == 1 and not self.retired:
            exchange = self._calls[0]
        if exchange not in self._calls or exchange.elicited is None:
            return ErrorData(code=INVALID_REQUEST, message="It can't be told which call this is asked for")
        CURRENT.set(exchange)  # this task sends the answer, as a part of that call
        return exchange.elicited(params)

    def _is_answer(self, error: MCPError, exchange: Exchange) -> bool:
        """Whether the server itself said so, and not the SDK in its place."""
        if exchange.fault is not None or error.code in (CONNECTION_CLOSED, PARSE_ERROR):
            return False
        status = exchange.status or 200
        return status < 400 or error.message not in _STAND_INS

    def _unanswered(self, error: Exception, exchange: Exchange, what: str) -> Unanswered:
        """What went wrong, in words: what the wire noticed says more than what the SDK made of it."""
        if isinstance(error, Unanswered):
            return error
        if exchange.fault is not None:
            return exchange.fault
        if self._program is not None and self._program.fault is not None:
            return self._program.fault
        status = exchange.status or 200
        inner = error
        while isinstance(inner, ExceptionGroup):
            inner = inner.exceptions[0]
        match inner:
            case Unanswered():
                return inner
            case TimeoutError():
                seconds = self._settings.timeout_seconds
                return Unanswered("away", f"no answer to {what} within timeout_seconds ({seconds:g} s)")
            case MCPError(code=code) if code == CONNECTION_CLOSED:
                said = f": {self._program.said}" if self._program is not None and self._program.said else ""
                return Unanswered(
                    "away", f"the connection ended before {what} was answered{said}", stale=True
                )
            case MCPError() if status >= 400:
                return Unanswered("invalid", f"it answers {status} to {what}: check its url and era")
            case ValidationError():
                fault = inner.errors(include_url=False, include_input=False, include_context=False)[0]
                where = ".".join(str(part) for part in fault["loc"])
                return Unanswered(
                    "invalid", error_line(f"its answer breaks the protocol: {where}: {fault['msg']}")
                )
        return Unanswered("invalid", error_line(f"its answer breaks the protocol: {error_line(inner)}"))
