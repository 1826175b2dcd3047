"""What `/metrics` counts: observations come in with the change that they are of, and are added up later.

Counts only grow: they outlive the rows that were counted, restarts, pruning, backup and restore. Triggers
write most observations (`store.schema.triggers`), the journal those of steps, and replicas of the API those
of requests. A scrape and a sweep add up; see `add`.
"""

import json
from collections.abc import Mapping, Sequence

from psycopg.rows import DictRow

from models.monitoring import ObservationCount, Observed
from models.store.database import Connection

# Each measure, with the upper ends of its buckets in seconds; one without any is only counted.
BOUNDS: Mapping[str, tuple[float, ...]] = {
    "workflow": (1, 5, 15, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200),
    "step": (0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600),
    "model_call": (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300),
    "model_tokens": (),
    "scraped_page": (),
    "approval": (60, 300, 900, 3600, 14_400, 28_800, 86_400, 259_200, 604_800, 2_592_000),
    "delivery": (0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 14_400, 86_400),
    "lost_connection": (),
    "request": (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
}

_ADD = """
WITH waiting AS MATERIALIZED (
    SELECT EXISTS (SELECT 1 FROM incoming_observations) AS any_there
), mine AS MATERIALIZED (
    SELECT CASE WHEN any_there THEN pg_try_advisory_xact_lock(hashtext('signoff-observations')) END AS locked
    FROM waiting
), bounds AS MATERIALIZED (
    SELECT key AS measure, ARRAY(SELECT jsonb_array_elements_text(value)::float8) AS ups
    FROM jsonb_each(%(bounds)s::jsonb)
), taken AS (
    -- Up to an id, and not among ids: statistics of a table that is mostly empty would mislead the planner.
    DELETE FROM incoming_observations
    WHERE (SELECT locked FROM mine) AND id <= (
        SELECT max(id) FROM (SELECT id FROM incoming_observations ORDER BY id LIMIT %(limit)s) AS oldest)
    RETURNING measure, labels, value, times, total
), added AS (
    INSERT INTO observation_counts AS c (measure, labels, up_to, times, total)
    SELECT measure, labels,
           coalesce((SELECT min(up) FROM unnest(bounds.ups) AS up WHERE up >= value), 'infinity') AS bucket,
           sum(times), sum(total)
    FROM taken LEFT JOIN bounds USING (measure) GROUP BY 1, 2, 3
    ON CONFLICT (measure, labels, up_to)
    DO UPDATE SET times = c.times + excluded.times, total = c.total + excluded.total
)
SELECT count(*) AS counted FROM taken
"""


async def put(connection: Connection, observations: Sequence[Observed]) -> None:
    """Write observations down, in the caller's transaction."""
    await connection.execute(
        """INSERT INTO incoming_observations (measure, labels, value, times, total)
           SELECT measure, labels, value, times, total FROM jsonb_to_recordset(%s::jsonb)
               AS o(measure text, labels text[], value float8, times bigint, total float8)""",
        # JSON has no infinity, but a text of it is read as one.
        (json.dumps([each.model_dump() | {"value": str(each.value)} for each in observations]),),
    )


async def add(connection: Connection, *, limit: int) -> int:
    """Add up to `limit` observations that are not counted yet to the counts; how many it were.

    One statement, under a lock: each is counted once, whoever counts.
    """
    bounds = json.dumps(dict(BOUNDS))
    row = await (await connection.execute(_ADD, {"bounds": bounds, "limit": limit})).fetchone()
    assert row is not None
    return int(row["counted"])


async def read(connection: Connection) -> list[ObservationCount]:
    """All counts, in no order."""
    cursor = await connection.execute("SELECT measure, labels, up_to, times, total FROM observation_counts")
    return [counted(row) for row in await cursor.fetchall()]


def counted(row: DictRow) -> ObservationCount:
    """A count, as it is read."""
    return ObservationCount(row["measure"], tuple(row["labels"]), row["up_to"], row["times"], row["total"])
