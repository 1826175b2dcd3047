"""Parked workflows: what they wait for, and since when."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_STATUSES = "'queued', 'running', 'waiting', 'succeeded', 'failed', 'cancelled'"


def upgrade() -> None:
    """Add a status, which runners of the last release never see, and its two columns."""
    op.add_column("workflows", sa.Column("parked_for", sa.Text(), nullable=True))
    op.add_column("workflows", sa.Column("parked_since", sa.DateTime(timezone=True), nullable=True))
    op.drop_constraint(op.f("workflows_status_check"), "workflows", type_="check")
    op.create_check_constraint(
        op.f("workflows_status_check"), "workflows", f"status IN ({_STATUSES}, 'parked')"
    )


def downgrade() -> None:
    """Take it all away again; what was parked is queued."""
    op.execute("UPDATE workflows SET status = 'queued' WHERE status = 'parked'")
    op.drop_constraint(op.f("workflows_status_check"), "workflows", type_="check")
    op.create_check_constraint(op.f("workflows_status_check"), "workflows", f"status IN ({_STATUSES})")
    op.drop_column("workflows", "parked_since")
    op.drop_column("workflows", "parked_for")
