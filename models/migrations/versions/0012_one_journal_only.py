"""Once no runner of the last release is left: LangGraph's checkpoints go, and what only they needed."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None
phase = "after"


def upgrade() -> None:
    """Drop what nobody reads any more. The documents tell everything that the checkpoints told."""
    op.drop_table("checkpoint_writes")
    op.drop_table("checkpoints")
    op.drop_index("workflows_one_open_per_key_idx", table_name="workflows")
    op.drop_index("workflows_to_run_idx", table_name="workflows")
    op.drop_column("workflows", "resume")
    op.drop_constraint(op.f("approvals_workflow_id_interrupt_id_key"), "approvals")
    op.drop_column("approvals", "interrupt_id")
    op.alter_column("approvals", "gate", server_default=None)


def downgrade() -> None:
    """Make the tables and columns again, empty."""
    op.alter_column("approvals", "gate", server_default="publication")
    op.add_column("approvals", sa.Column("interrupt_id", sa.Text()))
    op.create_unique_constraint(
        op.f("approvals_workflow_id_interrupt_id_key"), "approvals", ["workflow_id", "interrupt_id"]
    )
    op.add_column("workflows", sa.Column("resume", sa.dialects.postgresql.JSONB()))
    op.create_index(
        "workflows_to_run_idx",
        "workflows",
        ["created_at"],
        postgresql_where=sa.text("status IN ('queued', 'running')"),
    )
    op.create_index(
        "workflows_one_open_per_key_idx",
        "workflows",
        ["key"],
        unique=True,
        postgresql_where=sa.text("status IN ('queued', 'running', 'waiting')"),
    )
    op.create_table(
        "checkpoints",
        *(
            sa.Column(name, sa.Text(collation="C"), nullable=False)
            for name in ("thread_id", "checkpoint_ns", "checkpoint_id")
        ),
        sa.Column("parent_checkpoint_id", sa.Text(collation="C")),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.Column("metadata", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("thread_id", "checkpoint_ns", "checkpoint_id", name=op.f("checkpoints_pkey")),
    )
    op.create_table(
        "checkpoint_writes",
        *(
            sa.Column(name, sa.Text(collation="C"), nullable=False)
            for name in ("thread_id", "checkpoint_ns", "checkpoint_id", "task_id")
        ),
        sa.Column("idx", sa.Integer(), nullable=False),
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("task_path", "channel", "type")),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint(
            "thread_id",
            "checkpoint_ns",
            "checkpoint_id",
            "task_id",
            "idx",
            name=op.f("checkpoint_writes_pkey"),
        ),
    )
