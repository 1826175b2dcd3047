"""What 0018 adds, for a database that was at 0014 or 0017 when it was put before them."""

import importlib

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0017"
branch_labels = None
depends_on = None
phase = "after"


def upgrade() -> None:
    """Add it where it is not there."""
    if not sa.inspect(op.get_bind()).has_table("observation_counts"):
        importlib.import_module("models.migrations.versions.0018_monitoring").upgrade()


def downgrade() -> None:
    """It is 0018's."""
