"""Once no runner of 0.1.0 is left: LangGraph's checkpoints go, transaction ids, and what only they needed.

The documents tell everything that checkpoints told. A transaction's id means nothing in another server.
"""

from models.migrations.statements import execute

revision = "0028"
down_revision = "0027"
phase = "after"


def upgrade() -> None:
    """Drop what nobody reads any more; indexes and constraints go with their columns."""
    execute(
        "ALTER TABLE events DROP COLUMN IF EXISTS xid",
        "ALTER TABLE tool_calls DROP COLUMN IF EXISTS xid",
        "DROP TABLE IF EXISTS checkpoint_writes, checkpoints",
        "DROP INDEX CONCURRENTLY IF EXISTS workflows_one_open_per_key_idx",
        "DROP INDEX CONCURRENTLY IF EXISTS workflows_to_run_idx",
        "ALTER TABLE workflows DROP COLUMN IF EXISTS resume",
        "ALTER TABLE approvals DROP COLUMN IF EXISTS interrupt_id, ALTER COLUMN gate DROP DEFAULT",
    )
