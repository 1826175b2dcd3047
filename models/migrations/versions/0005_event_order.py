"""One order of events: they come in by `incoming_events`, and get their id in `events` once committed.

What a runner or a replica of the last release inserts into `events` is diverted; so is what anybody else
inserts there, later on. Calls are counted in `tool_call_counts`, for `/metrics`.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None
phase = "before"

_DIVERT = """
CREATE FUNCTION divert_to_incoming_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO incoming_events (type, workflow_id, topic, role, person, data, at)
    VALUES (NEW.type, NEW.workflow_id, NEW.topic, NEW.role, NEW.person, NEW.data, NEW.at);
    RETURN NULL;
END $$
"""
_TRIGGER = """
CREATE TRIGGER events_divert BEFORE INSERT ON events FOR EACH ROW
WHEN (current_setting('signoff.moves_events', true) IS DISTINCT FROM 'on')
EXECUTE FUNCTION divert_to_incoming_events()
"""


def upgrade() -> None:
    """Make the tables, and divert. The trigger waits for open transactions that have written events."""
    op.create_table(
        "incoming_events",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False, cache=1), nullable=False),
        sa.Column("workflow_id", sa.Text(), nullable=True),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("topic", sa.Text(), nullable=True),
        sa.Column("role", sa.Text(), server_default="reader", nullable=False),
        sa.Column("person", sa.Text(), nullable=True),
        sa.Column("data", postgresql.JSONB(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("incoming_events_pkey")),
        # Rows stay for a moment: without this the dead ones would outnumber the living by thousands.
        postgresql_with={"autovacuum_vacuum_scale_factor": "0", "autovacuum_vacuum_threshold": "2000"},
    )
    op.create_table(
        "incoming_tool_calls",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("tool", sa.Text(), nullable=False),
        sa.Column("door", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("incoming_tool_calls_pkey")),
        postgresql_with={"autovacuum_vacuum_scale_factor": "0", "autovacuum_vacuum_threshold": "2000"},
    )
    op.create_table(
        "tool_call_counts",
        sa.Column("tool", sa.Text(), nullable=False),
        sa.Column("door", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("up_to_seconds", sa.Double(), nullable=False),
        sa.Column("calls", sa.BigInteger(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint(
            "tool", "door", "status", "up_to_seconds", name=op.f("tool_call_counts_pkey")
        ),
    )
    op.execute(_DIVERT)
    op.execute(_TRIGGER)


def downgrade() -> None:
    """Put what waits in its place, and take it all away."""
    op.execute("DROP TRIGGER events_divert ON events")
    op.execute("DROP FUNCTION divert_to_incoming_events")
    op.execute(
        "INSERT INTO events (type, workflow_id, topic, role, person, data, at) "
        "SELECT type, workflow_id, topic, role, person, data, at FROM incoming_events ORDER BY id"
    )
    op.drop_table("tool_call_counts")
    op.drop_table("incoming_tool_calls")
    op.drop_table("incoming_events")
