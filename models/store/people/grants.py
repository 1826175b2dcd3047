"""Grants: the scopes that a person is known to have. A token carries some of them, and takes none away.

What takes away: a revocation (`users`), the list that `auth.grants` names, age, and a token of the same
client that was issued later without it. Waiting work, quorums and resumes ask here: see docs/access.md.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from models.people.users import Identity
from models.store.database import Connection

# A token that doesn't say which client it was made for. Nothing is known to be narrower than another then.
NO_CLIENT = ""

# The scopes listed for `u` by the source of grants; NULL where there is none, or none that was ever read.
LISTED = """CASE WHEN EXISTS (SELECT 1 FROM grant_source WHERE read_at IS NOT NULL)
    THEN coalesce((SELECT l.scopes FROM listed_grants l WHERE l.subject = u.subject), '{}') END"""
# The scopes that `u` is known to have, the revoked ones among them. Who was last seen by a replica of the
# release before has no grants, but the scopes of the newest token.
KNOWN = f"""coalesce({LISTED},
    CASE WHEN EXISTS (SELECT 1 FROM grants g WHERE g.user_id = u.id)
           OR EXISTS (SELECT 1 FROM token_clients c WHERE c.user_id = u.id)
    THEN ARRAY(SELECT DISTINCT g.scope FROM grants g WHERE g.user_id = u.id AND g.lapses_at > now()
               ORDER BY g.scope)
    ELSE u.scopes END)"""


async def carried(connection: Connection, user_id: int, identity: Identity, *, last_seconds: float) -> None:
    """Note that a token carries its scopes: they are held for `last_seconds` from now.

    A token older than the newest of its client adds nothing; what it shares with that one is seen again. The
    client's row is locked first, so that of two tokens at once the newer one is right.
    """
    async with connection.transaction():
        cursor = await connection.execute(
            """INSERT INTO token_clients AS c (user_id, client, issued_at) VALUES (%s, %s, %s)
               ON CONFLICT (user_id, client) DO UPDATE
               SET issued_at = greatest(c.issued_at, excluded.issued_at) RETURNING issued_at""",
            (user_id, identity.client, identity.issued_at),
        )
        row = await cursor.fetchone()
        assert row is not None
        scopes = [str(scope) for scope in identity.scopes]
        if identity.client != NO_CLIENT and identity.issued_at is not None:
            await connection.execute(
                """DELETE FROM grants WHERE user_id = %s AND client = %s AND scope <> ALL(%s)
                   AND (issued_at IS NULL OR issued_at < %s)""",
                (user_id, identity.client, scopes, identity.issued_at),
            )
        newest = identity.client == NO_CLIENT or row["issued_at"] == identity.issued_at
        await connection.execute(
            """INSERT INTO grants AS g (user_id, scope, client, issued_at, seen_at, lapses_at)
               SELECT %(user)s, scope, %(client)s, %(issued)s, now(), now() + make_interval(secs => %(last)s)
               FROM unnest(%(scopes)s::text[]) AS s(scope)
               WHERE %(newest)s OR EXISTS (SELECT 1 FROM grants h WHERE h.user_id = %(user)s
                     AND h.scope = s.scope AND h.client = %(client)s)
               ON CONFLICT (user_id, scope, client) DO UPDATE
               SET issued_at = greatest(g.issued_at, excluded.issued_at), seen_at = excluded.seen_at,
                   lapses_at = excluded.lapses_at""",
            {
                "user": user_id,
                "client": identity.client,
                "issued": identity.issued_at,
                "last": last_seconds,
                "scopes": scopes,
                "newest": newest,
            },
        )


async def take_list(connection: Connection, listed: Mapping[str, Sequence[str]], *, digest: str) -> None:
    """The source of grants was read: what it lists is what people have, and who is not in it has nothing."""
    cursor = await connection.execute("SELECT digest FROM grant_source")
    row = await cursor.fetchone()
    if row is None or row["digest"] != digest:
        await connection.execute("DELETE FROM listed_grants")
        async with connection.cursor() as many:
            await many.executemany(
                "INSERT INTO listed_grants (subject, scopes) VALUES (%s, %s)",
                [(subject, list(scopes)) for subject, scopes in listed.items()],
            )
    await connection.execute(
        """INSERT INTO grant_source (read_at, checked_at, digest) VALUES (now(), now(), %s)
           ON CONFLICT (one) DO UPDATE SET read_at = now(), checked_at = now(), digest = excluded.digest,
           fault = NULL""",
        (digest,),
    )


async def note_fault(connection: Connection, fault: str) -> None:
    """The source of grants can't be read: what it last said goes on holding."""
    await connection.execute(
        """INSERT INTO grant_source (checked_at, fault) VALUES (now(), %s)
           ON CONFLICT (one) DO UPDATE SET checked_at = now(), fault = excluded.fault""",
        (fault,),
    )


async def forget_list(connection: Connection) -> None:
    """There is no source of grants: what one said before holds no more."""
    await connection.execute("DELETE FROM grant_source")
    await connection.execute("DELETE FROM listed_grants")


async def is_due(connection: Connection, *, every_seconds: float) -> bool:
    """Whether the source is to be read now, by whoever asks: no other replica does, or has just done so.

    What was read later than now was read before the clock was set back. It holds a lock until the transaction
    ends.
    """
    cursor = await connection.execute("SELECT pg_try_advisory_xact_lock(hashtext('signoff-grants')) AS mine")
    row = await cursor.fetchone()
    if row is None or not row["mine"]:
        return False
    cursor = await connection.execute(
        """SELECT 1 FROM grant_source
           WHERE checked_at BETWEEN clock_timestamp() - make_interval(secs => %s) AND clock_timestamp()""",
        (every_seconds,),
    )
    return await cursor.fetchone() is None


async def fault(connection: Connection) -> tuple[str, datetime | None] | None:
    """Why the source could not be read last, and when it last could be; None where all is well."""
    cursor = await connection.execute("SELECT fault, read_at FROM grant_source WHERE fault IS NOT NULL")
    row = await cursor.fetchone()
    return (row["fault"], row["read_at"]) if row else None
