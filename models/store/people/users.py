"""Users: seen with a token, and what was taken away from them.

What somebody may do who is not here is what they are known to have (`models.store.people.grants`), so that a
workflow that resumes without its requester can ask. Revocations are subtracted wherever scopes are read.
"""

from typing import Any

from models.errors import InputInvalid, RevocationNotFound, UserNotFound
from models.people.scopes import Scope, check_permission, highest_role, parse_scope, read_scopes
from models.people.users import (
    EVERY_SCOPE,
    MAX_SUBJECT,
    Identity,
    Revocation,
    User,
    UserContext,
    effective,
    is_internal,
    is_subject,
)
from models.runtime.event_catalogue import ScopeRestored, ScopeRevoked
from models.runtime.workflows import Permission
from models.store import events
from models.store.database import Connection
from models.store.people import grants

_REVOKED = "ARRAY(SELECT r.scope FROM revocations r WHERE r.user_id = u.id ORDER BY r.scope) AS revoked"
_USER = f"u.id, u.subject, u.name, u.email, {grants.KNOWN} AS scopes, {_REVOKED}, u.seen_at"
_REVOCATION = "user_id, subject, scope, reason, revoked_by, revoked_at"
_TOLD = ("name", "email", "scopes", "token_issued_at")
# Undated tokens never replace what a dated one said.
_NEWER = "(u.token_issued_at IS NULL OR coalesce(excluded.token_issued_at >= u.token_issued_at, false))"


async def seen(connection: Connection, identity: Identity, *, grants_last_seconds: float) -> UserContext:
    """Note that a user came with a token, and say who they are here.

    One statement, unless there is something to write: what is new in the token, or that they were seen,
    once a minute. A token older than the newest one seen changes nothing but the time.

    Args:
        grants_last_seconds: how long they are known to have the token's scopes from now on.
    """
    known = await _known(connection, identity.subject, identity.client)
    if known is None or not known["recent"] or _says_new(identity, known) or _carries_new(identity, known):
        async with connection.transaction():
            await _write(connection, identity)
            known = await _known(connection, identity.subject, identity.client)
            assert known is not None
            await grants.carried(connection, known["id"], identity, last_seconds=grants_last_seconds)
    scopes = effective(identity.scopes, frozenset(known["revoked"]), _listed(known))
    return UserContext(
        user_id=known["id"],
        subject=identity.subject,
        name=identity.name,
        email=identity.email,
        scopes=scopes,
        role=highest_role(scopes),
        selected_chat_tonality_id=known["chat_tonality_id"],
        selected_content_tonality_id=known["content_tonality_id"],
        chat_tonality_text=known["chat_text"],
        content_tonality_text=known["content_text"],
        expires_at=identity.expires_at,
        decides=identity.decides,
    )


async def stored_scopes(connection: Connection, subject: str) -> tuple[Scope, ...]:
    """What a user may do while not here: their grants without the revoked; none if unknown."""
    user = await by_subject(connection, subject)
    return effective(read_scopes(user.scopes), frozenset(user.revoked)) if user else ()


async def still_has(connection: Connection, subject: str, permission: Permission) -> bool:
    """Whether a user who is not here still has what a workflow of theirs takes."""
    scopes = await stored_scopes(connection, subject)
    return check_permission(scopes, permission.role, permission.topic)


async def scopes_left(connection: Connection, subject: str, scopes: tuple[Scope, ...]) -> tuple[Scope, ...]:
    """What is left now of the scopes that a user's token carries; nothing if the user is unknown."""
    known = await _known(connection, subject)
    return effective(scopes, frozenset(known["revoked"]), _listed(known)) if known else ()


async def context_of(connection: Connection, subject: str) -> UserContext:
    """Who somebody is who is not here now, as a workflow acts for them: see `stored_scopes`.

    Raises:
        UserNotFound: nobody of that name was ever seen.
    """
    known = await _known(connection, subject, more=f"{grants.KNOWN} AS known_scopes,")
    if known is None:
        raise UserNotFound(f"nobody named {subject!r} was seen here: nothing is done in that name")
    scopes = effective(read_scopes(known["known_scopes"]), frozenset(known["revoked"]))
    return UserContext(
        user_id=known["id"],
        subject=subject,
        name=known["name"],
        email=known["email"],
        scopes=scopes,
        role=highest_role(scopes),
        selected_chat_tonality_id=known["chat_tonality_id"],
        selected_content_tonality_id=known["content_tonality_id"],
        chat_tonality_text=known["chat_text"],
        content_tonality_text=known["content_text"],
    )


async def get(connection: Connection, user_id: int) -> User:
    """One user; UserNotFound if there is none."""
    row = await _row(connection, f"SELECT {_USER} FROM users u WHERE u.id = %s", user_id)
    if row is None:
        raise UserNotFound(f"there is no user {user_id}")
    return User.model_validate(row)


async def by_subject(connection: Connection, subject: str) -> User | None:
    """The user that tokens name so, if one was ever seen, or revoked from."""
    row = await _row(connection, f"SELECT {_USER} FROM users u WHERE u.subject = %s", subject)
    return User.model_validate(row) if row else None


async def list_users(
    connection: Connection, *, subject: str | None = None, limit: int, after: int = 0
) -> list[User]:
    """Up to `limit` users after id `after`, in id order; `subject`: only the one of that name."""
    cursor = await connection.execute(
        f"""SELECT {_USER} FROM users u WHERE u.id > %s AND u.subject = coalesce(%s, u.subject)
            ORDER BY u.id LIMIT %s""",
        (after, subject, limit),
    )
    return [User.model_validate(row) for row in await cursor.fetchall()]


async def revoke(
    connection: Connection, subject: str, scope: str, *, reason: str, revoked_by: str
) -> Revocation:
    """Take a scope, or `*` for all of them, from a user, who need not have been seen yet.

    What is revoked already stays as it was, with its first reason.

    Raises:
        ScopeInvalid, InputInvalid: the scope or the subject can't be one.
    """
    if scope != EVERY_SCOPE:
        parse_scope(scope)
    if not is_subject(subject):
        raise InputInvalid(
            f"subject: {subject!r} can't name a person: use 1 to {MAX_SUBJECT} printable characters, "
            "without spaces at the ends"
        )
    if is_internal(subject):
        raise InputInvalid(f"subject: {subject!r} is a name that the site itself uses: nobody comes with it")
    await connection.execute(
        "INSERT INTO users (subject, name, email) VALUES (%s, '', '') ON CONFLICT (subject) DO NOTHING",
        (subject,),
    )
    new = await _row(
        connection,
        """INSERT INTO revocations (user_id, scope, reason, revoked_by)
           SELECT id, %s, %s, %s FROM users WHERE subject = %s
           ON CONFLICT (user_id, scope) DO NOTHING RETURNING scope""",
        *(scope, reason, revoked_by, subject),
    )
    if new:
        revoked = ScopeRevoked(subject=subject, scope=scope, reason=reason, by=revoked_by)
        await events.tell(connection, revoked, role="admin")
    row = await _row(
        connection,
        f"""SELECT {_REVOCATION} FROM revocations JOIN users ON users.id = user_id
            WHERE subject = %s AND scope = %s""",
        *(subject, scope),
    )
    return Revocation.model_validate(row)


async def restore(connection: Connection, subject: str, scope: str, *, restored_by: str) -> Revocation:
    """End a revocation, and say what it was; RevocationNotFound if there is none."""
    row = await _row(
        connection,
        f"""DELETE FROM revocations USING users WHERE users.id = user_id AND subject = %s AND scope = %s
            RETURNING {_REVOCATION}""",
        *(subject, scope),
    )
    if row is None:
        raise RevocationNotFound(f"{scope!r} is not revoked from {subject!r}")
    restored = ScopeRestored(subject=subject, scope=scope, by=restored_by)
    await events.tell(connection, restored, role="admin")
    return Revocation.model_validate(row)


async def revocations(
    connection: Connection, subject: str | None = None, *, limit: int = 500
) -> list[Revocation]:
    """The newest revocations, newest first, of one user or of all."""
    cursor = await connection.execute(
        f"""SELECT {_REVOCATION} FROM revocations JOIN users ON users.id = user_id
            WHERE subject = coalesce(%s, subject) ORDER BY revoked_at DESC, user_id, scope LIMIT %s""",
        (subject, limit),
    )
    return [Revocation.model_validate(row) for row in await cursor.fetchall()]


async def _known(
    connection: Connection, subject: str, client: str = grants.NO_CLIENT, *, more: str = ""
) -> dict[str, Any] | None:
    return await _row(
        connection,
        f"""SELECT u.id, {", ".join(f"u.{column}" for column in _TOLD)}, {_REVOKED},
                   {grants.LISTED} AS listed, {more}
                   c.user_id IS NOT NULL AS client_known, c.issued_at AS client_issued_at,
                   ARRAY(SELECT g.scope FROM grants g WHERE g.user_id = u.id AND g.client = %s
                         AND g.lapses_at > now()) AS carried,
                   coalesce(u.seen_at > now() - interval '1 minute', false) AS recent,
                   u.chat_tonality_id, chat.text AS chat_text,
                   u.content_tonality_id, content.text AS content_text
            FROM users u LEFT JOIN tonalities chat ON chat.id = u.chat_tonality_id
            LEFT JOIN tonalities content ON content.id = u.content_tonality_id
            LEFT JOIN token_clients c ON c.user_id = u.id AND c.client = %s
            WHERE u.subject = %s""",
        *(client, client, subject),
    )


def _listed(known: dict[str, Any]) -> tuple[Scope, ...] | None:
    return None if known["listed"] is None else read_scopes(known["listed"])


def _carries_new(identity: Identity, known: dict[str, Any]) -> bool:
    """Whether the token says anything of its client's grants that is not written yet."""
    carried, issued = {str(scope) for scope in identity.scopes}, known["client_issued_at"]
    if not known["client_known"]:
        return True
    if identity.client == grants.NO_CLIENT:
        return not carried <= set(known["carried"])
    if issued and (identity.issued_at is None or identity.issued_at < issued):
        return False
    return identity.issued_at != issued or not carried <= set(known["carried"])


def _says_new(identity: Identity, known: dict[str, Any]) -> bool:
    """Whether the token is not older than the one that was stored, and says something else."""
    stored = known["token_issued_at"]
    if stored and (identity.issued_at is None or identity.issued_at < stored):
        return False
    return any(known[column] != value for column, value in zip(_TOLD, _told(identity), strict=True))


def _told(identity: Identity) -> tuple[Any, ...]:
    return identity.name, identity.email, [str(scope) for scope in identity.scopes], identity.issued_at


async def _write(connection: Connection, identity: Identity) -> None:
    # Which token is the newer one is asked here again: another request may have written meanwhile.
    chosen = (f"{column} = CASE WHEN {_NEWER} THEN excluded.{column} ELSE u.{column} END" for column in _TOLD)
    await connection.execute(
        f"""INSERT INTO users AS u (subject, {", ".join(_TOLD)}, seen_at) VALUES (%s, %s, %s, %s, %s, now())
            ON CONFLICT (subject) DO UPDATE SET {", ".join(chosen)}, seen_at = now()""".encode(),
        (identity.subject, *_told(identity)),
    )


async def _row(connection: Connection, query: str, *values: Any) -> dict[str, Any] | None:
    return await (await connection.execute(query.encode(), values)).fetchone()
