"""How things stand, for `/metrics`: what is open, what waits for whom, and for how long.

Only what is open is looked at, by partial indexes: what has ended is never pruned, and grows without end.
"""

from models.monitoring import OpenWorkflows, SiteStanding, WaitedFor, WaitingApprovals
from models.store.database import Connection

# What is waited for is a sentence that may hold anything: the most that wait for are told.
_MOST_WAITED_FOR = 20

_OPEN = """
SELECT kind, status, count(*) AS workflows FROM workflows
WHERE status IN ('queued', 'running', 'waiting', 'parked') GROUP BY 1, 2
"""
_APPROVALS = """
SELECT kind, count(*) AS approvals, extract(epoch FROM now() - min(created_at))::float8 AS oldest_seconds
FROM approvals WHERE status = 'pending' GROUP BY 1
"""
_WAITED_FOR = """
SELECT left(coalesce(parked_for, 'something'), 200) AS waits_for, count(*) AS workflows,
       extract(epoch FROM now() - coalesce(min(parked_since), min(updated_at)))::float8 AS oldest_seconds
FROM workflows WHERE status = 'parked' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT %s
"""
# What only batches hold that are over is not run, and so not late. What waits for another release is due at
# `infinity`, from which no Postgres before 17 subtracts.
_LAG = """
WITH live AS MATERIALIZED (
    SELECT id FROM batches WHERE lease_until > now()
), due AS (
    SELECT id, updated_at AS since FROM workflows WHERE status = 'queued'
    UNION ALL
    SELECT id, not_before FROM workflows WHERE status = 'parked' AND not_before <= now()
)
SELECT greatest(extract(epoch FROM now() - min(since)), 0)::float8 AS seconds FROM due
WHERE NOT EXISTS (SELECT 1 FROM batch_workflows bw WHERE bw.workflow_id = due.id)
   OR EXISTS (SELECT 1 FROM batch_workflows bw JOIN live ON live.id = bw.batch_id
              WHERE bw.workflow_id = due.id)
"""
_RUNNERS = """
SELECT count(*) FILTER (WHERE lease_until > now()) AS alive,
       count(*) FILTER (WHERE lease_until <= now()) AS lost,
       (SELECT greatest(extract(epoch FROM now() - renewed_at), 0)::float8 FROM lease_clock) AS renewed
FROM runners
"""
# As it is claimed: of webhooks that are switched on, and not while a dispatcher sends it.
_OUTBOX = """
SELECT (SELECT count(*) FROM deliveries WHERE status = 'pending') AS pending,
       greatest(extract(epoch FROM now() - min(oldest.next_attempt_at)), 0)::float8 AS lag
FROM webhooks w CROSS JOIN LATERAL (
    SELECT d.next_attempt_at FROM deliveries d
    WHERE d.webhook_id = w.id AND d.status = 'pending' AND d.next_attempt_at <= now()
      AND (d.claimed_until IS NULL OR d.claimed_until <= now())
    ORDER BY d.next_attempt_at LIMIT 1
) AS oldest
WHERE w.is_active
"""


async def read(connection: Connection) -> SiteStanding:
    """How things stand now."""
    opened = await (await connection.execute(_OPEN)).fetchall()
    approvals = await (await connection.execute(_APPROVALS)).fetchall()
    waited_for = await (await connection.execute(_WAITED_FOR, (_MOST_WAITED_FOR,))).fetchall()
    lag = await (await connection.execute(_LAG)).fetchone()
    runners = await (await connection.execute(_RUNNERS)).fetchone()
    outbox = await (await connection.execute(_OUTBOX)).fetchone()
    assert lag is not None
    assert runners is not None
    assert outbox is not None
    return SiteStanding(
        open_workflows=tuple(OpenWorkflows.model_validate(row) for row in opened),
        waiting_approvals=tuple(WaitingApprovals.model_validate(row) for row in approvals),
        waited_for=tuple(WaitedFor.model_validate(row) for row in waited_for),
        runner_lag_seconds=lag["seconds"] or 0.0,
        runners_alive=runners["alive"],
        runners_lost=runners["lost"],
        renewed_seconds_ago=runners["renewed"],
        deliveries_pending=outbox["pending"],
        outbox_lag_seconds=outbox["lag"] or 0.0,
    )
