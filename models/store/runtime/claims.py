"""Claims: a runner's right to a workflow, `(runner_id, epoch)`.

Claiming raises the epoch, and so does all that ends a claim: settling, giving back, parking, stopping. Every
later write of the former owner finds another epoch and is refused (`Fenced`). Each change of state names the
state that it comes from. A workflow that batches hold runs only while one of them has a live lease.
"""

import contextlib
import functools
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from models.errors import Fenced
from models.runtime.event_catalogue import WorkflowFailed, WorkflowParked, WorkflowPaused, WorkflowSucceeded
from models.runtime.workflows import Claim, Holding
from models.store import events
from models.store.database import Connection, Database
from models.store.runtime import batches, workflows
from models.store.runtime.approval_events import void_of_ended
from models.store.runtime.claimable import CLAIM as _CLAIM
from models.store.runtime.claimable import GOT_ON, WANTED, waits_afresh

_LONGEST_PAUSE_SECONDS = 86_400.0
# What is said of an approval that a workflow waited for, and failed.
_FAILED_BEFORE = "what asked for it failed before anybody decided"


async def claim(
    database: Database,
    *,
    runner_id: str,
    rooms: Mapping[str, int],
    limit: int,
    lease_seconds: float,
    longest_pause_seconds: float = _LONGEST_PAUSE_SECONDS,
    suspects: bool = False,
) -> list[Claim]:
    """Take up to `limit` workflows that wait for a runner or whose runner is dead.

    Whose own lease has run out takes none. While nobody could renew a lease, none has run out: for one
    `lease_seconds` after renewing became possible again, only the proven dead lose what they had.

    Args:
        rooms: how many at most of each kind, the kinds that come first first.
        longest_pause_seconds: what is parked is tried again within; unless the clock was set back, that is.
        suspects: take those that runners have died with again and again, instead of the others.
    """
    query = {
        "kinds": list(rooms),
        "rooms": list(rooms.values()),
        "limit": limit,
        "runner": runner_id,
        "lease": lease_seconds,
        "longest_pause": longest_pause_seconds,
        "suspects": suspects,
    }
    async with database.connection() as connection:
        rows = await (await connection.execute(_CLAIM, query)).fetchall()
    taken = []
    for row in rows:
        try:
            taken.append(Claim.model_validate(row))
        except ValidationError as error:
            await database.steadily(functools.partial(_park_unreadable, database, row, error))
    return taken


async def _park_unreadable(database: Database, row: dict[str, Any], error: ValidationError) -> None:
    """Set aside what another release has written, for a release that can read it."""
    fault = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in fault["loc"])
    claim = Claim.model_construct(workflow_id=row["workflow_id"], epoch=row["epoch"])
    with contextlib.suppress(Fenced):
        await park(
            database,
            claim,
            waits_for=f"a release that can read it ({where}: {fault['msg']})",
            pause_seconds=None,
            waited_seconds=0,
            afresh=False,
        )


async def held_by(connection: Connection, runner_id: str) -> list[Holding]:
    """What the database says a runner is running."""
    cursor = await connection.execute(
        f"""SELECT w.id AS workflow_id, w.epoch, {WANTED} AS wanted
            FROM workflows w WHERE w.runner_id = %s AND w.status = 'running'""",
        (runner_id,),
    )
    return [Holding.model_validate(row) for row in await cursor.fetchall()]


async def fence(connection: Connection, claim: Claim) -> None:
    """Lock a workflow for a write of its owner, at once or not at all.

    Whoever waited here would hold a connection that others need: `Database.steadily` tries again.

    Raises:
        Fenced: the epoch has moved on; the caller's transaction must write nothing.
        psycopg.errors.LockNotAvailable: somebody has locked the workflow.
    """
    cursor = await connection.execute(
        "SELECT 1 FROM workflows WHERE id = %s AND epoch = %s AND status = 'running' FOR UPDATE NOWAIT",
        (claim.workflow_id, claim.epoch),
    )
    if await cursor.fetchone() is None:
        raise fenced(claim)


def fenced(claim: Claim) -> Fenced:
    """What is raised where a claim is over."""
    return Fenced(f"workflow {claim.workflow_id} is no longer this runner's (epoch {claim.epoch})")


# Of one that is queued again: what its claim got done ends its waiting, and the deaths before it.
_GIVEN_BACK = f"deaths = CASE WHEN {GOT_ON} THEN 0 ELSE w.deaths END, {waits_afresh(GOT_ON)}"

_FINISH = f"""
WITH given AS MATERIALIZED (
    SELECT * FROM jsonb_to_recordset(%s::jsonb)
        AS r(workflow_id text, epoch bigint, result jsonb, project bool)
), held AS MATERIALIZED (
    SELECT given.*, w.id FROM given CROSS JOIN LATERAL (
        SELECT w.id FROM workflows w
        WHERE w.id = given.workflow_id AND w.epoch = given.epoch AND w.status = 'running'
        FOR UPDATE SKIP LOCKED
    ) w
), settled AS (
    UPDATE workflows w
    SET status = 'succeeded', result = h.result, error = NULL, runner_id = NULL, epoch = w.epoch + 1,
        parked_for = NULL, parked_since = NULL, projection_due = h.project, updated_at = now(),
        finished_at = now()
    FROM held h WHERE w.id = h.id AND w.status = 'running'
    RETURNING w.id
), told AS (
    INSERT INTO incoming_events (type, workflow_id, data)
    SELECT '{WorkflowSucceeded.type}', id, '{{}}' FROM settled
), woken AS MATERIALIZED (
    SELECT pg_notify('{batches.CHANNEL}', '') FROM settled s
    WHERE EXISTS (SELECT 1 FROM batch_workflows bw WHERE bw.workflow_id = s.id) LIMIT 1
)
SELECT id, epoch, (SELECT count(*) FROM woken) FROM held
"""


@dataclass(frozen=True, slots=True)
class Finish:
    """The end of a workflow that succeeded: its result as JSON, and whether files are due."""

    claim: Claim
    result: str
    project: bool

    @property
    def size(self) -> int:
        """Of its text, in characters."""
        return len(self.result)


async def finish(database: Database, ends: Sequence[Finish]) -> set[tuple[str, int]]:
    """Mark workflows as succeeded, with their results, in one statement; each is fenced by itself.

    One that somebody else has locked is passed over, so that it holds up no other.

    Returns:
        The (workflow id, epoch) that have ended now.
    """
    given = ",".join(_as_json(end) for end in ends)
    async with database.connection() as connection:
        cursor = await connection.execute(_FINISH, (f"[{given}]",), prepare=True)
        return {(row["id"], row["epoch"]) for row in await cursor.fetchall()}


def _as_json(end: Finish) -> str:
    claim, project = end.claim, "true" if end.project else "false"
    return (
        f'{{"workflow_id":{json.dumps(claim.workflow_id)},"epoch":{claim.epoch},'
        f'"result":{end.result},"project":{project}}}'
    )


async def still_owned(database: Database, claims: Sequence[Claim]) -> set[tuple[str, int]]:
    """Which of the claims, as (workflow id, epoch), are not over. Waits for no lock."""
    async with database.connection() as connection:
        cursor = await connection.execute(
            """SELECT w.id, w.epoch FROM workflows w JOIN unnest(%s::text[], %s::bigint[]) AS c(id, epoch)
               ON w.id = c.id AND w.epoch = c.epoch WHERE w.status = 'running'""",
            ([c.workflow_id for c in claims], [c.epoch for c in claims]),
        )
        return {(row["id"], row["epoch"]) for row in await cursor.fetchall()}


async def fail(
    database: Database,
    claim: Claim,
    *,
    error: str,
    project: bool,
    besides: Callable[[Connection], Awaitable[None]] | None = None,
) -> None:
    """Mark a workflow as failed, with the reason, and do what goes with it in the same transaction.

    Raises:
        Fenced, and what `besides` raises: nothing has changed.
    """
    async with database.transaction() as connection:
        await fence(connection, claim)
        if besides:
            await besides(connection)
        await connection.execute(
            """UPDATE workflows SET status = 'failed', result = NULL, error = %s, runner_id = NULL,
                      epoch = epoch + 1, parked_for = NULL, parked_since = NULL, projection_due = %s,
                      updated_at = now(), finished_at = now()
               WHERE id = %s AND status = 'running'""",
            (error, project, claim.workflow_id),
        )
        await events.tell(connection, WorkflowFailed(error=error), claim.workflow_id)
        # A workflow that failed waits for no decision any more.
        await void_of_ended(connection, claim.workflow_id, why=_FAILED_BEFORE)


async def give_back(database: Database, claim: Claim) -> None:
    """Queue a workflow again, unfinished, for whoever may run it next. Raises Fenced."""
    async with database.transaction() as connection:
        await fence(connection, claim)
        await connection.execute(
            f"""UPDATE workflows w SET status = 'queued', runner_id = NULL, epoch = epoch + 1,
                       updated_at = now(), {_GIVEN_BACK}
                WHERE id = %s AND status = 'running'""".encode(),
            (claim.workflow_id,),
        )
        await events.tell(connection, WorkflowPaused(), claim.workflow_id)
        await workflows.notify(connection)


async def park(
    database: Database,
    claim: Claim,
    *,
    waits_for: str,
    pause_seconds: float | None,
    waited_seconds: float,
    afresh: bool,
) -> None:
    """Set a workflow aside until what it waits for is back: it is tried again after the pause.

    Args:
        pause_seconds: None: until a runner starts anew, as another release does, or somebody retries it.
        waited_seconds: for how long it will have been tried in vain by then.
        afresh: it got on since it was parked last, so the waiting begins now.

    Raises:
        Fenced.
    """
    async with database.transaction() as connection:
        await fence(connection, claim)
        await connection.execute(
            """UPDATE workflows SET status = 'parked', runner_id = NULL, epoch = epoch + 1,
                      updated_at = now(), parked_for = %(waits_for)s,
                      parked_since = CASE WHEN %(afresh)s OR parked_for IS DISTINCT FROM %(waits_for)s
                                     THEN now() ELSE coalesce(parked_since, now()) END,
                      waited_seconds = %(waited)s, deaths = CASE WHEN %(afresh)s THEN 0 ELSE deaths END,
                      not_before = coalesce(now() + make_interval(secs => %(pause)s::float8), 'infinity')
               WHERE id = %(id)s AND status = 'running'""",
            {
                "waits_for": waits_for,
                "afresh": afresh,
                "pause": pause_seconds,
                "waited": waited_seconds,
                "id": claim.workflow_id,
            },
        )
        await events.tell(connection, WorkflowParked(waits_for=waits_for), claim.workflow_id)


async def unpark_mismatches(database: Database, *, parked_before: datetime) -> bool:
    """Try again what waits for another release, as a runner does when it starts.

    Returns:
        Whether that is all of it: one that somebody has locked is left for the next call.
    """
    async with database.connection() as connection:
        cursor = await connection.execute(
            """WITH waiting AS MATERIALIZED (
                   SELECT id FROM workflows
                   WHERE status = 'parked' AND not_before = 'infinity' AND updated_at < %(before)s
               ), free AS MATERIALIZED (
                   SELECT w.id FROM workflows w JOIN waiting ON waiting.id = w.id
                   WHERE w.status = 'parked' FOR UPDATE OF w SKIP LOCKED
               ), tried AS (
                   UPDATE workflows w SET not_before = now() FROM free
                   WHERE w.id = free.id AND w.status = 'parked' RETURNING 1
               )
               SELECT (SELECT count(*) FROM waiting) = (SELECT count(*) FROM tried) AS done""",
            {"before": parked_before},
        )
        row = await cursor.fetchone()
        assert row is not None
        return bool(row["done"])


async def now(database: Database) -> datetime:
    """The server's time."""
    async with database.connection() as connection:
        row = await (await connection.execute("SELECT now() AS now")).fetchone()
        assert row is not None
        at: datetime = row["now"]
        return at


async def let_go(connection: Connection, runner_id: str, holding: Holding) -> None:
    """Queue a workflow whose runner does not know that it has it (the claim's answer was lost).

    One that somebody has locked is left as it is: the lease must not wait for it.
    """
    cursor = await connection.execute(
        f"""UPDATE workflows w SET status = 'queued', runner_id = NULL, epoch = epoch + 1, {_GIVEN_BACK}
            WHERE status = 'running' AND id IN (
                SELECT id FROM workflows
                WHERE id = %s AND epoch = %s AND status = 'running' AND runner_id = %s
                FOR UPDATE SKIP LOCKED)""".encode(),
        (holding.workflow_id, holding.epoch, runner_id),
    )
    if cursor.rowcount:
        await workflows.notify(connection)
