"""How an article's version was written: by somebody, or of quotations that code put together.

Old runners and replicas go on meanwhile: what they write is prose.
"""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None
phase = "before"


def upgrade() -> None:
    """Add the column; what there is was written as prose."""
    op.add_column("article_versions", sa.Column("written", sa.Text(), server_default="prose", nullable=False))
    op.create_check_constraint(
        op.f("article_versions_written_check"),
        "article_versions",
        "written IN ('quotes', 'prose')",
        postgresql_not_valid=True,
    )
    op.execute("ALTER TABLE article_versions VALIDATE CONSTRAINT article_versions_written_check")


def downgrade() -> None:
    """Drop it."""
    op.drop_column("article_versions", "written")
