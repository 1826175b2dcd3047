"""Indexes on tables that are written to meanwhile: made outside of a transaction, holding up nobody.

A revision that makes some does nothing else: where it is interrupted it is run again from its top.
"""

import sqlalchemy as sa
from alembic import op

# Making one waits for every transaction that was open before; it holds up no one while it waits.
_PATIENCE = "10min"
_INVALID = """
SELECT 1 FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE c.relname = :name AND NOT i.indisvalid AND pg_table_is_visible(c.oid)
"""


def create_indexes(*, unique: bool = False, **indexes: str) -> None:
    """Make each index (name=what it is on, as in `events (at)`) that is not there, or not whole."""
    kind = "UNIQUE INDEX" if unique else "INDEX"
    with op.get_context().autocommit_block():
        bind = op.get_bind()
        usual = bind.execute(sa.text("SHOW lock_timeout")).scalar()
        op.execute(f"SET lock_timeout = '{_PATIENCE}'")
        for name, on in indexes.items():
            if bind.execute(sa.text(_INVALID), {"name": name}).scalar():
                op.execute(f"DROP INDEX CONCURRENTLY {name}")
            op.execute(f"CREATE {kind} CONCURRENTLY IF NOT EXISTS {name} ON {on}")
        op.execute(f"SET lock_timeout = '{usual}'")


def drop_indexes(*names: str) -> None:
    """Drop them, where they are there."""
    with op.get_context().autocommit_block():
        for name in names:
            op.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
