"""WebSockets to people: who is let in, how a talk goes on, and how it is closed.

The token comes in a header or, from browsers, as a subprotocol; a URL would end up in logs. Without a valid
token the handshake is refused (403), so that nothing a stranger sends is read. Any other refusal is a close
code, 4000 + HTTP status, after it: a browser is not told the status or the reason of a handshake that
failed.
"""

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from datetime import UTC, datetime
from typing import Any

from fastapi import WebSocket, WebSocketDisconnect
from starlette.websockets import WebSocketState

from models.config import RateLimit
from models.errors import InputInvalid, SignoffError, Unauthenticated
from models.json_once import ambiguity
from models.people.users import UserContext
from models.store.database import GONE
from serve.auth.caller import bearer_token, context_of
from serve.problems import members_of

SUBPROTOCOL = "signoff"
SEND_SECONDS = 60.0  # for which a client may take nothing
EXPIRED = "the token is over: connect again with a new one"
AWAY = "the database is away: connect again in a moment"
RESTARTS = (1012, "the server restarts: connect again")
_BEARER = "bearer."
_UNSUPPORTED, _TOO_BIG = 1003, 1009  # RFC 6455 §7.4.1
_TOO_OFTEN = 4429
_MAX_REASON = 123  # bytes of a close frame's reason (RFC 6455 §5.5)

# Who the caller is now: what he may has perhaps changed since he was let in. Raises Unauthenticated, …
Renew = Callable[[], Awaitable[UserContext]]
# The close code and the reason with which a talk is over; no code where the client has gone.
Ended = tuple[int | None, str]


async def let_in(socket: WebSocket, talk: Callable[[UserContext, Renew], Awaitable[Ended]]) -> None:
    """Verify the token, accept, talk until either is over, and close."""
    state = socket.app.state
    accepted = SUBPROTOCOL if SUBPROTOCOL in socket.scope.get("subprotocols", []) else None
    try:
        identity = await state.verifier.verify(_token(socket))
    except SignoffError:
        await socket.close()
        return
    try:
        with state.open_requests.one_more(identity.subject, stream=True):

            async def renew() -> UserContext:
                found = await context_of(identity, verifier=state.verifier, database=state.database)
                if is_over(found):
                    raise Unauthenticated(EXPIRED)
                return found

            caller = await context_of(identity, verifier=state.verifier, database=state.database)
            await socket.accept(subprotocol=accepted)
            if {"token", "access_token"} & set(socket.query_params):
                raise Unauthenticated(
                    "a token in the URL is refused: send it in a header or as a subprotocol"
                )
            code, reason = await talk(caller, renew)
    except SignoffError as error:
        code, reason = 4000 + error.http_status, str(error)
    except GONE:
        code, reason = 4503, AWAY
    if code is not None:
        with contextlib.suppress(WebSocketDisconnect, RuntimeError):  # it closed on its side meanwhile
            if socket.application_state is WebSocketState.CONNECTING:
                await socket.accept(subprotocol=accepted)
            await socket.close(code, reason.encode()[:_MAX_REASON].decode(errors="ignore"))


async def converse(telling: Coroutine[Any, Any, Ended], hearing: Coroutine[Any, Any, Ended]) -> Ended:
    """Tell and listen until either is over."""
    tasks = [asyncio.create_task(telling), asyncio.create_task(hearing)]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return done.pop().result()
    except WebSocketDisconnect:
        return None, ""
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class _SocketBucket:
    """How much a client has said of what it may: a bucket that fills up evenly, as those of tools do."""

    def __init__(self, limit: RateLimit) -> None:
        self._step, self._full = limit.per_seconds / limit.calls, limit.per_seconds
        self._empty_at = time.monotonic()

    def one_more(self) -> bool:
        """Count a message in; False where there is no room for it."""
        now = time.monotonic()
        self._empty_at = max(self._empty_at, now) + self._step
        return self._empty_at <= now + self._full + self._step / 2


async def tell(socket: WebSocket, texts: AsyncGenerator[str, None], caller: UserContext) -> Ended:
    """Send each text as it comes, until the caller's token is over."""
    async with contextlib.aclosing(texts):
        async for text in texts:
            if not await _sent(socket, text):
                return None, ""  # it would not take a close frame either
    return (4401, EXPIRED) if is_over(caller) else RESTARTS


async def _sent(socket: WebSocket, text: str) -> bool:
    """Whether a client took a text; it did not where it takes nothing for `SEND_SECONDS`."""
    try:
        async with asyncio.timeout(SEND_SECONDS):
            await socket.send_text(text)
    except TimeoutError:
        return False
    return True


async def hear(
    socket: WebSocket, answer: Callable[[str], Awaitable[str | None]], *, most: int, limit: RateLimit
) -> Ended:
    """Take what is said, up to `most` characters each, and send back what `answer` makes of it.

    Whoever says more than `limit` allows, sense or nonsense, is closed with 4429, and nothing of it is read.
    What readers would take in different ways is answered as an error, and no `answer` sees it.
    """
    heard = _SocketBucket(limit)
    while True:
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            return None, ""
        text: str | None = message.get("text")
        if text is None:
            return _UNSUPPORTED, "send text"
        if len(text) > most:
            return _TOO_BIG, f"send at most {most} characters"
        if not heard.one_more():
            return _TOO_OFTEN, f"more than {limit.calls} messages in {limit.per_seconds:g} s: wait a while"
        reason = ambiguity(text)
        said = refusal(InputInvalid(f"message: {reason}")) if reason else await answer(text)
        if said is not None and not await _sent(socket, said):
            return None, ""


def refusal(error: SignoffError) -> str:
    """What somebody is told of what he said and what was not taken."""
    return json.dumps({"type": "error", "data": members_of(error)})


def is_ping(text: str) -> bool:
    """Whether somebody only asks whether anybody is there."""
    with contextlib.suppress(ValueError, RecursionError):
        said: Any = json.loads(text)
        return isinstance(said, dict) and said.get("type") == "ping"
    return False


def is_over(caller: UserContext) -> bool:
    """Whether the token with which somebody was let in is over."""
    return caller.expires_at is not None and datetime.now(UTC) >= caller.expires_at


def _token(socket: WebSocket) -> str:
    """The token from the header or, as browsers can't set one, from the subprotocols."""
    offered = socket.scope.get("subprotocols", [])
    if "Authorization" not in socket.headers and SUBPROTOCOL in offered:
        for protocol in offered:
            if protocol.startswith(_BEARER):
                return str(protocol.removeprefix(_BEARER))
    return bearer_token(socket.headers)
