"""One journal: gates have names, work is parked, leases have a clock, and nothing is saved by LangGraph.

What the last release reads and writes stays until its runners are gone; see 0012.
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None
phase = "before"

_STATUSES = "status IN ('queued', 'running', 'waiting', 'parked', 'succeeded', 'failed', 'cancelled')"


def upgrade() -> None:
    """Add what is new; the gate of each approval that waits is the one that its kind has."""
    op.add_column("workflows", sa.Column("deaths", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("workflows", sa.Column("documents_seen", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("workflows", sa.Column("parked_for", sa.Text()))
    op.add_column("workflows", sa.Column("parked_since", sa.DateTime(timezone=True)))
    op.add_column("workflows", sa.Column("not_before", sa.DateTime(timezone=True)))
    op.add_column("workflows", sa.Column("waited_seconds", sa.Float(), nullable=False, server_default="0"))
    op.add_column(
        "workflows", sa.Column("projection_due", sa.Boolean(), nullable=False, server_default="false")
    )
    op.drop_constraint(op.f("workflows_status_check"), "workflows")
    op.create_check_constraint(op.f("workflows_status_check"), "workflows", _STATUSES)
    op.add_column("runners", sa.Column("machine", sa.Text()))
    op.add_column("runners", sa.Column("process_started", sa.BigInteger()))
    op.create_table(
        "lease_clock",
        sa.Column("one", sa.Boolean(), server_default="true", nullable=False),
        sa.Column("running_since", sa.DateTime(timezone=True), nullable=False),
        sa.Column("renewed_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("one", name=op.f("lease_clock_pkey")),
        sa.CheckConstraint("one", name=op.f("lease_clock_one_check")),
    )
    op.execute("INSERT INTO lease_clock (running_since, renewed_at) VALUES (now(), now())")
    # Publishing has the one gate there was; the last release's code writes it by default.
    op.add_column("approvals", sa.Column("gate", sa.Text(), nullable=False, server_default="publication"))
    op.execute("UPDATE approvals SET gate = 'gate/' || id WHERE kind <> 'publish_article'")
    op.create_unique_constraint(op.f("approvals_workflow_id_gate_key"), "approvals", ["workflow_id", "gate"])


def downgrade() -> None:
    """Take away what was added. Parked workflows are queued."""
    op.drop_constraint(op.f("approvals_workflow_id_gate_key"), "approvals")
    op.drop_column("approvals", "gate")
    op.drop_table("lease_clock")
    op.drop_column("runners", "process_started")
    op.drop_column("runners", "machine")
    op.execute("UPDATE workflows SET status = 'queued' WHERE status = 'parked'")
    op.drop_constraint(op.f("workflows_status_check"), "workflows")
    op.create_check_constraint(
        op.f("workflows_status_check"),
        "workflows",
        "status IN ('queued', 'running', 'waiting', 'succeeded', 'failed', 'cancelled')",
    )
    for column in (
        "projection_due",
        "waited_seconds",
        "not_before",
        "parked_since",
        "parked_for",
        "documents_seen",
        "deaths",
    ):
        op.drop_column("workflows", column)
