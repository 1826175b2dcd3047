"""No transaction ids in rows: they mean nothing in another server, and nobody reads them any more."""

import sqlalchemy as sa
from alembic import op

from models.store.schema.columns import XID8

revision = "0011"
down_revision = "0027"
branch_labels = None
depends_on = None
phase = "after"


def upgrade() -> None:
    """Drop them; the index goes with its column."""
    op.drop_column("events", "xid")
    op.drop_column("tool_calls", "xid")


def downgrade() -> None:
    """Rows that are there get the number of this transaction."""
    now = sa.text("pg_current_xact_id()")
    for table in ("events", "tool_calls"):
        op.add_column(table, sa.Column("xid", XID8(), server_default=now, nullable=False))
    op.create_index("events_xid_id_idx", "events", ["xid", "id"], unique=False)
