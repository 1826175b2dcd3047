"""What revisions are made of: statements, each a transaction of its own that is tried until it has its lock.

A site is at work meanwhile, and whoever waits for a lock holds up all behind it: so none waits for long, or
holds one while it waits for another. A revision that is broken off is run again from its top, and a new
database has everything from the baseline: so each statement changes nothing where it is done.
"""

import random
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import psycopg
import sqlalchemy as sa
from alembic import op
from sqlalchemy.schema import AddConstraint, CreateColumn, CreateIndex

from models.store.schema.whole import metadata

# Where writers never rest, most tries meet one of them.
_PATIENCE_SECONDS, _LONGEST_PAUSE_SECONDS = 240.0, 0.6
# Making an index waits for every transaction that was open before; it holds up no one while it waits.
_INDEX_PATIENCE = "10min"
_INDEXES = """
SELECT c.relname, i.indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE pg_table_is_visible(c.oid)
"""


def execute(*statements: str) -> None:
    """Run each."""
    with op.get_context().autocommit_block():
        for statement in statements:
            _patiently(partial(op.execute, statement))


def add_columns(table: str, *names: str) -> None:
    """Add columns of a table as it is declared, where they are not there."""
    columns = (_sql(CreateColumn(metadata.tables[table].c[name])) for name in names)
    execute(f"ALTER TABLE {table} " + ", ".join(f"ADD COLUMN IF NOT EXISTS {column}" for column in columns))


def set_constraint(table: str, name: str) -> None:
    """Put a constraint that is declared in the place of the one of its name. No row may break it."""
    [constraint] = [each for each in metadata.tables[table].constraints if each.name == name]
    # Isolated, as is the default, it would be left out of the tables that are made later on.
    added = _sql(AddConstraint(constraint, isolate_from_table=False))
    change = added.replace(" ADD ", f" DROP CONSTRAINT IF EXISTS {name}, ADD ", 1)
    if isinstance(constraint, sa.CheckConstraint):
        execute(f"{change} NOT VALID", f"ALTER TABLE {table} VALIDATE CONSTRAINT {name}")
    else:
        execute(change)


def add_tables() -> None:
    """Make the tables and sequences that are not there."""
    with op.get_context().autocommit_block():
        _patiently(lambda: metadata.create_all(op.get_bind()))


def add_indexes() -> None:
    """Make the indexes that are not there, or not whole."""
    with op.get_context().autocommit_block():
        bind = op.get_bind()
        usual = bind.execute(sa.text("SHOW lock_timeout")).scalar()
        op.execute(f"SET lock_timeout = '{_INDEX_PATIENCE}'")
        valid = dict(tuple(row) for row in bind.execute(sa.text(_INDEXES)))
        for index in (index for table in metadata.sorted_tables for index in table.indexes):
            if not valid.get(str(index.name), True):
                op.execute(f"DROP INDEX CONCURRENTLY {index.name}")
            if not valid.get(str(index.name)):
                op.execute(_sql(CreateIndex(index)).replace(" INDEX ", " INDEX CONCURRENTLY ", 1))
        op.execute(f"SET lock_timeout = '{usual}'")


def _patiently(call: Callable[[], object]) -> None:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            call()
            return
        except sa.exc.OperationalError as error:
            if not isinstance(error.orig, psycopg.errors.LockNotAvailable) or time.monotonic() > deadline:
                raise
            time.sleep(random.uniform(0.1, _LONGEST_PAUSE_SECONDS))


def _sql(element: Any) -> str:
    return str(element.compile(dialect=op.get_bind().dialect)).strip()
