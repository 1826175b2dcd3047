"""How many rows Postgres reads, and which statements it is sent, while something is done: no clock is asked.

`pg_stat_user_tables` counts what was read; a pool of one connection tells its counts when it is asked to.
"""

from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import psycopg
import pytest

from models.store.database import Database

_READ = """
SELECT t.relname AS name, coalesce(t.seq_tup_read, 0) + coalesce(sum(i.idx_tup_read), 0)::bigint AS n
FROM pg_stat_user_tables t LEFT JOIN pg_stat_user_indexes i ON i.relid = t.relid
GROUP BY t.relid, t.relname, t.seq_tup_read
"""


@asynccontextmanager
async def rows_read(database: Database) -> AsyncIterator[Counter[str]]:
    """By table, the rows and entries of indexes that are read in the block; filled in at its end.

    Args:
        database: of one connection, so that none is left that has not told yet.
    """
    read: Counter[str] = Counter()
    before = await _so_far(database)
    yield read
    read.update(await _so_far(database) - before)


async def _so_far(database: Database) -> Counter[str]:
    async with database.connection() as connection:
        await connection.execute("SELECT pg_stat_force_next_flush()")
        rows = await (await connection.execute(_READ)).fetchall()
    return Counter({row["name"]: row["n"] for row in rows})


@contextmanager
def statements_sent(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The statements that this process sends in the block, each without its line breaks."""
    sent: list[str] = []
    execute = psycopg.AsyncCursor.execute

    async def told(
        self: psycopg.AsyncCursor[object], query: object, *given: object, **more: object
    ) -> object:
        text = query.decode() if isinstance(query, bytes) else str(query)
        sent.append(" ".join(text.split()))
        return await execute(self, query, *given, **more)

    with monkeypatch.context() as patched:
        patched.setattr(psycopg.AsyncCursor, "execute", told)
        yield sent
