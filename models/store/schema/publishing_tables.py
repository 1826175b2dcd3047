"""The schema of publishing: people, articles and resources, prompts, the record of calls, webhooks.

The rest of `models.store.schema.tables`, on the same metadata.
"""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from models.store.schema.columns import PASSING, column_text, column_when, column_words, metadata


def _number(name: str = "id") -> "sa.Column[int]":
    return sa.Column(name, sa.BigInteger, sa.Identity(), primary_key=True)


tonalities = sa.Table(
    "tonalities",
    metadata,
    _number(),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    column_text("text"),
)

topic_prompts = sa.Table(
    "topic_prompts",
    metadata,
    column_text("topic", primary_key=True),
    sa.Column("version", sa.Integer, primary_key=True, autoincrement=False),
    column_text("text"),
    column_text("edited_by"),
    column_when("edited_at", default=True),
)

users = sa.Table(
    "users",
    metadata,
    _number(),
    sa.Column("subject", sa.Text, nullable=False, unique=True),
    column_text("name"),
    column_text("email"),
    # As the newest token seen says, issued at `token_issued_at`: for the release before. See `grants`.
    sa.Column("scopes", ARRAY(sa.Text), nullable=False, server_default="{}"),
    column_when("token_issued_at", nullable=True),
    column_when("seen_at", nullable=True),
    sa.Column("chat_tonality_id", sa.BigInteger, sa.ForeignKey("tonalities.id", ondelete="SET NULL")),
    sa.Column("content_tonality_id", sa.BigInteger, sa.ForeignKey("tonalities.id", ondelete="SET NULL")),
)

revocations = sa.Table(
    "revocations",
    metadata,
    sa.Column("user_id", sa.BigInteger, sa.ForeignKey("users.id", ondelete="CASCADE"), primary_key=True),
    # A scope, or `*` for all of them.
    column_text("scope", primary_key=True),
    column_text("reason"),
    column_text("revoked_by"),
    column_when("revoked_at", default=True),
)

articles = sa.Table(
    "articles",
    metadata,
    _number(),
    column_text("topic"),
    column_text("status"),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("published_version", sa.Integer),
    column_text("author"),
    # The approval that is asked for now, and the workflow that waits for it.
    column_text("approval_id", nullable=True),
    column_text("workflow_id", nullable=True),
    # The editorial workflow it was drafted by: a batch that runs again drafts nothing twice.
    sa.Column("drafted_by", sa.Text, unique=True),
    column_when("created_at", default=True),
    column_when("updated_at", default=True),
    column_when("submitted_at", nullable=True),
    column_text("submitted_by", nullable=True),
    column_when("published_at", nullable=True),
    sa.CheckConstraint("status IN ('draft', 'editor', 'pending_approval', 'published')", name="status"),
    sa.CheckConstraint("(status = 'pending_approval') = (approval_id IS NOT NULL)", name="pending"),
)
sa.Index("articles_topic_updated_at_idx", articles.c.topic, articles.c.updated_at)
sa.Index("articles_workflow_id_idx", articles.c.workflow_id)

article_versions = sa.Table(
    "article_versions",
    metadata,
    sa.Column(
        "article_id", sa.BigInteger, sa.ForeignKey("articles.id", ondelete="CASCADE"), primary_key=True
    ),
    sa.Column("version", sa.Integer, primary_key=True, autoincrement=False),
    column_text("headline"),
    column_text("keywords", nullable=True),
    column_text("content"),
    # What the editors said, where an editorial batch drafted it: final status, blocking concerns.
    sa.Column("editor_report", JSONB),
    # `quotes`: code put it together of its sources' own sentences. Whoever writes otherwise writes prose.
    sa.Column("written", sa.Text, nullable=False, server_default="prose"),
    # For whoever decides, and not for readers: what was not searched, what is sample data.
    sa.Column("desk_notes", sa.ARRAY(sa.Text), nullable=False, server_default="{}"),
    column_text("written_by"),
    column_when("written_at", default=True),
    # The embedding model that its passages were made with; absent while they are still to be made.
    column_text("indexed_with", nullable=True),
    column_words("headline keywords content"),
    sa.CheckConstraint("written IN ('quotes', 'prose')", name="written"),
)
sa.Index("article_versions_words_idx", article_versions.c.words, postgresql_using="gin")
sa.Index(
    "article_versions_to_index_idx",
    article_versions.c.article_id,
    postgresql_where=sa.text("indexed_with IS NULL"),
)

resources = sa.Table(
    "resources",
    metadata,
    _number(),
    column_text("kind"),
    column_text("name"),
    column_text("description", nullable=True),
    column_text("topic"),
    # A text, or a table as text, one line a row; never changed once written.
    column_text("content"),
    sa.Column("columns", JSONB),
    sa.Column("rows", JSONB),
    column_text("digest"),
    column_text("created_by"),
    column_when("created_at", default=True),
    column_text("indexed_with", nullable=True),
    column_words("name description content"),
    # The topics of the published articles that show it: readers of those see it. Kept by `store.resources`.
    sa.Column("published_in", ARRAY(sa.Text), nullable=False, server_default="{}"),
    sa.CheckConstraint("kind IN ('text', 'table')", name="kind"),
    sa.CheckConstraint("(kind = 'table') = (columns IS NOT NULL AND rows IS NOT NULL)", name="table"),
)
sa.Index("resources_words_idx", resources.c.words, postgresql_using="gin")
sa.Index("resources_to_index_idx", resources.c.id, postgresql_where=sa.text("indexed_with IS NULL"))

article_resources = sa.Table(
    "article_resources",
    metadata,
    sa.Column("article_id", sa.BigInteger, primary_key=True),
    sa.Column("version", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("resource_id", sa.BigInteger, sa.ForeignKey("resources.id"), primary_key=True),
    sa.Column("place", sa.Integer, nullable=False),
    # Whose right it rests on there; kept from version to version. Absent: the version's writer.
    column_text("attached_by", nullable=True),
    sa.ForeignKeyConstraint(
        ["article_id", "version"],
        ["article_versions.article_id", "article_versions.version"],
        ondelete="CASCADE",
    ),
)
sa.Index("article_resources_resource_id_idx", article_resources.c.resource_id)

passages = sa.Table(
    "passages",
    metadata,
    _number(),
    sa.Column("article_id", sa.BigInteger),
    sa.Column("version", sa.Integer),
    sa.Column("resource_id", sa.BigInteger, sa.ForeignKey("resources.id", ondelete="CASCADE")),
    sa.Column("place", sa.Integer, nullable=False),
    column_text("text"),
    # 32-bit floats, little-endian, of length 1.
    sa.Column("vector", sa.LargeBinary, nullable=False),
    sa.ForeignKeyConstraint(
        ["article_id", "version"],
        ["article_versions.article_id", "article_versions.version"],
        ondelete="CASCADE",
    ),
    sa.CheckConstraint("(article_id IS NULL) <> (resource_id IS NULL)", name="one_source"),
)
sa.Index("passages_article_id_version_idx", passages.c.article_id, passages.c.version)
sa.Index("passages_resource_id_idx", passages.c.resource_id)

tool_calls = sa.Table(
    "tool_calls",
    metadata,
    _number(),
    column_text("person"),
    column_text("tool"),
    column_text("door"),
    column_text("topic", nullable=True),
    column_text("about", nullable=True),
    column_text("input_digest"),
    # `ok`, or the name of the error.
    column_text("status"),
    column_text("error", nullable=True),
    sa.Column("seconds", sa.Double, nullable=False),
    column_when("at", default=True),
)
sa.Index("tool_calls_about_idx", tool_calls.c.about, tool_calls.c.id)
sa.Index("tool_calls_person_idx", tool_calls.c.person, tool_calls.c.id)

# Calls that `/metrics` has still to count, and what it has counted: by the upper end of their duration.
incoming_tool_calls = sa.Table(
    "incoming_tool_calls",
    metadata,
    _number(),
    column_text("tool"),
    column_text("door"),
    column_text("status"),
    sa.Column("seconds", sa.Double, nullable=False),
    postgresql_with=PASSING,
)
tool_call_counts = sa.Table(
    "tool_call_counts",
    metadata,
    column_text("tool", primary_key=True),
    column_text("door", primary_key=True),
    column_text("status", primary_key=True),
    sa.Column("up_to_seconds", sa.Double, primary_key=True),
    sa.Column("calls", sa.BigInteger, nullable=False),
    sa.Column("seconds", sa.Double, nullable=False),
)

rate_limits = sa.Table(
    "rate_limits",
    metadata,
    column_text("person", primary_key=True),
    column_text("tool", primary_key=True),
    # When the bucket will be empty again (the generic cell rate algorithm's theoretical arrival time).
    column_when("empty_at"),
)

webhooks = sa.Table(
    "webhooks",
    metadata,
    _number(),
    column_text("name"),
    column_text("event_type"),
    column_text("url"),
    column_text("method"),
    sa.Column("headers", JSONB, nullable=False, server_default="{}"),
    sa.Column("is_active", sa.Boolean, nullable=False, server_default="true"),
    column_text("disabled_reason", nullable=True),
    column_text("topic", nullable=True),
    sa.Column("max_retries", sa.Integer, nullable=False),
    sa.Column("retry_delay_seconds", sa.Double, nullable=False),
    column_text("secret"),
    column_text("previous_secret", nullable=True),
    column_when("previous_secret_until", nullable=True),
    column_text("created_by"),
    column_when("created_at", default=True),
    column_when("updated_at", default=True),
)
sa.Index("webhooks_event_type_is_active_idx", webhooks.c.event_type, webhooks.c.is_active)

# The outbox: written in the transaction of the change that it tells of.
deliveries = sa.Table(
    "deliveries",
    metadata,
    column_text("id", primary_key=True),
    sa.Column("webhook_id", sa.BigInteger, sa.ForeignKey("webhooks.id", ondelete="CASCADE"), nullable=False),
    column_text("event_type"),
    column_text("body"),
    column_text("status"),
    sa.Column("attempts", sa.Integer, nullable=False, server_default="0"),
    column_when("next_attempt_at", default=True),
    # A dispatcher is sending it, until then.
    column_when("claimed_until", nullable=True),
    sa.Column("response_status", sa.Integer),
    column_text("error", nullable=True),
    column_when("created_at", default=True),
    column_when("ended_at", nullable=True),
    sa.CheckConstraint("status IN ('pending', 'delivered', 'dead')", name="status"),
)
# By webhook, so that a long queue for one is never looked through for another's.
sa.Index(
    "deliveries_due_idx",
    deliveries.c.webhook_id,
    deliveries.c.next_attempt_at,
    postgresql_where=sa.text("status = 'pending'"),
)
sa.Index("deliveries_webhook_id_created_at_idx", deliveries.c.webhook_id, deliveries.c.created_at)
sa.Index("deliveries_ended_at_idx", deliveries.c.ended_at, postgresql_where=sa.text("ended_at IS NOT NULL"))
