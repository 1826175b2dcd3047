"""What 0015 and 0016 add, for a database that was at 0014 when they were put before it."""

import importlib

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0014"
branch_labels = None
depends_on = None
phase = "after"


def upgrade() -> None:
    """Add it where it is not there."""
    there = sa.inspect(op.get_bind())
    if "asked" not in {column["name"] for column in there.get_columns("approvals")}:
        importlib.import_module("models.migrations.versions.0015_amended_approvals").upgrade()
    if not there.has_table("agent_workflows"):
        importlib.import_module("models.migrations.versions.0016_research").upgrade()


def downgrade() -> None:
    """It is theirs."""
