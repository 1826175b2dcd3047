"""The body of a request, read whole before anything parses it: within its size and its time."""

import asyncio
from contextlib import suppress

from starlette.types import Message, Receive, Scope, Send


class BodyRefused(Exception):
    """Why a body is not taken, as HTTP tells it."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail


class ClientLeft(Exception):
    """The client left before its body was whole: there is nobody to answer."""


def has_body(scope: Scope) -> bool:
    """Whether one comes at all (RFC 9112 §6.3)."""
    headers = dict(scope["headers"])
    return headers.get(b"content-length", b"0") != b"0" or b"transfer-encoding" in headers


async def read_body(scope: Scope, receive: Receive, *, most: int, seconds: float, setting: str) -> bytes:
    """All of it.

    Args:
        most: the most bytes that are taken, told or not.
        seconds: how long it may take; `setting` is what says so, for the message.

    Raises:
        BodyRefused: 413, over `most`; 408, not whole in time. ClientLeft.
    """
    too_large = BodyRefused(413, f"body: is over {most} bytes: send less")
    told = dict(scope["headers"]).get(b"content-length", b"")
    if told.isdigit() and int(told) > most:
        raise too_large
    parts: list[bytes] = []
    size = 0
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ClientLeft
                parts.append(message.get("body", b""))
                size += len(parts[-1])
                if size > most:
                    raise too_large
                if not message.get("more_body", False):
                    return b"".join(parts)
    raise BodyRefused(408, f"body: did not come whole within {seconds:g} s ({setting}): send it again")


def told_again(body: bytes, receive: Receive) -> Receive:
    """A `receive` that tells a body which was read, and then what happens."""
    told = False

    async def again() -> Message:
        nonlocal told
        if told:
            return await receive()
        told = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def closing(send: Send) -> Send:
    """Close the connection after the answer: what is left of the body is not read, nor waited for."""

    async def close(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", ()), (b"connection", b"close")]}
        await send(message)

    return close
