"""What 0027 adds, for a database that was past it when it was put before 0011."""

import importlib

revision = "0028"
down_revision = "0026"
branch_labels = None
depends_on = None
phase = "after"


def upgrade() -> None:
    """Add what is not there."""
    importlib.import_module("models.migrations.versions.0027_desk_notes").upgrade()


def downgrade() -> None:
    """It is theirs."""
