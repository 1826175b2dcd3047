"""Live events for people: server-sent events for programs, WebSocket for browsers.

Both tell what the caller may see, in the order of their ids, and resume after the last event received, on
any replica.
The token comes in a header or, from browsers, as a WebSocket subprotocol; a URL would end up in logs.
"""

import contextlib
import json
from collections.abc import AsyncGenerator, Sequence
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request, WebSocket
from pydantic import Field, ValidationError

from models.errors import (
    DatabaseUnavailable,
    InputInvalid,
    PermissionMissing,
    StreamTooSlow,
)
from models.people.scopes import Scope
from models.people.users import UserContext
from models.record import Record
from models.runtime.events import Event
from models.store.database import Database
from models.store.people import users
from serve.auth.caller import Caller
from serve.problems import problem_responses
from serve.streams.feed import Feed, Position, ScopesNow
from serve.streams.sse import EventStream
from serve.streams.websocket import (
    AWAY,
    EXPIRED,
    SEND_SECONDS,
    Ended,
    Renew,
    converse,
    hear,
    is_over,
    is_ping,
    let_in,
    tell,
)

router = APIRouter(tags=["events"])

EventId = Annotated[int, Field(ge=0, le=2**63 - 1)]

_MAX_MESSAGE = 4096  # characters from a client: there is nothing to say but ping


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
    return EventStream(_told(feed, caller), send_seconds=SEND_SECONDS)


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
            yield _end("database_away", AWAY)
        except StreamTooSlow as error:
            yield _end("too_slow", str(error))
    if is_over(caller):
        yield _end("token_over", EXPIRED)


def _end(reason: str, detail: str) -> str:
    return f"event: end\ndata: {json.dumps({'reason': reason, 'detail': detail})}\n\n"


@router.websocket("/ws/{user_id}")
async def follow_by_websocket(socket: WebSocket, user_id: str) -> None:
    """Events as they happen, as JSON texts, to the person that the token names.

    `{"type": "position", "after": …}` says where to resume. How it is let in and closed: see
    `serve.streams.websocket`.
    """

    async def talk(caller: UserContext, _: Renew) -> Ended:
        state, wish = socket.app.state, _wish(socket, user_id, caller)
        feed = wish.follow(state.feed, state.database, caller)
        hearing = hear(socket, _pong, most=_MAX_MESSAGE, limit=state.config.tools.rate_limit)
        return await converse(tell(socket, _texts(feed), caller), hearing)

    await let_in(socket, talk)


def _wish(socket: WebSocket, user_id: str, caller: UserContext) -> Subscription:
    """What they wish; raises what refuses them."""
    if user_id not in (str(caller.user_id), caller.subject):
        raise PermissionMissing(f"this is not yours: yours is /ws/{caller.user_id}")
    try:
        return Subscription.model_validate(dict(socket.query_params))
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        raise InputInvalid(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}") from error


async def _texts(feed: AsyncGenerator[Event | Position, None]) -> AsyncGenerator[str, None]:
    async with contextlib.aclosing(feed):
        async for item in feed:
            if isinstance(item, Position):
                yield json.dumps({"type": "position", "after": item.after})
            else:
                yield item.model_dump_json()


async def _pong(text: str) -> str | None:
    """Answer a ping, and ignore what else is said."""
    return '{"type": "pong"}' if is_ping(text) else None
