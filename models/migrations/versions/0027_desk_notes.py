"""What an article's readers are not told, and whoever decides on it is: beside its text, by version."""

from alembic import op

revision = "0027"
down_revision = "0025"
branch_labels = None
depends_on = None
phase = "before"


def upgrade() -> None:
    """Add it where it is not there: see 0028."""
    op.execute(
        "ALTER TABLE article_versions ADD COLUMN IF NOT EXISTS desk_notes TEXT[] NOT NULL DEFAULT '{}'"
    )


def downgrade() -> None:
    """Take it away."""
    op.execute("ALTER TABLE article_versions DROP COLUMN desk_notes")
