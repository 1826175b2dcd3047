"""What 0016, 0018 and 0020 add now, for a database that was at 0014 or 0017 when they came before these."""

import importlib

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0017"
branch_labels = None
depends_on = None
phase = "after"


_ADDED = {"observation_counts": "0018_monitoring", "knowledge_trees": "0020_research_results"}


def upgrade() -> None:
    """Add what is not there."""
    for table, revision_ in _ADDED.items():
        if not sa.inspect(op.get_bind()).has_table(table):
            importlib.import_module(f"models.migrations.versions.{revision_}").upgrade()
    op.execute("ALTER TABLE agent_workflows ADD COLUMN IF NOT EXISTS intent JSONB")
    op.execute("ALTER TABLE agent_workflows ALTER COLUMN task_type DROP NOT NULL")


def downgrade() -> None:
    """It is theirs."""
