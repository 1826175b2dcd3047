"""The door's own order: first the token, then how many at once, then the body, and only then a route.

ASGI middleware around the whole app. Whoever has no token is refused before a byte of the body is read, and
the connection is closed; whoever has too many requests open, before the database is asked who they are. A
body comes whole, within its limit and its time, before anything parses it.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from models.config import HttpConfig
from models.errors import RateLimited, SignoffError
from models.json_once import ambiguity
from models.store.database import GONE, unavailable
from serve.admission.bodies import BodyRefused, ClientLeft, closing, has_body, read_body, told_again
from serve.admission.limits import is_stream, is_wide, most_bytes, needs_token, too_much
from serve.auth.caller import caller, identity_of
from serve.problems import http_problem, render

# Its door refuses in JSON-RPC, before it reads; see `serve.mcp.door`.
_REFUSES_ITSELF = ("/mcp", "/mcp/")
_RETRY_SECONDS = 1.0


class OpenRequests:
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
            await self._app(scope, told_again(b"", receive), closing(send) if has_body(scope) else send)
            return
        connection = HTTPConnection(scope)
        try:
            identity = await identity_of(connection)
        except SignoffError as error:
            await self._refuse(error, scope, receive, send)
            return
        open_requests: OpenRequests = connection.app.state.open_requests
        try:
            with open_requests.one_more(identity.subject, stream=is_stream(path)):
                await self._known(connection, scope, receive, send)
        except RateLimited as error:
            await render(error)(scope, receive, closing(send))

    async def _known(self, connection: HTTPConnection, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await caller(connection)
        except SignoffError as error:
            await self._refuse(error, scope, receive, send)
        except GONE as error:
            away = unavailable(error)
            await self._refuse(away, scope, receive, send)
        else:
            await self._with_body(scope, receive, send)

    async def _refuse(self, error: SignoffError, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] in _REFUSES_ITSELF:
            await self._app(scope, receive, closing(send))
        else:
            await render(error)(scope, receive, closing(send))

    async def _with_body(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not has_body(scope):
            await self._app(scope, receive, send)
            return
        try:
            body = await read_body(
                scope,
                receive,
                most=most_bytes(scope["path"]),
                seconds=self._body_seconds,
                setting="http.body_seconds",
            )
            if is_wide(body):
                raise BodyRefused(422, "body: is not JSON in UTF-8: it holds NUL bytes")
            if reason := too_much(body):
                raise BodyRefused(413, reason)
            if scope["path"] not in _REFUSES_ITSELF and (reason := ambiguity(body)):
                raise BodyRefused(422, f"body: {reason}")
        except BodyRefused as error:
            # Who sends too much is known, and may send the rest unread: closing could lose them the answer.
            answer = closing(send) if error.status == 408 else send
            await http_problem(error.status, error.detail)(scope, receive, answer)
        except ClientLeft:
            return
        else:
            await self._app(scope, told_again(body, receive), send)
