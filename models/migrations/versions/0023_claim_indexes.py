"""Indexes for what a claim looks for: what is queued, due, or held; and whether its last claim got on."""

from models.migrations.concurrently import create_indexes, drop_indexes

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None
phase = "before"


def upgrade() -> None:
    """Make the indexes."""
    create_indexes(
        workflows_queued_idx="workflows (kind, created_at) WHERE status = 'queued'",
        workflows_due_idx="workflows (kind, not_before) WHERE status = 'parked'",
        workflows_held_idx="workflows (runner_id, kind) WHERE runner_id IS NOT NULL",
        documents_first_of_idx="documents (workflow_id, first_of) WHERE first_of IS NOT NULL",
    )


def downgrade() -> None:
    """Drop them."""
    drop_indexes("workflows_queued_idx", "workflows_due_idx", "workflows_held_idx", "documents_first_of_idx")
