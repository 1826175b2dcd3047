"""What a gate asked for stays beside what somebody made of it.

It comes before what is taken away after the last release, which still works while this is made.
"""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0013"
branch_labels = None
depends_on = None
phase = "before"


def upgrade() -> None:
    """Add the columns; no approval has been amended yet."""
    op.add_column("approvals", sa.Column("asked", sa.dialects.postgresql.JSONB()))
    op.add_column("approvals", sa.Column("amended_by", sa.Text()))


def downgrade() -> None:
    """Drop them."""
    op.drop_column("approvals", "amended_by")
    op.drop_column("approvals", "asked")
