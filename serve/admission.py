"""The door's own order: first the token, then how many at once, then the body, and only then a route.

ASGI middleware around the whole app. Whoever has no token is refused before a byte of the body is read, and
the connection is closed; a body comes whole, within its limit and its time, before anything parses it.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from models.config import HttpConfig
from models.errors import DatabaseUnavailable, RateLimited, SignoffError
from models.store.database import GONE
from serve.auth import caller
from serve.limits import is_stream, most_bytes, needs_token, too_much
from serve.problems import http_problem, render

# Its door refuses in JSON-RPC, before it reads; see `serve.routes.mcp`.
_REFUSES_ITSELF = ("/mcp", "/mcp/")
_RETRY_SECONDS = 1.0


class Crowd:
    """How many requests and streams each person has open here. One per replica."""

    def __init__(self, http: HttpConfig) -> None:
        self._most = {False: http.requests_per_person, True: http.streams_per_person}
        self._open: Counter[tuple[str, bool]] = Counter()

    @contextmanager
    def one_more(self, person: str, *, stream: bool) -> Iterator[None]:
        """Count one in while it is open.

        Raises:
            RateLimited: the person has as many open as `http` in the configuration allows.
        """
        key = (person, stream)
        if self._open[key] >= self._most[stream]:
            what = "streams" if stream else "requests"
            raise RateLimited(
                f"you have {self._open[key]} {what} open (http.{what}_per_person): wait until one has ended",
                retry_after_seconds=_RETRY_SECONDS,
            )
        self._open[key] += 1
        try:
            yield
        finally:
            self._open[key] -= 1
            if not self._open[key]:
                del self._open[key]


class _Gone(Exception):
    """The client left before its body was whole."""


class Admission:
    """The middleware. `http` says how long a body may take."""

    def __init__(self, app: ASGIApp, http: HttpConfig) -> None:
        self._app = app
        self._body_seconds = http.body_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a refusal, or pass the request on with its body read."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path: str = scope["path"]
        if not needs_token(path):
            # Nothing of it is read: no open path takes a body.
            await self._app(scope, _nothing(receive), _closing(send) if _has_body(scope) else send)
            return
        connection = HTTPConnection(scope)
        try:
            who = await caller(connection)
        except (SignoffError, *GONE) as error:
            if path in _REFUSES_ITSELF:
                await self._app(scope, receive, _closing(send))
                return
            away = DatabaseUnavailable("the database is away: try again in a moment")
            refusal = render(error if isinstance(error, SignoffError) else away)
            await refusal(scope, receive, _closing(send))
            return
        crowd: Crowd = connection.app.state.crowd
        try:
            with crowd.one_more(who.subject, stream=is_stream(path)):
                await self._with_body(scope, receive, send)
        except RateLimited as error:
            await render(error)(scope, receive, _closing(send))

    async def _with_body(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not _has_body(scope):
            await self._app(scope, receive, send)
            return
        try:
            body = await self._read(scope, receive)
        except _Gone:
            return
        if isinstance(body, Response):
            # Who sends too much is known, and may send the rest unread: closing could lose them the answer.
            await body(scope, receive, send if body.status_code == 413 else _closing(send))
            return
        told = False

        async def again() -> Message:
            nonlocal told
            if told:
                return await receive()
            told = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self._app(scope, again, send)

    async def _read(self, scope: Scope, receive: Receive) -> bytes | Response:
        """The body, or what to answer instead."""
        most = most_bytes(scope["path"])
        too_large = http_problem(413, f"body: is over {most} bytes: send less")
        told = dict(scope["headers"]).get(b"content-length", b"")
        if told.isdigit() and int(told) > most:
            return too_large
        parts: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(self._body_seconds):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise _Gone
                    parts.append(message.get("body", b""))
                    size += len(parts[-1])
                    if size > most:
                        return too_large
                    if not message.get("more_body", False):
                        break
        except TimeoutError:
            seconds = f"{self._body_seconds:g} s (http.body_seconds)"
            return http_problem(408, f"body: did not come whole within {seconds}: send it again")
        body = b"".join(parts)
        reason = too_much(body)
        return body if reason is None else http_problem(413, reason)


def _has_body(scope: Scope) -> bool:
    """Whether one comes at all (RFC 9112 §6.3)."""
    headers = dict(scope["headers"])
    return headers.get(b"content-length", b"0") != b"0" or b"transfer-encoding" in headers


def _nothing(receive: Receive) -> Receive:
    """An empty body, and then what happens."""
    told = False

    async def empty() -> Message:
        nonlocal told
        if told:
            return await receive()
        told = True
        return {"type": "http.request", "body": b"", "more_body": False}

    return empty


def _closing(send: Send) -> Send:
    """Close the connection after the answer: what is left of the body is not read, nor waited for."""

    async def closing(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(raw=message.setdefault("headers", []))["Connection"] = "close"
        await send(message)

    return closing
