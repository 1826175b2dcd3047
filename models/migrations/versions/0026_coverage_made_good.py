"""What 0025 adds now, for a database that was at 0024 when it came before that."""

from alembic import op

revision = "0026"
down_revision = "0024"
branch_labels = None
depends_on = None
phase = "after"


def upgrade() -> None:
    """Add the column where it is not there."""
    op.execute("ALTER TABLE sources ADD COLUMN IF NOT EXISTS coverage JSONB")


def downgrade() -> None:
    """It is 0025's."""
