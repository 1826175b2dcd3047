"""Batches: a driver's lease over the workflows it watches. Without a live lease they don't run."""

import uuid

from models.store.database import Connection, Database
from models.store.runtime import workflows

# Says that a workflow of some batch has succeeded; of other ends a driver learns a little later.
CHANNEL = "signoff_batches"


async def begin(database: Database, *, requested_by: str, lease_seconds: float) -> str:
    """A new batch with a live lease; returns its id."""
    async with database.connection() as connection:
        return await begin_in(connection, requested_by=requested_by, lease_seconds=lease_seconds)


async def begin_in(connection: Connection, *, requested_by: str, lease_seconds: float) -> str:
    """The same, in the caller's transaction; without a second of lease it may claim, and hold nothing."""
    batch_id = uuid.uuid4().hex
    await connection.execute(
        """INSERT INTO batches (id, requested_by, lease_until)
           VALUES (%s, %s, now() + make_interval(secs => %s))""",
        (batch_id, requested_by, lease_seconds),
    )
    return batch_id


async def hold(connection: Connection, *, batch_id: str, workflow_id: str) -> None:
    """Let a workflow run while this batch's lease lives; in the caller's transaction."""
    await connection.execute(
        "INSERT INTO batch_workflows (batch_id, workflow_id) VALUES (%s, %s) ON CONFLICT DO NOTHING",
        (batch_id, workflow_id),
    )
    await workflows.notify(connection)


async def renew(database: Database, *, batch_id: str, lease_seconds: float) -> None:
    """Push the lease's end out."""
    async with database.connection() as connection:
        await connection.execute(
            "UPDATE batches SET lease_until = now() + make_interval(secs => %s) WHERE id = %s",
            (lease_seconds, batch_id),
        )


async def end(database: Database, *, batch_id: str) -> None:
    """End a batch's lease at once and tell the runners."""
    async with database.transaction() as connection:
        await connection.execute("UPDATE batches SET lease_until = now() WHERE id = %s", (batch_id,))
        await workflows.notify(connection, about=f"batch:{batch_id}")
