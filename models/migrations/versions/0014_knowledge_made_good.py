"""The tables of 0013 for a database that was at 0012 when 0013 was put before it."""

import importlib

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0012"
branch_labels = None
depends_on = None
phase = "after"


def upgrade() -> None:
    """Make them where they are not there."""
    if not sa.inspect(op.get_bind()).has_table("sources"):
        importlib.import_module("models.migrations.versions.0013_knowledge").upgrade()


def downgrade() -> None:
    """They are 0013's."""
