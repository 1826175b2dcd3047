"""A line of the log for each HTTP request, and the ids that all lines of it have: ASGI middleware.

A request's id is its `x-request-id`, which Ray Serve's proxy makes where a client sends none, and answers
with. Whom it is for is known once the token is verified (`serve.auth.caller`). The line holds the route's
pattern, never the path, the query, a header or a body. What load balancers and Prometheus ask is not logged.
"""

import logging
import re
import time
import uuid

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from models import log_ids
from models.log_ids import LogIds
from serve.monitoring.request_times import route_of
from serve.monitoring.traced import UNTRACED

_log = logging.getLogger(__name__)
# A client's own; what else it sends could be anything, a text or a key too.
_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")


class Logged:
    """The middleware."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and log how it ended."""
        if scope["type"] not in ("http", "websocket") or scope["path"] in UNTRACED:
            await self._app(scope, receive, send)
            return
        begun, status = time.monotonic(), 500

        async def told(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = int(message["status"])
            await send(message)

        with log_ids.within(LogIds(request_id=_id_of(scope))):
            try:
                await self._app(scope, receive, told)
            finally:
                if scope["type"] == "http":
                    facts = {"method": scope["method"], "route": route_of(scope), "status": status}
                    seconds = round(time.monotonic() - begun, 3)
                    _log.info("answered", extra={**facts, "seconds": seconds})


def _id_of(scope: Scope) -> str:
    sent = Headers(scope=scope).get("x-request-id", "")
    return sent if _REQUEST_ID.fullmatch(sent) else str(uuid.uuid4())
