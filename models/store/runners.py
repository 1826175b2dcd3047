"""Runners' leases: a row per process, renewed while it lives."""

from models.store.database import Database


async def register(
    database: Database, *, runner_id: str, name: str, node: str, pid: int, lease_seconds: float
) -> None:
    """Begin a lease. A former process of the same name is dead, so its lease ends now."""
    async with database.transaction() as connection:
        await connection.execute(
            "UPDATE runners SET lease_until = now() WHERE name = %s AND id <> %s AND lease_until > now()",
            (name, runner_id),
        )
        await connection.execute(
            "DELETE FROM runners WHERE lease_until < now() - interval '1 day'",
        )
        await connection.execute(
            """INSERT INTO runners (id, name, node, pid, lease_until)
               VALUES (%s, %s, %s, %s, now() + make_interval(secs => %s))
               ON CONFLICT (id) DO UPDATE SET lease_until = EXCLUDED.lease_until""",
            (runner_id, name, node, pid, lease_seconds),
        )


async def renew(database: Database, *, runner_id: str, lease_seconds: float) -> None:
    """Push the lease's end out."""
    async with database.connection() as connection:
        await connection.execute(
            "UPDATE runners SET lease_until = now() + make_interval(secs => %s) WHERE id = %s",
            (lease_seconds, runner_id),
        )


async def end(database: Database, *, runner_id: str) -> None:
    """End a lease at once, so that others take over without waiting for it to run out."""
    async with database.connection() as connection:
        await connection.execute("DELETE FROM runners WHERE id = %s", (runner_id,))


async def alive(database: Database) -> list[str]:
    """Names of the runners whose lease is live."""
    async with database.connection() as connection:
        cursor = await connection.execute("SELECT name FROM runners WHERE lease_until > now() ORDER BY name")
        return [row["name"] for row in await cursor.fetchall()]
