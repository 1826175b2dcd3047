"""Streamable HTTP below the SDK: what goes out, how much comes in, and what went wrong, by request.

A redirect is followed to the same origin, with method and body, and nowhere else: what lets us in goes along.
A fault is noted in the exchange that it belongs to and becomes an answer that the SDK understands: raised
through the SDK it would end the connection, with every other request that is under way on it.
"""

import json
import re
import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from functools import cache
from typing import Any

import httpcore2
import httpx2

from actors.platform.checked_stream import LookedAtBackend
from actors.platform.mcp.client_credentials import TokenSource
from actors.platform.mcp.exchange import CURRENT, Exchange, Unanswered, gives, put_off
from actors.platform.mcp.redirects import origin, redirected, told
from models.config import HttpServer
from models.errors import Fenced, NotSent

# Streams that an exchange may open to hear more: a server that ends each at once would have us ask for ever.
_MOST_GETS = 20
# Messages in one answer: each costs the SDK more than its bytes do.
_MOST_EVENTS = 2_000
# Lines end with either, or both; of a part that ends within such a line, the rest may come in the next.
_DATA = re.compile(rb"[\r\n]data")
_WITHIN = len(b"\ndata") - 1
# Redirects that keep method and body, or mean to: a 302 or 303 may say that it was done.
_MOVED = (301, 307, 308)
_MOST_MOVES = 5
_NOT_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)


def http_client(settings: HttpServer, *, max_bytes: int, timeout: float) -> httpx2.AsyncClient:
    """The client that the SDK sends with: to the configured server, and by no proxy."""
    return httpx2.AsyncClient(
        transport=_Wire(settings, max_bytes=max_bytes, timeout=timeout),
        # Packed, a small answer could be a huge one.
        headers={"Accept-Encoding": "identity", "User-Agent": "Signoff"},
        timeout=timeout,
        trust_env=False,
        follow_redirects=False,
    )


class _Wire(httpx2.AsyncBaseTransport):
    def __init__(self, settings: HttpServer, *, max_bytes: int, timeout: float) -> None:
        self._max_bytes = max_bytes
        self._header = settings.header
        # Servers usually end an idle connection after five seconds: not to be met while they do.
        self._inner = httpx2.AsyncHTTPTransport(verify=_trusted(), trust_env=False)
        # It can't be given connections of another make.
        self._inner._pool = httpcore2.AsyncConnectionPool(
            ssl_context=_trusted(),
            max_connections=None,
            keepalive_expiry=2.0,
            network_backend=LookedAtBackend(),
        )
        self._tokens: TokenSource | None = None
        self._tokens_http: httpx2.AsyncClient | None = None
        if settings.client_credentials is not None:
            self._tokens_http = httpx2.AsyncClient(
                verify=_trusted(), timeout=timeout, trust_env=False, follow_redirects=False
            )
            self._tokens = TokenSource(
                settings.client_credentials, resource=settings.url, http=self._tokens_http
            )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        exchange = CURRENT.get() or Exchange()
        exchange.gets += request.method == "GET"
        if exchange.gets > _MOST_GETS:
            return httpx2.Response(405)
        if exchange.over:
            return httpx2.Response(503)
        messages = _messages(request.content) if request.method == "POST" else []
        is_request = any("method" in one and "id" in one for one in messages)
        if is_request:
            request.headers.update(exchange.headers)
        try:
            exchange.check(messages)
            answer = await self._let_in(request, exchange, messages)
        except Unanswered as fault:
            exchange.failed(fault.kind, fault.reason)
            return httpx2.Response(503)
        except (Fenced, NotSent) as late:
            given = len(messages) == 1 and gives(messages[0])
            exchange.withhold(late, given=given)
            if given:
                return await self.handle_async_request(_put_off(request, messages[0]))
            return httpx2.Response(503)
        except httpx2.HTTPError as error:
            if isinstance(error, _NOT_SENT):
                exchange.failed("away", f"it can't be reached ({_told(error)})")
            else:
                exchange.failed("away", f"the connection broke off ({_told(error)})")
            return httpx2.Response(503)
        if is_request:
            exchange.begun(answer.status_code)
            if answer.status_code == 404 and "mcp-session-id" in request.headers:
                exchange.failed("away", "its session is over", stale=True)
            else:
                _look_at(answer, exchange)
        if answer.headers.get("content-encoding", "identity").lower() != "identity":
            exchange.failed("invalid", "it packs its answers, though asked not to")
        if exchange.over:
            await answer.aclose()
            return httpx2.Response(answer.status_code if answer.status_code >= 400 else 502)
        assert isinstance(answer.stream, httpx2.AsyncByteStream)
        body = _Body(answer.stream, exchange, self._max_bytes)
        return httpx2.Response(
            answer.status_code, headers=answer.headers, stream=body, extensions=answer.extensions
        )

    async def aclose(self) -> None:
        await self._inner.aclose()
        if self._tokens_http is not None:
            await self._tokens_http.aclose()

    async def _let_in(
        self, request: httpx2.Request, exchange: Exchange, messages: Sequence[Mapping[str, Any]]
    ) -> httpx2.Response:
        """Send it with what lets us in. A token that is refused is asked for anew once, but for a write."""
        if self._header is not None:
            request.headers[self._header.name] = self._header.value.get_secret_value()
        if self._tokens is None:
            return await self._send(request, exchange, messages)
        token = await self._tokens.token()
        request.headers["Authorization"] = f"Bearer {token}"
        answer = await self._send(request, exchange, messages)
        if answer.status_code != 401 or exchange.writes:
            return answer
        await answer.aclose()
        request.headers["Authorization"] = f"Bearer {await self._tokens.token(refused=token)}"
        return await self._send(request, exchange, messages)

    async def _send(
        self, request: httpx2.Request, exchange: Exchange, messages: Sequence[Mapping[str, Any]]
    ) -> httpx2.Response:
        for _ in range(_MOST_MOVES):
            answer = await self._sent(request, exchange, messages)
            if not 300 <= answer.status_code < 400:
                return answer
            await answer.aclose()
            request = _moved(request, answer)
        raise Unanswered("invalid", f"it redirects more than {_MOST_MOVES} times")

    async def _sent(
        self, request: httpx2.Request, exchange: Exchange, messages: Sequence[Mapping[str, Any]]
    ) -> httpx2.Response:
        async def noted(event: str, _: dict[str, Any]) -> None:
            # Until here a connection was looked for, and nothing of the request was told to anybody.
            if event.endswith("send_request_headers.started"):
                exchange.sent = True

        request.extensions = {**request.extensions, "trace": noted}
        if (clearance := exchange.clearance(messages)) is None:
            return await self._inner.handle_async_request(request)
        request.extensions = clearance.around(request.extensions)
        try:
            return await self._inner.handle_async_request(request)
        finally:
            await clearance.end()


class _Body(httpx2.AsyncByteStream):
    """The body of an answer, so far as it may go."""

    def __init__(self, stream: httpx2.AsyncByteStream, exchange: Exchange, most: int) -> None:
        self._stream = stream
        self._exchange = exchange
        self._most = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = events = 0
        before = b""
        try:
            async for part in self._stream:
                size += len(part)
                events += sum(1 for _ in _DATA.finditer(before + part))
                before = (before + part)[-_WITHIN:]
                if size > self._most:
                    self._exchange.failed(
                        "invalid", f"its answer is over {self._most:,} bytes (max_answer_bytes)"
                    )
                    return
                if events > _MOST_EVENTS:
                    self._exchange.failed("invalid", f"its answer is over {_MOST_EVENTS:,} events")
                    return
                yield part
        except httpx2.HTTPError as error:
            self._exchange.failed("away", f"its answer broke off ({_told(error)})")

    async def aclose(self) -> None:
        await self._stream.aclose()


def _moved(request: httpx2.Request, answer: httpx2.Response) -> httpx2.Request:
    """The same request, to where a redirect leads.

    Raises:
        Unanswered: it leads to another origin, nowhere, or to something else than the same request.
    """
    where = redirected(request.url, answer)
    if where is None:
        raise Unanswered("invalid", f"it answers {answer.status_code} and no address")
    if answer.status_code not in _MOVED or origin(where) != origin(request.url):
        raise Unanswered("invalid", f"it redirects ({answer.status_code}) to {told(where)}: check its url")
    return httpx2.Request(
        request.method, where, headers=request.headers, stream=request.stream, extensions=request.extensions
    )


def _put_off(request: httpx2.Request, message: Mapping[str, Any]) -> httpx2.Request:
    """The same request, telling nothing of what a person gave."""
    headers = {name: value for name, value in request.headers.items() if name != "content-length"}
    return httpx2.Request(
        "POST", request.url, headers=headers, json=put_off(message), extensions=request.extensions
    )


def _look_at(answer: httpx2.Response, exchange: Exchange) -> None:
    """Note what the SDK would make an error like any other."""
    status = answer.status_code
    content_type = answer.headers.get("content-type", "").lower()
    if status in (401, 403):
        exchange.failed("refuses", f"it answers {status}: check its header or client_credentials")
    elif status in (408, 429) or status >= 500:
        exchange.failed("away", f"it answers {status}")
    elif status == 202:
        exchange.failed("invalid", "it answers 202 to a request, and so nothing")
    elif status < 300 and not content_type.startswith(("application/json", "text/event-stream")):
        exchange.failed("invalid", f"it answers {content_type[:60] or 'no content type'}: check its url")


def _messages(content: bytes) -> list[dict[str, Any]]:
    """Those that are sent. What has a method and an id is a request, to be answered."""
    told = json.loads(content)
    return [one for one in (told if isinstance(told, list) else [told]) if isinstance(one, dict)]


def _told(error: Exception) -> str:
    return type(error).__name__


@cache
def _trusted() -> ssl.SSLContext:
    """Whose certificates are believed: the machine's, so those of the site's own authority, too."""
    context = httpx2.create_ssl_context(trust_env=False)
    context.load_default_certs()
    return context
