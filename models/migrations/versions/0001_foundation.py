"""The foundation: workflows, leases, checkpoints, documents, approvals, events."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from models.store.schema.columns import XID8

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None
phase = "before"


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "batches",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("requested_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("batches_pkey")),
    )
    op.create_table(
        "checkpoint_writes",
        sa.Column("thread_id", sa.Text(collation="C"), nullable=False),
        sa.Column("checkpoint_ns", sa.Text(collation="C"), nullable=False),
        sa.Column("checkpoint_id", sa.Text(collation="C"), nullable=False),
        sa.Column("task_id", sa.Text(collation="C"), nullable=False),
        sa.Column("idx", sa.Integer(), nullable=False),
        sa.Column("task_path", sa.Text(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
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
    op.create_table(
        "checkpoints",
        sa.Column("thread_id", sa.Text(collation="C"), nullable=False),
        sa.Column("checkpoint_ns", sa.Text(collation="C"), nullable=False),
        sa.Column("checkpoint_id", sa.Text(collation="C"), nullable=False),
        sa.Column("parent_checkpoint_id", sa.Text(collation="C"), nullable=True),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.Column("metadata", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("thread_id", "checkpoint_ns", "checkpoint_id", name=op.f("checkpoints_pkey")),
    )
    op.create_table(
        "events",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("xid", XID8(), server_default=sa.text("pg_current_xact_id()"), nullable=False),
        sa.Column("workflow_id", sa.Text(), nullable=True),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("data", postgresql.JSONB(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("events_pkey")),
    )
    op.create_index("events_workflow_id_id_idx", "events", ["workflow_id", "id"], unique=False)
    op.create_table(
        "runners",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("node", sa.Text(), nullable=False),
        sa.Column("pid", sa.Integer(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("runners_pkey")),
    )
    op.create_table(
        "workflows",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=True),
        sa.Column("input", postgresql.JSONB(), nullable=False),
        sa.Column("input_digest", sa.Text(), nullable=False),
        sa.Column("requested_by", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("epoch", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("runner_id", sa.Text(), nullable=True),
        sa.Column("resume", postgresql.JSONB(), nullable=True),
        sa.Column("result", postgresql.JSONB(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "status IN ('queued', 'running', 'waiting', 'succeeded', 'failed', 'cancelled')",
            name=op.f("workflows_status_check"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("workflows_pkey")),
        postgresql_with={"fillfactor": "70"},
    )
    op.create_index("workflows_key_created_at_idx", "workflows", ["key", "created_at"], unique=False)
    op.create_index(
        "workflows_one_open_per_key_idx",
        "workflows",
        ["key"],
        unique=True,
        postgresql_where=sa.text("status IN ('queued', 'running', 'waiting')"),
    )
    op.create_index(
        "workflows_to_run_idx",
        "workflows",
        ["created_at"],
        unique=False,
        postgresql_where=sa.text("status IN ('queued', 'running')"),
    )
    op.create_table(
        "approvals",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("workflow_id", sa.Text(), nullable=False),
        sa.Column("interrupt_id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("content", postgresql.JSONB(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("requested_by", sa.Text(), nullable=False),
        sa.Column("required_scope", sa.Text(), nullable=False),
        sa.Column("four_eyes", sa.Boolean(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("decided_by", sa.Text(), nullable=True),
        sa.Column("notes", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "status IN ('pending', 'approved', 'rejected', 'expired', 'void')",
            name=op.f("approvals_status_check"),
        ),
        sa.ForeignKeyConstraint(
            ["workflow_id"], ["workflows.id"], name=op.f("approvals_workflow_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("approvals_pkey")),
        sa.UniqueConstraint(
            "workflow_id", "interrupt_id", name=op.f("approvals_workflow_id_interrupt_id_key")
        ),
    )
    op.create_index(
        "approvals_pending_idx",
        "approvals",
        ["expires_at"],
        unique=False,
        postgresql_where=sa.text("status = 'pending'"),
    )
    op.create_table(
        "batch_workflows",
        sa.Column("batch_id", sa.Text(), nullable=False),
        sa.Column("workflow_id", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["batch_id"], ["batches.id"], name=op.f("batch_workflows_batch_id_fkey"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["workflow_id"],
            ["workflows.id"],
            name=op.f("batch_workflows_workflow_id_fkey"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("batch_id", "workflow_id", name=op.f("batch_workflows_pkey")),
    )
    op.create_index("batch_workflows_workflow_id_idx", "batch_workflows", ["workflow_id"], unique=False)
    op.create_table(
        "documents",
        sa.Column("workflow_id", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("value", postgresql.JSONB(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["workflow_id"], ["workflows.id"], name=op.f("documents_workflow_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("workflow_id", "key", name=op.f("documents_pkey")),
    )
    op.create_table(
        "model_calls",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("workflow_id", sa.Text(), nullable=False),
        sa.Column("step", sa.Text(), nullable=False),
        sa.Column("agent", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("prompt_sha256", sa.Text(), nullable=False),
        sa.Column("prompt_tokens", sa.Integer(), nullable=False),
        sa.Column("completion_tokens", sa.Integer(), nullable=False),
        sa.Column("latency_seconds", sa.Double(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["workflow_id"], ["workflows.id"], name=op.f("model_calls_workflow_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("model_calls_pkey")),
    )
    op.create_index("model_calls_workflow_id_idx", "model_calls", ["workflow_id"], unique=False)


def downgrade() -> None:
    """Drop them, with all they hold."""
    op.drop_index("model_calls_workflow_id_idx", table_name="model_calls")
    op.drop_table("model_calls")
    op.drop_table("documents")
    op.drop_index("batch_workflows_workflow_id_idx", table_name="batch_workflows")
    op.drop_table("batch_workflows")
    op.drop_index(
        "approvals_pending_idx", table_name="approvals", postgresql_where=sa.text("status = 'pending'")
    )
    op.drop_table("approvals")
    op.drop_index(
        "workflows_to_run_idx",
        table_name="workflows",
        postgresql_where=sa.text("status IN ('queued', 'running')"),
    )
    op.drop_index(
        "workflows_one_open_per_key_idx",
        table_name="workflows",
        postgresql_where=sa.text("status IN ('queued', 'running', 'waiting')"),
    )
    op.drop_index("workflows_key_created_at_idx", table_name="workflows")
    op.drop_table("workflows")
    op.drop_table("runners")
    op.drop_index("events_workflow_id_id_idx", table_name="events")
    op.drop_table("events")
    op.drop_table("checkpoints")
    op.drop_table("checkpoint_writes")
    op.drop_table("batches")
