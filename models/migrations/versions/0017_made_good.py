"""The columns of 0015 for a database that was at 0014 when 0015 was put before it."""

import importlib

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0014"
branch_labels = None
depends_on = None
phase = "after"


def upgrade() -> None:
    """Add them where they are not there."""
    columns = {column["name"] for column in sa.inspect(op.get_bind()).get_columns("approvals")}
    if "asked" not in columns:
        importlib.import_module("models.migrations.versions.0015_amended_approvals").upgrade()


def downgrade() -> None:
    """They are 0015's."""
