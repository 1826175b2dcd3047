"""What 0015 makes, for a database that was at 0014 when 0015 was put before it."""

import importlib

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0014"
branch_labels = None
depends_on = None
phase = "after"


def upgrade() -> None:
    """Make it where it is not there."""
    if not sa.inspect(op.get_bind()).has_table("observation_counts"):
        importlib.import_module("models.migrations.versions.0015_monitoring").upgrade()


def downgrade() -> None:
    """It is 0015's."""
