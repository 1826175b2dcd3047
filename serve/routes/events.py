"""Live events for people: server-sent events for programs, WebSocket for browsers.

Both tell what the caller may see, in the order of their ids, and resume after the last event received, on
any replica.
The token comes in a header or, from browsers, as a WebSocket subprotocol; a URL would end up in logs.
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request, WebSocket, WebSocketDisconnect
from pydantic import Field, ValidationError
from starlette.websockets import WebSocketState

from models.errors import (
    DatabaseUnavailable,
    InputInvalid,
    PermissionMissing,
    SignoffError,
    StreamTooSlow,
    Unauthenticated,
)
from models.people.scopes import Scope
from models.people.users import UserContext
from models.record import Record
from models.runtime.events import Event
from models.store.database import GONE, Database
from models.store.people import users
from serve.auth.caller import Caller, bearer_token, context_of
from serve.problems import problem_responses
from serve.streams.feed import Feed, Position, ScopesNow
from serve.streams.sse import EventStream

router = APIRouter(tags=["events"])

EventId = Annotated[int, Field(ge=0, le=2**63 - 1)]

SUBPROTOCOL = "signoff"
_BEARER = "bearer."
_MAX_MESSAGE = 4096  # characters from a client: there is nothing to say but ping
_SEND_SECONDS = 60.0  # for which a client may take nothing
_MAX_REASON = 123  # bytes of a close frame's reason (RFC 6455 §5.5)
_UNSUPPORTED, _TOO_BIG = 1003, 1009  # RFC 6455 §7.4.1
_EXPIRED = "the token is over: connect again with a new one"
_AWAY = "the database is away: connect again in a moment"


class Subscription(Record):
    """What to follow: after which event, of which types (comma-separated), of which workflow."""

    after: EventId | None = None
    types: Annotated[str, Field(pattern=r"^[a-z0-9_.]{1,64}(,[a-z0-9_.]{1,64}){0,31}$")] | None = None
    workflow_id: Annotated[str, Field(pattern=r"^[0-9A-Za-z_.:-]{1,200}$")] | None = None

    def follow(
        self, feed: Feed, database: Database, caller: UserContext
    ) -> AsyncGenerator[Event | Position, None]:
        """The caller's feed of it, until their token is over."""
        return feed.follow(
            after=self.after,
            person=caller.subject,
            scopes_now=_scopes_of(caller, database),
            types=frozenset(self.types.split(",") if self.types else ()),
            workflow_id=self.workflow_id,
            until=caller.expires_at,
        )


def _scopes_of(caller: UserContext, database: Database) -> ScopesNow:
    """Ask what is left of the token's scopes; nothing once the user is gone."""

    async def scopes_now() -> Sequence[Scope]:
        async with database.connection() as connection:
            return await users.scopes_left(connection, caller.subject, caller.scopes)

    return scopes_now


def _is_over(caller: UserContext) -> bool:
    return caller.expires_at is not None and datetime.now(UTC) >= caller.expires_at


@router.get(
    "/api/events", response_class=EventStream, status_code=200, responses=problem_responses(401, 422, 503)
)
async def follow_by_sse(
    request: Request,
    caller: Caller,
    wish: Annotated[Subscription, Query()],
    last_event_id: Annotated[EventId | None, Header()] = None,
) -> EventStream:
    """Events as they happen, as far as the caller's scopes reach; without an id, from now on.

    `Last-Event-ID` goes before `after`. Messages of an id and no data only move the place to resume from;
    one comes at least every 15 s. `end` says why the stream is over.
    """
    if last_event_id is not None:
        wish = wish.model_copy(update={"after": last_event_id})
    state = request.app.state
    feed = wish.follow(state.feed, state.database, caller)
    return EventStream(_told(feed, caller), send_seconds=_SEND_SECONDS)


async def _told(
    feed: AsyncGenerator[Event | Position, None], caller: UserContext
) -> AsyncGenerator[str, None]:
    """The feed as server-sent events (HTML Living Standard §9.2)."""
    yield "retry: 1000\n\n"
    async with contextlib.aclosing(feed):
        try:
            async for item in feed:
                if isinstance(item, Position):
                    yield f": nothing to tell\nid: {item.after}\n\n"
                else:
                    yield f"id: {item.id}\nevent: {item.type}\ndata: {item.model_dump_json()}\n\n"
        except DatabaseUnavailable:
            yield _end("database_away", _AWAY)
        except StreamTooSlow as error:
            yield _end("too_slow", str(error))
    if _is_over(caller):
        yield _end("token_over", _EXPIRED)


def _end(reason: str, detail: str) -> str:
    return f"event: end\ndata: {json.dumps({'reason': reason, 'detail': detail})}\n\n"


@router.websocket("/ws/{user_id}")
async def follow_by_websocket(socket: WebSocket, user_id: str) -> None:
    """Events as they happen, as JSON texts, to the person that the token names.

    `{"type": "position", "after": …}` says where to resume. Without a valid token the handshake is refused
    (403), so that nothing a stranger sends is read. Any other refusal is a close code, 4000 + HTTP status,
    after it: a browser is not told the status or the reason of a handshake that failed.
    """
    state = socket.app.state
    offered = socket.scope.get("subprotocols", [])
    accepted = SUBPROTOCOL if SUBPROTOCOL in offered else None
    try:
        identity = await state.verifier.verify(_token(socket))
    except SignoffError:
        await socket.close()
        return
    try:
        with state.open_requests.one_more(identity.subject, stream=True):
            caller = await context_of(identity, verifier=state.verifier, database=state.database)
            await socket.accept(subprotocol=accepted)
            wish = _wish(socket, user_id, caller)
            feed = wish.follow(state.feed, state.database, caller)
            code, reason = await _converse(socket, feed, caller)
    except SignoffError as error:
        code, reason = 4000 + error.http_status, str(error)
    except GONE:
        code, reason = 4503, _AWAY
    if code is not None:
        with contextlib.suppress(WebSocketDisconnect, RuntimeError):  # it closed on its side meanwhile
            if socket.application_state is WebSocketState.CONNECTING:
                await socket.accept(subprotocol=accepted)
            await socket.close(code, reason.encode()[:_MAX_REASON].decode(errors="ignore"))


def _wish(socket: WebSocket, user_id: str, caller: UserContext) -> Subscription:
    """What they wish; raises what refuses them."""
    query = socket.query_params
    if {"token", "access_token"} & set(query):
        raise Unauthenticated("a token in the URL is refused: send it in a header or as a subprotocol")
    if user_id not in (str(caller.user_id), caller.subject):
        raise PermissionMissing(f"this is not yours: yours is /ws/{caller.user_id}")
    try:
        return Subscription.model_validate(dict(query))
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        raise InputInvalid(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}") from error


def _token(socket: WebSocket) -> str:
    """The token from the header or, as browsers can't set one, from the subprotocols."""
    offered = socket.scope.get("subprotocols", [])
    if "Authorization" not in socket.headers and SUBPROTOCOL in offered:
        for protocol in offered:
            if protocol.startswith(_BEARER):
                return str(protocol.removeprefix(_BEARER))
    return bearer_token(socket.headers)


async def _converse(
    socket: WebSocket, feed: AsyncGenerator[Event | Position, None], caller: UserContext
) -> tuple[int | None, str]:
    """Tell and listen until either is over; the close code, None where the client has gone."""
    tasks = [asyncio.create_task(_tell(socket, feed, caller)), asyncio.create_task(_hear(socket))]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return done.pop().result()
    except WebSocketDisconnect:
        return None, ""
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _tell(
    socket: WebSocket, feed: AsyncGenerator[Event | Position, None], caller: UserContext
) -> tuple[int | None, str]:
    async with contextlib.aclosing(feed):
        async for item in feed:
            position = isinstance(item, Position) and json.dumps({"type": "position", "after": item.after})
            try:
                async with asyncio.timeout(_SEND_SECONDS):
                    await socket.send_text(position or item.model_dump_json())
            except TimeoutError:
                return None, ""  # it takes nothing: it would not take a close frame either
    return (4401, _EXPIRED) if _is_over(caller) else (1012, "the server restarts: connect again")


async def _hear(socket: WebSocket) -> tuple[int | None, str]:
    """Answer pings, and ignore what else is said."""
    while True:
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            return None, ""
        text: str | None = message.get("text")
        if text is None:
            return _UNSUPPORTED, "send text"
        if len(text) > _MAX_MESSAGE:
            return _TOO_BIG, f"send at most {_MAX_MESSAGE} characters"
        if _is_ping(text):
            await socket.send_text('{"type": "pong"}')


def _is_ping(text: str) -> bool:
    with contextlib.suppress(ValueError, RecursionError):
        said: Any = json.loads(text)
        return isinstance(said, dict) and said.get("type") == "ping"
    return False
