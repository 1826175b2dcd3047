"""Retention: what is old is found by an index, among what is kept."""

from models.migrations.concurrently import create_indexes, drop_indexes

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None
phase = "before"


def upgrade() -> None:
    """Make the indexes."""
    create_indexes(
        workflows_finished_at_id_idx="workflows (finished_at, id) WHERE finished_at IS NOT NULL",
        deliveries_ended_at_idx="deliveries (ended_at) WHERE ended_at IS NOT NULL",
        conversations_updated_at_idx="conversations (updated_at)",
    )


def downgrade() -> None:
    """Drop them."""
    drop_indexes("workflows_finished_at_id_idx", "deliveries_ended_at_idx", "conversations_updated_at_idx")
