"""Which ended workflows have files to be written, and whose they are where several write the same."""

from collections.abc import Collection, Sequence

from models.store.database import Database


async def due(
    database: Database, *, kinds: Sequence[str], besides: Collection[str], limit: int
) -> list[tuple[str, str]]:
    """Ended workflows whose files are still to be written: id and kind, the longest waiting first."""
    async with database.connection() as connection:
        cursor = await connection.execute(
            """SELECT id, kind FROM workflows WHERE projection_due AND kind = ANY(%s) AND id <> ALL(%s)
                 AND finished_at IS NOT NULL
               ORDER BY finished_at LIMIT %s""",
            (list(kinds), list(besides), limit),
        )
        return [(row["id"], row["kind"]) for row in await cursor.fetchall()]


# Of several workflows of one key the newest that has files owns them.
_NEWER = """SELECT w.id FROM workflows w JOIN workflows mine ON w.kind = mine.kind AND w.key = mine.key
            WHERE mine.id = %(id)s AND (w.created_at, w.id) > (mine.created_at, mine.id)
              AND w.status IN ('succeeded', 'failed')
            ORDER BY w.created_at DESC, w.id DESC LIMIT 1"""


async def hand_to_newest(database: Database, workflow_id: str) -> bool:
    """Let the newest workflow of the key write its files once more.

    Returns:
        Whether there is a newer one than this.
    """
    async with database.connection() as connection:
        cursor = await connection.execute(
            f"UPDATE workflows SET projection_due = true WHERE id = ({_NEWER})".encode(), {"id": workflow_id}
        )
        return cursor.rowcount == 1


async def stands(database: Database, workflow_id: str, *, epoch: int) -> bool:
    """Whether a workflow is ended as it was at `epoch`, and owns its files."""
    async with database.connection() as connection:
        cursor = await connection.execute(
            f"""SELECT 1 FROM workflows WHERE id = %(id)s AND epoch = %(epoch)s AND finished_at IS NOT NULL
                  AND NOT EXISTS ({_NEWER})""".encode(),
            {"id": workflow_id, "epoch": epoch},
        )
        return await cursor.fetchone() is not None


async def written(database: Database, workflow_id: str, *, epoch: int) -> bool:
    """Note that the files of an ended workflow are written.

    Returns:
        False if it has moved on since `epoch`: they are due once more, for what was written is out of date.
    """
    async with database.connection() as connection:
        cursor = await connection.execute(
            """UPDATE workflows SET projection_due = (epoch <> %(epoch)s) WHERE id = %(id)s
               RETURNING projection_due AS again""",
            {"epoch": epoch, "id": workflow_id},
        )
        row = await cursor.fetchone()
        assert row is not None
        return not row["again"]
