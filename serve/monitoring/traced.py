"""A span for each HTTP request, until its answer has ended: ASGI middleware around the whole app.

It is there only where the site is traced. Whoever asks may send a `traceparent`, which the span continues;
whether it is kept is ours to say. What load balancers and Prometheus ask all the time is not traced.
"""

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from actors.platform import tracing
from models import trace_context
from serve.monitoring.request_times import route_of

UNTRACED = ("/health", "/health/ready", "/metrics")


class Traced:
    """The middleware."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, as a span."""
        if scope["type"] != "http" or scope["path"] in UNTRACED:
            await self._app(scope, receive, send)
            return
        method = str(scope["method"])
        sent = trace_context.checked(Headers(scope=scope).get("traceparent"))
        with tracing.span(method, {"http.request.method": method}, kind="server", continues=sent) as span:

            async def told(message: Message) -> None:
                if message["type"] == "http.response.start":
                    route, status = route_of(scope), int(message["status"])
                    facts: tracing.Facts = {"http.route": route, "http.response.status_code": status}
                    span.tell(facts, name=f"{method} {route}")
                    if status >= 500:
                        span.failed(str(status))
                await send(message)

            await self._app(scope, receive, told)
