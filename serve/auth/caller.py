"""Who is calling: a verified token and the database become a `UserContext`, once per request.

Identity comes from nowhere else. Routes take `Caller`; a door that gets its token in another way
(WebSocket) verifies it and calls `context_of`. Who comes too often is known by the token alone, before the
database is asked. Revocations are read each time, so they hold at once.
"""

from typing import Annotated

from fastapi import Depends
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection

from models import log_ids
from models.errors import Unauthenticated
from models.people.users import Identity, UserContext
from models.store.database import Database
from models.store.people import users
from serve.auth.tokens import TokenVerifier


async def context_of(identity: Identity, *, verifier: TokenVerifier, database: Database) -> UserContext:
    """The caller that a verified token speaks for, with the scopes that are left to them."""
    async with database.connection() as connection:
        return await users.seen(connection, identity, grants_last_seconds=verifier.grants_last_seconds)


def bearer_token(headers: Headers) -> str:
    """The token of `Authorization: Bearer …` (RFC 6750 §2.1). Raises Unauthenticated where there is none."""
    given = headers.getlist("Authorization")
    scheme, _, token = given[0].partition(" ") if len(given) == 1 else ("", "", "")
    if scheme.lower() != "bearer" or not token.strip():
        raise Unauthenticated(
            "a bearer token is missing: send one Authorization: Bearer header; `signoff token` makes tokens",
            **({"error": "invalid_token"} if given else {}),
        )
    return token.strip()


async def identity_of(connection: HTTPConnection) -> Identity:
    """Whom the token of this request speaks for; kept for the rest of it. Asks no database.

    Raises:
        Unauthenticated: the token is not valid. KeysUnavailable: it can't be checked now.
    """
    known: Identity | None = getattr(connection.state, "identity", None)
    if known is None:
        known = await connection.app.state.verifier.verify(bearer_token(connection.headers))
        connection.state.identity = known
        log_ids.is_for(known.subject)
    return known


async def caller(connection: HTTPConnection) -> UserContext:
    """The caller of this request; kept for the rest of it."""
    known: UserContext | None = getattr(connection.state, "caller", None)
    if known is None:
        state = connection.app.state
        identity = await identity_of(connection)
        known = await context_of(identity, verifier=state.verifier, database=state.database)
        connection.state.caller = known
    return known


Caller = Annotated[UserContext, Depends(caller)]
