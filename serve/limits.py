"""How large a request may be: beyond that it is refused before it fills the memory."""

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from serve.problems import http_problem

# A table of 200,000 cells, or an article of a million characters, fits many times over.
MAX_BODY_BYTES = 32 * 1024 * 1024


class BodyLimit:
    """ASGI middleware: 413 for a request body over `limit` bytes, whether it says its length or not."""

    def __init__(self, app: ASGIApp, limit: int = MAX_BODY_BYTES) -> None:
        self._app = app
        self._limit = limit
        self._told = f"body: is over {limit} bytes: send less"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, counting."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        told = dict(scope["headers"]).get(b"content-length", b"")
        if told.isdigit() and int(told) > self._limit:
            await http_problem(413, self._told)(scope, receive, send)
            return
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self._limit:
                raise HTTPException(413, self._told)
            return message

        await self._app(scope, counted, send)
