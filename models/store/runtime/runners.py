"""Runners' leases: a row per process, renewed while it lives.

A lease ends by time, or because its process is proven dead; a name proves nothing. While no lease is
renewed at all, as when Postgres is away, the clock of leases stands still.
"""

from collections.abc import Sequence

from models.record import Record
from models.store.database import Connection


class RunnerProcess(Record):
    """Where a runner's process is. `machine` and `started` tell it from others of the same `pid`."""

    node: str
    pid: int
    machine: str | None
    started: int | None


async def renew(
    connection: Connection, *, runner_id: str, name: str, process: RunnerProcess, lease_seconds: float
) -> None:
    """Begin a lease or push its end out, and let the clock of leases run."""
    await connection.execute(
        """
        WITH clock AS (
            UPDATE lease_clock SET renewed_at = now(),
                   running_since = CASE WHEN renewed_at BETWEEN now() - make_interval(secs => %(lease)s)
                                                            AND now() + make_interval(secs => %(lease)s)
                                        THEN running_since ELSE now() END
        )
        INSERT INTO runners (id, name, node, pid, machine, process_started, lease_until)
        VALUES (%(id)s, %(name)s, %(node)s, %(pid)s, %(machine)s, %(started)s,
                now() + make_interval(secs => %(lease)s))
        ON CONFLICT (id) DO UPDATE SET lease_until = EXCLUDED.lease_until
        """,
        {"id": runner_id, "name": name, "lease": lease_seconds, **process.model_dump()},
    )


async def of_machine(connection: Connection, machine: str) -> dict[str, RunnerProcess]:
    """The runners of one machine that have not ended, by id."""
    cursor = await connection.execute(
        "SELECT id, node, pid, machine, process_started AS started FROM runners WHERE machine = %s",
        (machine,),
    )
    return {row.pop("id"): RunnerProcess.model_validate(row) for row in await cursor.fetchall()}


async def end(connection: Connection, runner_ids: Sequence[str]) -> None:
    """End leases at once, of runners that stop or are proven dead: others take over without waiting."""
    await connection.execute(
        "DELETE FROM runners WHERE id = ANY(%s) OR lease_until < now() - interval '1 day'",
        (list(runner_ids),),
    )
