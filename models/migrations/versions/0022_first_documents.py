"""Which document is the first that a claim has kept: what a dead runner got done is then told by one row.

It comes before what is taken away after the last release, whose documents are the first of no claim.
"""

from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None
phase = "before"


def upgrade() -> None:
    """Make the column."""
    op.execute("ALTER TABLE documents ADD COLUMN IF NOT EXISTS first_of BIGINT")


def downgrade() -> None:
    """Drop it."""
    op.execute("ALTER TABLE documents DROP COLUMN IF EXISTS first_of")
