"""How much of what a page shows was kept as its source's text, and what was left out.

It comes before what is taken away after the last release, which still works while this is made.
"""

from alembic import op

revision = "0025"
down_revision = "0023"
branch_labels = None
depends_on = None
phase = "before"


def upgrade() -> None:
    """Add the column."""
    op.execute("ALTER TABLE sources ADD COLUMN IF NOT EXISTS coverage JSONB")


def downgrade() -> None:
    """Drop it."""
    op.execute("ALTER TABLE sources DROP COLUMN IF EXISTS coverage")
