"""The schema of research: what was asked for, found, decided, done and said. Seed 002 §4.

The seed's `workflow_states` are a workflow's documents. The rest of `models.store.schema.tables`, on the
same metadata. Each row goes with its research, and that with its workflow.
"""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from models.store.schema.columns import column_text, column_when, metadata


def _research(*, primary_key: bool = False) -> "sa.Column[int]":
    reference = sa.ForeignKey("agent_workflows.id", ondelete="CASCADE")
    return sa.Column("research_id", sa.BigInteger, reference, nullable=False, primary_key=primary_key)


# A research: its number is what people and programs call it, its workflow is what runs.
agent_workflows = sa.Table(
    "agent_workflows",
    metadata,
    sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
    sa.Column(
        "workflow_id", sa.Text, sa.ForeignKey("workflows.id", ondelete="CASCADE"), nullable=False, unique=True
    ),
    sa.Column("project_id", sa.BigInteger, sa.ForeignKey("projects.id", ondelete="CASCADE"), nullable=False),
    column_text("topic"),
    column_text("name"),
    # Absent until it is told from the query, where the request gave none.
    column_text("task_type", nullable=True),
    column_text("requested_by"),
    # What whoever asked calls this request: the same one again is the same research.
    column_text("request_id", nullable=True),
    sa.Column("parent_id", sa.BigInteger, sa.ForeignKey("agent_workflows.id", ondelete="SET NULL")),
    column_when("created_at", default=True),
    # What the query is taken to ask for, and how that was found.
    sa.Column("intent", JSONB),
    sa.CheckConstraint("task_type IN ('research', 'scrape', 'analyze', 'full_pipeline')", name="task_type"),
    sa.UniqueConstraint("requested_by", "request_id"),
)
sa.Index("agent_workflows_parent_id_idx", agent_workflows.c.parent_id)
sa.Index("agent_workflows_project_id_idx", agent_workflows.c.project_id)
sa.Index("agent_workflows_topic_idx", agent_workflows.c.topic, agent_workflows.c.id)

url_candidates = sa.Table(
    "url_candidates",
    metadata,
    _research(primary_key=True),
    # The address's place in the list that is decided on, from 1.
    sa.Column("number", sa.Integer, primary_key=True),
    column_text("url"),
    column_text("title"),
    sa.Column("relevance_score", sa.Double, nullable=False),
    column_text("source"),
    # The rest of what it was shown with.
    sa.Column("metadata", JSONB, nullable=False, server_default="{}"),
    column_text("user_approval"),
    # Who let it in, or kept it out, and by which approval; absent where no gate stood.
    column_text("decided_by", nullable=True),
    sa.Column("approval_id", sa.Text, sa.ForeignKey("approvals.id", ondelete="SET NULL")),
    # What came of it: a source of the project, or a fault.
    sa.Column("source_id", sa.BigInteger, sa.ForeignKey("sources.id", ondelete="SET NULL")),
    column_text("fault", nullable=True),
    column_text("reason", nullable=True),
    column_when("created_at", default=True),
    sa.UniqueConstraint("research_id", "url"),
    sa.CheckConstraint("user_approval IN ('pending', 'approved', 'rejected')", name="user_approval"),
)
sa.Index("url_candidates_source_id_idx", url_candidates.c.source_id)
sa.Index("url_candidates_approval_id_idx", url_candidates.c.approval_id)

research_tasks = sa.Table(
    "research_tasks",
    metadata,
    _research(primary_key=True),
    # Its place in the plan, from 1.
    sa.Column("number", sa.Integer, primary_key=True),
    # The step: `task_type` of the seed.
    column_text("step"),
    column_text("description"),
    column_text("assigned_agent", nullable=True),
    column_text("status"),
    sa.Column("result", JSONB),
    column_when("started_at", nullable=True),
    column_when("completed_at", nullable=True),
    sa.UniqueConstraint("research_id", "step"),
    sa.CheckConstraint("status IN ('planned', 'running', 'done', 'skipped')", name="status"),
)

agent_messages = sa.Table(
    "agent_messages",
    metadata,
    sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
    _research(),
    column_text("agent_type"),
    column_text("step"),
    column_text("content"),
    column_text("reasoning"),
    sa.Column("metadata", JSONB, nullable=False, server_default="{}"),
    column_when("created_at", default=True),
)
sa.Index("agent_messages_research_id_idx", agent_messages.c.research_id, agent_messages.c.id)

workflow_tools = sa.Table(
    "workflow_tools",
    metadata,
    sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
    _research(),
    column_text("tool_name"),
    column_text("agent_type"),
    sa.Column("input", JSONB, nullable=False),
    sa.Column("output", JSONB),
    column_text("status"),
    column_text("error_message", nullable=True),
    sa.Column("duration_ms", sa.Integer, nullable=False),
    column_when("created_at", default=True),
    sa.CheckConstraint("status IN ('ok', 'failed')", name="status"),
)
sa.Index("workflow_tools_research_id_idx", workflow_tools.c.research_id, workflow_tools.c.id)

# What a research rests on, as it was then: a source that is fetched anew or deleted takes none of it away.
research_points = sa.Table(
    "research_points",
    metadata,
    _research(primary_key=True),
    # The point's id in the project, by which sentences and nodes name it.
    sa.Column("point_id", sa.BigInteger, primary_key=True),
    column_text("kind"),
    column_text("said"),
    column_text("subject", nullable=True),
    column_text("object", nullable=True),
    sa.Column("score", sa.Double, nullable=False),
    sa.Column("start", sa.Integer, nullable=False),
    sa.Column("end", sa.Integer, nullable=False),
    column_text("quote"),
    sa.Column("source_id", sa.BigInteger, sa.ForeignKey("sources.id", ondelete="SET NULL")),
    column_text("title", nullable=True),
    column_text("url"),
    column_text("final_url", nullable=True),
    # Of the text that the span is in, and of the bytes that were fetched.
    column_text("text_sha256"),
    column_text("sha256", nullable=True),
)
sa.Index("research_points_source_id_idx", research_points.c.source_id)

knowledge_trees = sa.Table(
    "knowledge_trees",
    metadata,
    sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
    sa.Column("project_id", sa.BigInteger, sa.ForeignKey("projects.id", ondelete="CASCADE"), nullable=False),
    sa.Column("research_id", sa.BigInteger, sa.ForeignKey("agent_workflows.id", ondelete="SET NULL")),
    column_text("title"),
    sa.Column("tree", JSONB, nullable=False),
    column_when("created_at", default=True),
    column_when("grown_at", default=True),
)
sa.Index("knowledge_trees_project_id_idx", knowledge_trees.c.project_id)
sa.Index("knowledge_trees_research_id_idx", knowledge_trees.c.research_id)

research_sentences = sa.Table(
    "research_sentences",
    metadata,
    _research(primary_key=True),
    # Its place in the whole synthesis, from 1.
    sa.Column("number", sa.Integer, primary_key=True),
    column_text("node"),
    column_text("heading"),
    column_text("text"),
    sa.Column("points", sa.ARRAY(sa.BigInteger), nullable=False),
    column_text("outcome"),
    column_text("reason"),
    sa.CheckConstraint("outcome IN ('kept', 'rewritten', 'dropped', 'unverified')", name="outcome"),
)
