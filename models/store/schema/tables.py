"""The tables of workflows, approvals and events. The baseline of the migrations makes what is declared here.

Queries are written as SQL in the other modules of this package: the hot ones are single statements
that fence and write at once, and all of them read better as the SQL they are.
"""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from models.store.schema.columns import PASSING, column_text, column_when, metadata

workflows = sa.Table(
    "workflows",
    metadata,
    column_text("id", primary_key=True),
    column_text("kind"),
    column_text("key", nullable=True),
    sa.Column("input", JSONB, nullable=False),
    column_text("input_digest"),
    column_text("requested_by"),
    column_text("status"),
    sa.Column("epoch", sa.BigInteger, nullable=False, server_default="0"),
    column_text("runner_id", nullable=True),
    sa.Column("result", JSONB),
    column_text("error", nullable=True),
    # How many runners in a row died with it and left no new document.
    sa.Column("deaths", sa.Integer, nullable=False, server_default="0"),
    # What a parked workflow waits for, since when, and when it is tried again.
    column_text("parked_for", nullable=True),
    column_when("parked_since", nullable=True),
    column_when("not_before", nullable=True),
    # For how long it has been tried in vain, pauses included: not while nobody was there to try.
    sa.Column("waited_seconds", sa.Float, nullable=False, server_default="0"),
    # Whether the files that tell of its end are still to be written.
    sa.Column("projection_due", sa.Boolean, nullable=False, server_default="false"),
    # What its requester must still be allowed when it resumes; see `models.runtime.workflows.Permission`.
    sa.Column("permission", JSONB),
    column_when("created_at", default=True),
    column_when("updated_at", default=True),
    column_when("started_at", nullable=True),
    column_when("finished_at", nullable=True),
    # Absent: it was not. From then on it is counted how long it takes.
    column_when("begun_again_at", nullable=True),
    # What asked for it, as W3C Trace Context has it; where the site is traced.
    column_text("traceparent", nullable=True),
    sa.CheckConstraint(
        "status IN ('queued', 'running', 'waiting', 'parked', 'succeeded', 'failed', 'cancelled')",
        name="status",
    ),
    # Every step locks and so rewrites its row's header: leave room for that on the page.
    postgresql_with={"fillfactor": "70"},
)
sa.Index(
    "workflows_open_key_idx",
    workflows.c.key,
    unique=True,
    postgresql_where=sa.text("status IN ('queued', 'running', 'waiting', 'parked')"),
)
# What a claim looks for: what waits its turn, what is due again, and what a runner has that may be dead.
sa.Index(
    "workflows_queued_idx",
    workflows.c.kind,
    workflows.c.created_at,
    postgresql_where=sa.text("status = 'queued'"),
)
sa.Index(
    "workflows_due_idx",
    workflows.c.kind,
    workflows.c.not_before,
    postgresql_where=sa.text("status = 'parked'"),
)
sa.Index(
    "workflows_held_idx",
    workflows.c.runner_id,
    workflows.c.kind,
    # Not `status = 'running'`: on a site without statistics a fence would look there for its one row, too.
    postgresql_where=sa.text("runner_id IS NOT NULL"),
)
sa.Index(
    "workflows_projection_due_idx",
    workflows.c.finished_at,
    postgresql_where=sa.text("projection_due"),
)
sa.Index("workflows_key_created_at_idx", workflows.c.key, workflows.c.created_at)
sa.Index("workflows_requested_by_created_at_idx", workflows.c.requested_by, workflows.c.created_at)
sa.Index("workflows_created_at_id_idx", workflows.c.created_at.desc(), workflows.c.id)
sa.Index(
    "workflows_finished_at_id_idx",
    workflows.c.finished_at,
    workflows.c.id,
    postgresql_where=sa.text("finished_at IS NOT NULL"),
)

runners = sa.Table(
    "runners",
    metadata,
    column_text("id", primary_key=True),
    column_text("name"),
    column_text("node"),
    sa.Column("pid", sa.Integer, nullable=False),
    # With `pid`, what proves on the same machine that it is dead; see `actors.platform.runtime.process`.
    column_text("machine", nullable=True),
    sa.Column("process_started", sa.BigInteger),
    column_when("started_at", default=True),
    column_when("lease_until"),
)

# One row: since when leases have been renewed without a gap. What could not be renewed has not run out.
lease_clock = sa.Table(
    "lease_clock",
    metadata,
    sa.Column("one", sa.Boolean, primary_key=True, server_default="true"),
    column_when("running_since"),
    column_when("renewed_at"),
    sa.CheckConstraint("one", name="one"),
)

batches = sa.Table(
    "batches",
    metadata,
    column_text("id", primary_key=True),
    column_text("requested_by"),
    column_when("created_at", default=True),
    column_when("lease_until"),
)

batch_workflows = sa.Table(
    "batch_workflows",
    metadata,
    sa.Column("batch_id", sa.Text, sa.ForeignKey("batches.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("workflow_id", sa.Text, sa.ForeignKey("workflows.id", ondelete="CASCADE"), primary_key=True),
)
sa.Index("batch_workflows_workflow_id_idx", batch_workflows.c.workflow_id)

documents = sa.Table(
    "documents",
    metadata,
    sa.Column("workflow_id", sa.Text, sa.ForeignKey("workflows.id", ondelete="CASCADE"), primary_key=True),
    column_text("key", primary_key=True),
    sa.Column("value", JSONB, nullable=False),
    column_when("created_at", default=True),
    # The epoch of the claim that has kept it before any other; absent on those that follow.
    sa.Column("first_of", sa.BigInteger),
)
sa.Index(
    "documents_first_of_idx",
    documents.c.workflow_id,
    documents.c.first_of,
    postgresql_where=sa.text("first_of IS NOT NULL"),
)

model_calls = sa.Table(
    "model_calls",
    metadata,
    sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
    # Of a workflow's step, or of an answer in a chat; of neither where an OpenAI client keeps the chat, or
    # where a tool made it.
    sa.Column("workflow_id", sa.Text, sa.ForeignKey("workflows.id", ondelete="CASCADE")),
    sa.Column("message_id", sa.BigInteger, sa.ForeignKey("messages.id", ondelete="CASCADE")),
    column_text("step"),
    column_text("agent"),
    column_text("model"),
    column_text("prompt_sha256"),
    sa.Column("prompt_tokens", sa.Integer, nullable=False),
    sa.Column("completion_tokens", sa.Integer, nullable=False),
    sa.Column("latency_seconds", sa.Double, nullable=False),
    column_text("error", nullable=True),
    column_when("at", default=True),
)
sa.Index("model_calls_workflow_id_idx", model_calls.c.workflow_id)
sa.Index("model_calls_message_id_idx", model_calls.c.message_id)

approvals = sa.Table(
    "approvals",
    metadata,
    column_text("id", primary_key=True),
    sa.Column("workflow_id", sa.Text, sa.ForeignKey("workflows.id", ondelete="CASCADE"), nullable=False),
    # The name of the gate that waits for it.
    column_text("gate"),
    column_text("kind"),
    # What it is about, such as `article:17`, and how the inbox names it.
    column_text("about", nullable=True),
    sa.Column("title", sa.Text, nullable=False, server_default=""),
    sa.Column("content", JSONB, nullable=False),
    column_text("digest"),
    column_text("requested_by"),
    column_text("required_scope"),
    sa.Column("four_eyes", sa.Boolean, nullable=False),
    sa.Column("quorum", sa.Integer, nullable=False, server_default="1"),
    # Why it is void, and what changed.
    sa.Column("void_reason", JSONB),
    # What the gate asked for, where somebody has amended it: `content` is what he made of that.
    sa.Column("asked", JSONB),
    column_text("amended_by", nullable=True),
    # What was decided besides yes and no, where the kind has more to say: what is to be done again.
    sa.Column("answer", JSONB),
    column_text("status"),
    column_text("decided_by", nullable=True),
    column_text("notes", nullable=True),
    column_when("created_at", default=True),
    column_when("expires_at"),
    column_when("decided_at", nullable=True),
    sa.UniqueConstraint("workflow_id", "gate"),
    sa.CheckConstraint("status IN ('pending', 'approved', 'rejected', 'expired', 'void')", name="status"),
)
sa.Index("approvals_pending_idx", approvals.c.expires_at, postgresql_where=sa.text("status = 'pending'"))
sa.Index("approvals_about_idx", approvals.c.about, approvals.c.created_at)
# Short numbers, as people type them.
approval_numbers = sa.Sequence("approval_numbers", metadata=metadata)

approval_votes = sa.Table(
    "approval_votes",
    metadata,
    sa.Column("approval_id", sa.Text, sa.ForeignKey("approvals.id", ondelete="CASCADE"), primary_key=True),
    column_text("voter", primary_key=True),
    column_text("decision"),
    column_text("notes", nullable=True),
    column_when("at", default=True),
    sa.CheckConstraint("decision IN ('approve', 'reject')", name="decision"),
)


def _event_columns() -> "list[sa.Column[Any]]":
    return [
        sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
        column_text("workflow_id", nullable=True),
        column_text("type"),
        # Who may see it: whoever has `role` on `topic`, and `person`. Without a topic: `role` on all topics.
        column_text("topic", nullable=True),
        sa.Column("role", sa.Text, nullable=False, server_default="reader"),
        column_text("person", nullable=True),
        sa.Column("data", JSONB, nullable=False),
        column_when("at", default=True),
    ]


# An event's id is its place in the one order: it is given when a committed row of `incoming_events` is
# moved here (`store.events.move`). What is inserted here directly is diverted there by a trigger.
events = sa.Table("events", metadata, *_event_columns())
sa.Index("events_workflow_id_id_idx", events.c.workflow_id, events.c.id)
sa.Index(
    "events_article_id_idx",
    sa.text("(data ->> 'article_id')"),
    events.c.id,
    postgresql_where=sa.text("data ? 'article_id'"),
)
incoming_events = sa.Table("incoming_events", metadata, *_event_columns(), postgresql_with=PASSING)
