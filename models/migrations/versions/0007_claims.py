"""Indexes by which work is claimed by kind, parked work too, and by which files that are due are found."""

from models.migrations.concurrently import create_indexes, drop_indexes

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None
phase = "before"


def upgrade() -> None:
    """Make the indexes."""
    create_indexes(
        workflows_claimable_idx="workflows (kind, created_at) "
        "WHERE status IN ('queued', 'running', 'parked')",
        workflows_projection_due_idx="workflows (finished_at) WHERE projection_due",
    )
    create_indexes(
        unique=True,
        workflows_open_key_idx="workflows (key) WHERE status IN ('queued', 'running', 'waiting', 'parked')",
    )


def downgrade() -> None:
    """Drop them."""
    drop_indexes("workflows_claimable_idx", "workflows_projection_due_idx", "workflows_open_key_idx")
