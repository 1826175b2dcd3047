"""The schema of chat: conversations and their messages.

The rest of `models.store.schema.tables`, on the same metadata.
"""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from models.store.schema.columns import column_text, column_when, metadata

conversations = sa.Table(
    "conversations",
    metadata,
    column_text("id", primary_key=True),
    # The subject of the token that began it; nobody else sees it.
    column_text("owner"),
    column_text("title"),
    column_when("created_at", default=True),
    column_when("updated_at", default=True),
)
sa.Index("conversations_owner_updated_at_idx", conversations.c.owner, conversations.c.updated_at)
sa.Index("conversations_updated_at_idx", conversations.c.updated_at)

messages = sa.Table(
    "messages",
    metadata,
    sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
    sa.Column(
        "conversation_id", sa.Text, sa.ForeignKey("conversations.id", ondelete="CASCADE"), nullable=False
    ),
    column_text("owner"),
    column_text("role"),
    column_text("content"),
    # The client's name for a user's message: the same one is answered once.
    column_text("request_id", nullable=True),
    # Of an answer: the message it answers, how it ended, who gave it and with what.
    sa.Column("answers", sa.BigInteger, sa.ForeignKey("messages.id", ondelete="CASCADE"), unique=True),
    column_text("status", nullable=True),
    column_text("agent_type", nullable=True),
    column_text("topic", nullable=True),
    sa.Column("tools_used", ARRAY(sa.Text), nullable=False, server_default="{}"),
    column_text("task_id", nullable=True),
    sa.Column("workflow_state", JSONB),
    sa.Column("prompt_tokens", sa.Integer, nullable=False, server_default="0"),
    sa.Column("completion_tokens", sa.Integer, nullable=False, server_default="0"),
    column_when("created_at", default=True),
    sa.CheckConstraint("role IN ('user', 'assistant')", name="role"),
    sa.CheckConstraint("(role = 'assistant') = (answers IS NOT NULL)", name="answers"),
    sa.CheckConstraint(
        "(role = 'assistant') = (status IS NOT NULL AND agent_type IS NOT NULL)", name="answered"
    ),
)
sa.Index("messages_conversation_id_id_idx", messages.c.conversation_id, messages.c.id)
# What the assistant asked a yes for, by what exactly it asked; conversation '' is kept by an OpenAI client.
chat_acts = sa.Table(
    "chat_acts",
    metadata,
    column_text("id", primary_key=True),
    column_text("person"),
    column_text("conversation_id"),
    column_text("question_digest"),
    sa.Column("act", JSONB, nullable=False),
    column_when("created_at", default=True),
    column_when("expires_at"),
    # The request that said yes.
    column_text("taken_by", nullable=True),
    sa.UniqueConstraint("person", "conversation_id", "question_digest"),
)
sa.Index("chat_acts_expires_at_idx", chat_acts.c.expires_at)

sa.Index(
    "messages_owner_request_id_idx",
    messages.c.owner,
    messages.c.request_id,
    unique=True,
    postgresql_where=sa.text("request_id IS NOT NULL"),
)
