"""The schema, as SQLAlchemy sees it. A test holds the migrations to it.

Queries are written as SQL in the other modules of this package: the hot ones are single statements
that fence and write at once, and all of them read better as the SQL they are.
"""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

metadata = sa.MetaData(
    naming_convention={
        "ix": "%(table_name)s_%(column_0_N_name)s_idx",
        "uq": "%(table_name)s_%(column_0_N_name)s_key",
        "ck": "%(table_name)s_%(constraint_name)s_check",
        "fk": "%(table_name)s_%(column_0_N_name)s_fkey",
        "pk": "%(table_name)s_pkey",
    }
)

_now = sa.text("now()")


class XID8(sa.types.UserDefinedType[str]):
    """Postgres' 64-bit transaction id."""

    cache_ok = True

    def get_col_spec(self, **_: object) -> str:
        """The type's SQL name."""
        return "xid8"


def _when(name: str, *, nullable: bool = False, default: bool = False) -> "sa.Column[object]":
    return sa.Column(
        name, sa.DateTime(timezone=True), nullable=nullable, server_default=_now if default else None
    )


def _text(name: str, *, nullable: bool = False, primary_key: bool = False) -> "sa.Column[str]":
    return sa.Column(name, sa.Text, nullable=nullable, primary_key=primary_key)


def _id(name: str, *, nullable: bool = False) -> "sa.Column[str]":
    """An id that is ordered byte by byte, whatever the database's locale."""
    return sa.Column(name, sa.Text(collation="C"), nullable=nullable, primary_key=not nullable)


workflows = sa.Table(
    "workflows",
    metadata,
    _text("id", primary_key=True),
    _text("kind"),
    _text("key", nullable=True),
    sa.Column("input", JSONB, nullable=False),
    _text("input_digest"),
    _text("requested_by"),
    _text("status"),
    sa.Column("epoch", sa.BigInteger, nullable=False, server_default="0"),
    _text("runner_id", nullable=True),
    sa.Column("resume", JSONB),
    sa.Column("result", JSONB),
    _text("error", nullable=True),
    _when("created_at", default=True),
    _when("updated_at", default=True),
    _when("started_at", nullable=True),
    _when("finished_at", nullable=True),
    sa.CheckConstraint(
        "status IN ('queued', 'running', 'waiting', 'succeeded', 'failed', 'cancelled')", name="status"
    ),
    # Every step locks and so rewrites its row's header: leave room for that on the page.
    postgresql_with={"fillfactor": "70"},
)
sa.Index(
    "workflows_one_open_per_key_idx",
    workflows.c.key,
    unique=True,
    postgresql_where=sa.text("status IN ('queued', 'running', 'waiting')"),
)
sa.Index(
    "workflows_to_run_idx",
    workflows.c.created_at,
    postgresql_where=sa.text("status IN ('queued', 'running')"),
)
sa.Index("workflows_key_created_at_idx", workflows.c.key, workflows.c.created_at)

runners = sa.Table(
    "runners",
    metadata,
    _text("id", primary_key=True),
    _text("name"),
    _text("node"),
    sa.Column("pid", sa.Integer, nullable=False),
    _when("started_at", default=True),
    _when("lease_until"),
)

batches = sa.Table(
    "batches",
    metadata,
    _text("id", primary_key=True),
    _text("requested_by"),
    _when("created_at", default=True),
    _when("lease_until"),
)

batch_workflows = sa.Table(
    "batch_workflows",
    metadata,
    sa.Column("batch_id", sa.Text, sa.ForeignKey("batches.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("workflow_id", sa.Text, sa.ForeignKey("workflows.id", ondelete="CASCADE"), primary_key=True),
)
sa.Index("batch_workflows_workflow_id_idx", batch_workflows.c.workflow_id)

checkpoints = sa.Table(
    "checkpoints",
    metadata,
    _id("thread_id"),
    _id("checkpoint_ns"),
    _id("checkpoint_id"),
    _id("parent_checkpoint_id", nullable=True),
    _text("type"),
    sa.Column("data", sa.LargeBinary, nullable=False),
    sa.Column("metadata", sa.LargeBinary, nullable=False),
)

checkpoint_writes = sa.Table(
    "checkpoint_writes",
    metadata,
    _id("thread_id"),
    _id("checkpoint_ns"),
    _id("checkpoint_id"),
    _id("task_id"),
    sa.Column("idx", sa.Integer, primary_key=True),
    _text("task_path"),
    _text("channel"),
    _text("type"),
    sa.Column("data", sa.LargeBinary, nullable=False),
)

documents = sa.Table(
    "documents",
    metadata,
    sa.Column("workflow_id", sa.Text, sa.ForeignKey("workflows.id", ondelete="CASCADE"), primary_key=True),
    _text("key", primary_key=True),
    sa.Column("value", JSONB, nullable=False),
    _when("created_at", default=True),
)

model_calls = sa.Table(
    "model_calls",
    metadata,
    sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
    sa.Column("workflow_id", sa.Text, sa.ForeignKey("workflows.id", ondelete="CASCADE"), nullable=False),
    _text("step"),
    _text("agent"),
    _text("model"),
    _text("prompt_sha256"),
    sa.Column("prompt_tokens", sa.Integer, nullable=False),
    sa.Column("completion_tokens", sa.Integer, nullable=False),
    sa.Column("latency_seconds", sa.Double, nullable=False),
    _text("error", nullable=True),
    _when("at", default=True),
)
sa.Index("model_calls_workflow_id_idx", model_calls.c.workflow_id)

approvals = sa.Table(
    "approvals",
    metadata,
    _text("id", primary_key=True),
    sa.Column("workflow_id", sa.Text, sa.ForeignKey("workflows.id", ondelete="CASCADE"), nullable=False),
    _text("interrupt_id"),
    _text("kind"),
    sa.Column("content", JSONB, nullable=False),
    _text("digest"),
    _text("requested_by"),
    _text("required_scope"),
    sa.Column("four_eyes", sa.Boolean, nullable=False),
    _text("status"),
    _text("decided_by", nullable=True),
    _text("notes", nullable=True),
    _when("created_at", default=True),
    _when("expires_at"),
    _when("decided_at", nullable=True),
    sa.UniqueConstraint("workflow_id", "interrupt_id"),
    sa.CheckConstraint("status IN ('pending', 'approved', 'rejected', 'expired', 'void')", name="status"),
)
sa.Index("approvals_pending_idx", approvals.c.expires_at, postgresql_where=sa.text("status = 'pending'"))

events = sa.Table(
    "events",
    metadata,
    sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
    # The writing transaction: readers stay below the oldest one still open, so no id appears late.
    sa.Column("xid", XID8, nullable=False, server_default=sa.text("pg_current_xact_id()")),
    _text("workflow_id", nullable=True),
    _text("type"),
    sa.Column("data", JSONB, nullable=False),
    _when("at", default=True),
)
sa.Index("events_workflow_id_id_idx", events.c.workflow_id, events.c.id)
