"""What 0022 and 0023 add, for a database that was at 0019 when they were put before it.

What only the last release claimed by goes.
"""

import importlib

from alembic import op

from models.migrations.concurrently import create_indexes, drop_indexes

revision = "0024"
down_revision = "0019"
branch_labels = None
depends_on = None
phase = "after"


def upgrade() -> None:
    """Add what is not there, and drop the count of documents and the one index of all that may be claimed."""
    for name in ("0022_first_documents", "0023_claim_indexes"):
        importlib.import_module(f"models.migrations.versions.{name}").upgrade()
    drop_indexes("workflows_claimable_idx")
    op.execute("ALTER TABLE workflows DROP COLUMN IF EXISTS documents_seen")


def downgrade() -> None:
    """Put them back; what was added is theirs."""
    op.execute("ALTER TABLE workflows ADD COLUMN IF NOT EXISTS documents_seen INTEGER NOT NULL DEFAULT 0")
    create_indexes(
        workflows_claimable_idx="workflows (kind, created_at) WHERE status IN ('queued', 'running', 'parked')"
    )
