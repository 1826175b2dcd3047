"""The schema of operations: what was asked for, what iterations came to, and all that happened. Seed 003.

The rest of `models.store.schema.tables`, on the same metadata. Each row goes with its operation, and that
with its workflow.
"""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from models.store.schema.columns import column_text, column_when, metadata


def _operation(*, primary_key: bool = False) -> "sa.Column[int]":
    reference = sa.ForeignKey("operations.id", ondelete="CASCADE")
    return sa.Column("operation_id", sa.BigInteger, reference, nullable=False, primary_key=primary_key)


# An operation: its number is what people call it; its workflow, the seed's plan, is what runs.
operations = sa.Table(
    "operations",
    metadata,
    sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
    sa.Column(
        "workflow_id", sa.Text, sa.ForeignKey("workflows.id", ondelete="CASCADE"), nullable=False, unique=True
    ),
    column_text("topic"),
    column_text("name"),
    column_text("query"),
    column_text("task_type"),
    column_text("requested_by"),
    # What whoever asked calls this request: the same one again is the same operation.
    column_text("request_id", nullable=True),
    column_when("created_at", default=True),
    # How far it is, as it was told last; absent until its plan is made.
    sa.Column("progress", JSONB),
    sa.UniqueConstraint("requested_by", "request_id"),
)
sa.Index("operations_topic_idx", operations.c.topic, operations.c.id)

operation_iterations = sa.Table(
    "operation_iterations",
    metadata,
    _operation(primary_key=True),
    # From 1; a revision begins the next one.
    sa.Column("iteration", sa.Integer, primary_key=True),
    # The plan as it was approved, and what was compiled: absent until it was.
    sa.Column("plan", JSONB),
    sa.Column("results", JSONB),
    column_when("created_at", default=True),
)

# Never changed: what happened, in its order.
operation_history = sa.Table(
    "operation_history",
    metadata,
    sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
    _operation(),
    sa.Column("iteration", sa.Integer, nullable=False),
    column_text("stage"),
    column_text("agent", nullable=True),
    sa.Column("result", JSONB, nullable=False),
    column_text("user_feedback", nullable=True),
    # The person whose decision it is.
    column_text("by", nullable=True),
    column_when("created_at", default=True),
    sa.CheckConstraint(
        "stage IN ('plan_creation', 'plan_approval', 'agent_execution', 'results_compilation', "
        "'final_approval')",
        name="stage",
    ),
)
sa.Index("operation_history_operation_id_idx", operation_history.c.operation_id, operation_history.c.id)
