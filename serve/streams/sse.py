"""Server-sent events (HTML Living Standard §9.2): the response, and how one event is written."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator

from fastapi.responses import StreamingResponse
from starlette.types import Message, Send

KEEP_ALIVE = ": still here\n\n"
# What OpenAPI descriptions say of a stream: the schema is that of each event (OpenAPI 3.2, sequential media).
EVENTS = {
    "text/event-stream": {
        "schema": {
            "type": "object",
            "properties": {"event": {"type": "string"}, "data": {"type": "string"}},
            "required": ["data"],
        }
    }
}


class EventStream(StreamingResponse):
    """Server-sent events. The stream's generator is closed with it, not when it is collected as garbage."""

    media_type = "text/event-stream"

    def __init__(self, content: AsyncGenerator[str, None], *, send_seconds: float | None = None) -> None:
        super().__init__(content, headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        self._content = content
        self._send_seconds = send_seconds

    async def stream_response(self, send: Send) -> None:
        """Send it all, and close the generator whatever happens.

        A client that takes nothing for `send_seconds` is dropped.
        """

        async def send_in_time(message: Message) -> None:
            async with asyncio.timeout(self._send_seconds):
                await send(message)

        async with contextlib.aclosing(self._content):
            with contextlib.suppress(TimeoutError):
                await super().stream_response(send_in_time)


def event(name: str, data: str) -> str:
    """One event; `data` is a single line, as JSON is."""
    return f"event: {name}\ndata: {data}\n\n"
