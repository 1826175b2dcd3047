"""Chat: conversations and messages, model calls of answers, and where a resource is published."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None
phase = "before"

_PUBLISHED_IN = """
    UPDATE resources r SET published_in = p.topics FROM (
        SELECT ar.resource_id, array_agg(DISTINCT a.topic ORDER BY a.topic) AS topics
        FROM article_resources ar
        JOIN articles a ON a.id = ar.article_id AND a.published_version = ar.version
        GROUP BY ar.resource_id) p
    WHERE p.resource_id = r.id
"""


def _when(name: str) -> "sa.Column[object]":
    return sa.Column(name, sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False)


def upgrade() -> None:
    """Make the tables, and say of every resource where it is published."""
    op.create_table(
        "conversations",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        _when("created_at"),
        _when("updated_at"),
        sa.PrimaryKeyConstraint("id", name=op.f("conversations_pkey")),
    )
    op.create_index("conversations_owner_updated_at_idx", "conversations", ["owner", "updated_at"])
    op.create_table(
        "messages",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("conversation_id", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("request_id", sa.Text(), nullable=True),
        sa.Column("answers", sa.BigInteger(), nullable=True),
        sa.Column("status", sa.Text(), nullable=True),
        sa.Column("agent_type", sa.Text(), nullable=True),
        sa.Column("topic", sa.Text(), nullable=True),
        sa.Column("tools_used", postgresql.ARRAY(sa.Text()), server_default="{}", nullable=False),
        sa.Column("task_id", sa.Text(), nullable=True),
        sa.Column("workflow_state", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column("prompt_tokens", sa.Integer(), server_default="0", nullable=False),
        sa.Column("completion_tokens", sa.Integer(), server_default="0", nullable=False),
        _when("created_at"),
        sa.CheckConstraint("role IN ('user', 'assistant')", name=op.f("messages_role_check")),
        sa.CheckConstraint(
            "(role = 'assistant') = (answers IS NOT NULL)", name=op.f("messages_answers_check")
        ),
        sa.CheckConstraint(
            "(role = 'assistant') = (status IS NOT NULL AND agent_type IS NOT NULL)",
            name=op.f("messages_answered_check"),
        ),
        sa.ForeignKeyConstraint(
            ["conversation_id"],
            ["conversations.id"],
            name=op.f("messages_conversation_id_fkey"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["answers"], ["messages.id"], name=op.f("messages_answers_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("messages_pkey")),
        sa.UniqueConstraint("answers", name=op.f("messages_answers_key")),
    )
    op.create_index("messages_conversation_id_id_idx", "messages", ["conversation_id", "id"])
    op.create_index(
        "messages_owner_request_id_idx",
        "messages",
        ["owner", "request_id"],
        unique=True,
        postgresql_where=sa.text("request_id IS NOT NULL"),
    )
    op.create_index("workflows_requested_by_created_at_idx", "workflows", ["requested_by", "created_at"])
    op.alter_column("model_calls", "workflow_id", existing_type=sa.Text(), nullable=True)
    op.add_column("model_calls", sa.Column("message_id", sa.BigInteger(), nullable=True))
    op.create_foreign_key(
        op.f("model_calls_message_id_fkey"),
        "model_calls",
        "messages",
        ["message_id"],
        ["id"],
        ondelete="CASCADE",
    )
    op.create_index("model_calls_message_id_idx", "model_calls", ["message_id"])
    op.add_column(
        "resources",
        sa.Column("published_in", postgresql.ARRAY(sa.Text()), server_default="{}", nullable=False),
    )
    op.execute(_PUBLISHED_IN)


def downgrade() -> None:
    """Take it all away again."""
    op.drop_column("resources", "published_in")
    op.drop_index("model_calls_message_id_idx", "model_calls")
    op.drop_constraint(op.f("model_calls_message_id_fkey"), "model_calls", type_="foreignkey")
    op.drop_column("model_calls", "message_id")
    op.execute("DELETE FROM model_calls WHERE workflow_id IS NULL")
    op.alter_column("model_calls", "workflow_id", existing_type=sa.Text(), nullable=False)
    op.drop_index("workflows_requested_by_created_at_idx", "workflows")
    op.drop_table("messages")
    op.drop_table("conversations")
