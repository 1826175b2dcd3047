"""Indexes for the newest workflows, and for the article that a workflow publishes."""

from models.migrations.concurrently import create_indexes, drop_indexes

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None
phase = "before"


def upgrade() -> None:
    """Make the indexes."""
    create_indexes(
        workflows_created_at_id_idx="workflows (created_at DESC, id)",
        articles_workflow_id_idx="articles (workflow_id)",
    )


def downgrade() -> None:
    """Drop them."""
    drop_indexes("workflows_created_at_id_idx", "articles_workflow_id_idx")
