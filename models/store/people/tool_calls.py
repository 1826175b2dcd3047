"""The record of tool calls, and how often a user may make them."""

from collections.abc import Iterable

from models.config import RateLimit
from models.monitoring import ObservationCount
from models.people.scopes import GLOBAL, Scope
from models.store.database import Connection
from models.store.upkeep import observations
from models.tools import ToolCall

# By which the durations of calls are told apart, in seconds.
BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0]
_TOLERANCE = 0.001  # clocks in microseconds don't add up to whole seconds


async def admit(connection: Connection, person: str, tool: str, limit: RateLimit) -> float:
    """Count a call, if there is room for it: 0, or the seconds to wait (the generic cell rate algorithm).

    One statement, so that calls at once on several replicas share one bucket. One that is fuller than it can
    be was filled before the clock was set back: it is empty.
    """
    values = {
        "person": person,
        "tool": tool,
        "step": limit.per_seconds / limit.calls,
        "full": limit.per_seconds + _TOLERANCE,
    }
    cursor = await connection.execute(
        """
        INSERT INTO rate_limits (person, tool, empty_at)
        VALUES (%(person)s, %(tool)s, clock_timestamp() + make_interval(secs => %(step)s))
        ON CONFLICT (person, tool) DO UPDATE
        SET empty_at = make_interval(secs => %(step)s) + CASE
            WHEN rate_limits.empty_at > clock_timestamp() + make_interval(secs => %(full)s)
            THEN clock_timestamp() ELSE greatest(rate_limits.empty_at, clock_timestamp()) END
        WHERE greatest(rate_limits.empty_at, clock_timestamp()) + make_interval(secs => %(step)s)
              <= clock_timestamp() + make_interval(secs => %(full)s)
           OR rate_limits.empty_at > clock_timestamp() + make_interval(secs => %(full)s)
        RETURNING 1
        """,
        values,
    )
    if await cursor.fetchone() is not None:
        return 0.0
    cursor = await connection.execute(
        """SELECT extract(epoch FROM empty_at - clock_timestamp())::float8 + %(step)s - %(full)s AS wait
           FROM rate_limits WHERE person = %(person)s AND tool = %(tool)s""",
        values,
    )
    row = await cursor.fetchone()
    return max(0.001, row["wait"] if row else 0.001)


async def record(
    connection: Connection,
    *,
    person: str,
    tool: str,
    door: str,
    topic: str | None,
    about: str | None,
    input_digest: str,
    status: str,
    error: str | None,
    seconds: float,
) -> None:
    """Write down a call, in the caller's transaction."""
    await connection.execute(
        """WITH recorded AS (
               INSERT INTO tool_calls (person, tool, door, topic, about, input_digest, status, error, seconds)
               VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s) RETURNING tool, door, status, seconds
           )
           INSERT INTO incoming_tool_calls (tool, door, status, seconds)
           SELECT tool, door, status, seconds FROM recorded""",
        (person, tool, door, topic, about, input_digest, status, error, seconds),
    )


async def read(
    connection: Connection,
    scopes: Iterable[Scope],
    *,
    person: str | None = None,
    tool: str | None = None,
    about: str | None = None,
    before: int | None = None,
    limit: int = 100,
) -> list[ToolCall]:
    """The newest calls first: on topics that `scopes` administer, and all of them with `global:admin`."""
    admin = [scope.topic for scope in scopes if scope.role == "admin"]
    cursor = await connection.execute(
        """
        SELECT id, person, tool, door, topic, about, input_digest, status, error, seconds, at FROM tool_calls
        WHERE (%(everywhere)s OR topic = ANY(%(topics)s))
          AND (%(person)s::text IS NULL OR person = %(person)s)
          AND (%(tool)s::text IS NULL OR tool = %(tool)s)
          AND (%(about)s::text IS NULL OR about = %(about)s)
          AND (%(before)s::bigint IS NULL OR id < %(before)s)
        ORDER BY id DESC LIMIT %(limit)s
        """,
        {
            "everywhere": GLOBAL in admin,
            "topics": admin,
            "person": person,
            "tool": tool,
            "about": about,
            "before": before,
            "limit": limit,
        },
    )
    return [ToolCall.model_validate(row) for row in await cursor.fetchall()]


async def count(connection: Connection, bounds: list[float], *, limit: int = 5000) -> list[ObservationCount]:
    """Add the calls that are not counted yet (see `add`); all counts, by the bound of their duration.

    Their labels are the tool, the door and the status.
    """
    await add(connection, bounds, limit=limit)
    cursor = await connection.execute(
        """SELECT 'tool_call' AS measure, ARRAY[tool, door, status] AS labels, up_to_seconds AS up_to,
                  calls AS times, seconds AS total FROM tool_call_counts"""
    )
    return [observations.counted(row) for row in await cursor.fetchall()]


async def add(connection: Connection, bounds: list[float], *, limit: int) -> int:
    """Count up to `limit` calls that are not counted yet, by the bound below which their duration is (of
    `bounds`, or infinity); how many it were.

    One statement, under a lock: a call is counted once, whoever counts, and the counts only grow. They
    outlive the calls' own rows, and a restart.
    """
    cursor = await connection.execute(
        """
        WITH waiting AS MATERIALIZED (
            SELECT EXISTS (SELECT 1 FROM incoming_tool_calls) AS any_there
        ), mine AS MATERIALIZED (
            SELECT CASE WHEN any_there THEN pg_try_advisory_xact_lock(hashtext('signoff-calls')) END AS locked
            FROM waiting
        ), taken AS (
            -- Up to an id, and not among ids: see `models.store.upkeep.observations`.
            DELETE FROM incoming_tool_calls
            WHERE (SELECT locked FROM mine) AND id <= (
                SELECT max(id)
                FROM (SELECT id FROM incoming_tool_calls ORDER BY id LIMIT %(limit)s) AS oldest)
            RETURNING tool, door, status, seconds
        ), added AS (
            INSERT INTO tool_call_counts AS c (tool, door, status, up_to_seconds, calls, seconds)
            SELECT tool, door, status,
                   coalesce((%(bounds)s::float8[])[width_bucket(seconds, %(bounds)s::float8[]) + 1],
                            'infinity'),
                   count(*), sum(seconds)
            FROM taken GROUP BY 1, 2, 3, 4
            ON CONFLICT (tool, door, status, up_to_seconds)
            DO UPDATE SET calls = c.calls + excluded.calls, seconds = c.seconds + excluded.seconds
        )
        SELECT count(*) AS counted FROM taken
        """,
        {"bounds": bounds, "limit": limit},
    )
    row = await cursor.fetchone()
    assert row is not None
    return int(row["counted"])
