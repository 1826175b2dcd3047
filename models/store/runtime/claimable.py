"""What may be claimed, and the one statement that takes it: what is queued, due again, or left by the dead.

Each is found by an index of its own, so that a claim reads no more than it has room for, however many are
parked. What a dead runner got done is told by the first document of its claim: nothing is counted.
"""

from models.runtime.event_catalogue import WorkflowRunning

# From so many deaths on, a workflow is run beside no other of its sort: one of them may be the killer.
SUSPECT_DEATHS = 2

WANTED = """(
    NOT EXISTS (SELECT 1 FROM batch_workflows bw WHERE bw.workflow_id = w.id)
    OR EXISTS (SELECT 1 FROM batch_workflows bw JOIN batches b ON b.id = bw.batch_id
               WHERE bw.workflow_id = w.id AND b.lease_until > now())
)"""

# A lease that ends later than any could is of a clock that was set back since.
_LIVE = "r.lease_until > now() AND r.lease_until < now() + make_interval(secs => 10 * %(lease)s)"

# The claim that ends now has kept a document.
GOT_ON = "EXISTS (SELECT 1 FROM documents d WHERE d.workflow_id = w.id AND d.first_of = w.epoch)"


def waits_afresh(got_on: str) -> str:
    """What of it is set anew where its last claim got on: its waiting is over."""
    return f"""
        waited_seconds = CASE WHEN {got_on} THEN 0 ELSE w.waited_seconds END,
        parked_since = CASE WHEN {got_on} THEN NULL ELSE w.parked_since END,
        parked_for = CASE WHEN {got_on} THEN NULL ELSE w.parked_for END"""


# Nobody who holds it lives: ended by whoever saw it dead; or run out, while others could be renewed.
_DEAD = f"""(
    NOT EXISTS (SELECT 1 FROM runners r WHERE r.id = w.runner_id)
    OR (NOT EXISTS (SELECT 1 FROM runners r WHERE r.id = w.runner_id AND {_LIVE})
        AND (SELECT running_since < now() - make_interval(secs => %(lease)s) FROM lease_clock))
)"""


def _candidates(which: str, deaths: str, order: str, got_on: str = "false") -> str:
    """Workflows of a lane's kind, locked: no more than there is room for, by an index of their own.

    Args:
        deaths: how many runners will have died with one by now.
    """
    return f"""SELECT * FROM (
        SELECT w.id, w.created_at, {got_on} AS got_on FROM workflows w
        WHERE w.kind = lanes.kind AND {which} AND {WANTED}
          AND ({deaths} >= {SUSPECT_DEATHS}) = (SELECT %(suspects)s::bool)
        ORDER BY {order} LIMIT lanes.room FOR UPDATE OF w SKIP LOCKED
    ) AS candidate"""


_QUEUED = _candidates("w.status = 'queued'", "w.deaths", "w.created_at")
# What is not due yet is not looked at: there may be very many.
_DUE = _candidates("w.status = 'parked' AND w.not_before <= now()", "w.deaths", "w.not_before")
# What waits for longer than any pause waits by a clock that was set back since.
_LATE = _candidates(
    "w.status = 'parked' AND w.not_before < 'infinity'"
    " AND w.not_before > now() + make_interval(secs => 2 * %(longest_pause)s)",
    "w.deaths",
    "w.not_before",
)
# The death of its runner counts, unless that one got on.
_LEFT = _candidates(
    f"w.status = 'running' AND w.runner_id IS NOT NULL AND {_DEAD}",
    f"CASE WHEN {GOT_ON} THEN 1 ELSE w.deaths + 1 END",
    "w.created_at",
    GOT_ON,
)

# What is given is hidden in sub-selects: no plan made for it seems cheaper than the one that is kept, so that
# planning, which costs more than all else here, is not done again and again.
CLAIM = f"""
WITH lanes AS MATERIALIZED (
    SELECT * FROM unnest((SELECT %(kinds)s::text[]), (SELECT %(rooms)s::int[])) AS lane(kind, room)
), ready AS MATERIALIZED (
    SELECT picked.id, picked.got_on FROM lanes CROSS JOIN LATERAL (
        SELECT * FROM ({_QUEUED} UNION ALL {_DUE} UNION ALL {_LATE} UNION ALL {_LEFT}) AS every
        ORDER BY every.created_at LIMIT lanes.room
    ) picked
    WHERE EXISTS (SELECT 1 FROM runners r WHERE r.id = %(runner)s AND r.lease_until > now())
    LIMIT (SELECT %(limit)s::int)
), begun AS (
    UPDATE workflows w
    SET status = 'running', runner_id = %(runner)s, epoch = w.epoch + 1, updated_at = now(),
        started_at = coalesce(w.started_at, now()), error = NULL, not_before = NULL,
        deaths = CASE WHEN w.status <> 'running' THEN w.deaths WHEN ready.got_on THEN 1 ELSE w.deaths + 1 END,
        {waits_afresh("ready.got_on")}
    FROM ready
    WHERE w.id = ready.id
    RETURNING w.id, w.epoch, w.kind, w.input, w.requested_by, w.permission, w.waited_seconds,
              w.deaths, w.created_at, w.traceparent
), told AS (
    INSERT INTO incoming_events (type, workflow_id, data)
    SELECT '{WorkflowRunning.type}', id, jsonb_build_object('runner', %(runner)s::text, 'epoch', epoch)
    FROM begun
)
SELECT id AS workflow_id, epoch, kind, input, requested_by, permission, waited_seconds, deaths, created_at,
       traceparent,
       coalesce((SELECT true FROM approvals a WHERE a.workflow_id = begun.id LIMIT 1), false) AS asked
FROM begun
"""
