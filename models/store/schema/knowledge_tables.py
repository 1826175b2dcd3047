"""The schema of knowledge: projects, the sources that they hold, and what is known from these.

What is known goes with its source, and with nothing else: every row names it, and falls with it.
The rest of `models.store.schema.tables`, on the same metadata.
"""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from models.store.schema.columns import column_text, column_when, column_words, metadata

projects = sa.Table(
    "projects",
    metadata,
    sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
    column_text("topic"),
    column_text("name"),
    column_text("created_by"),
    column_when("created_at", default=True),
    sa.UniqueConstraint("topic", "name"),
)

sources = sa.Table(
    "sources",
    metadata,
    sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
    sa.Column("project_id", sa.BigInteger, sa.ForeignKey("projects.id", ondelete="CASCADE"), nullable=False),
    # Its one form, ASCII and at most 2,000 characters: so an index holds it.
    column_text("url"),
    # The batch, or the call, that it is fetched by, or was; while its lease lives no other fetches it.
    sa.Column("batch_id", sa.Text, sa.ForeignKey("batches.id", ondelete="SET NULL")),
    column_when("asked_at", default=True),
    # When it came to what it is: a text, or a fault. Absent while it is fetched.
    column_when("settled_at", nullable=True),
    column_text("final_url", nullable=True),
    column_text("engine", nullable=True),
    sa.Column("status", sa.Integer),
    column_text("content_type", nullable=True),
    column_text("sha256", nullable=True),
    sa.Column("bytes", sa.BigInteger, nullable=False, server_default="0"),
    column_when("fetched_at", nullable=True),
    column_text("title", nullable=True),
    column_text("author", nullable=True),
    column_text("date", nullable=True),
    column_text("language", nullable=True),
    column_text("text", nullable=True),
    column_text("text_sha256", nullable=True),
    sa.Column("links", ARRAY(sa.Text), nullable=False, server_default="{}"),
    sa.Column("redacted", JSONB, nullable=False, server_default="{}"),
    column_text("fault", nullable=True),
    column_text("reason", nullable=True),
    # What of the page its text holds.
    sa.Column("coverage", JSONB),
    # What the passages of its present text were made with, and its points; absent: they are still to be made.
    column_text("indexed_with", nullable=True),
    column_text("extracted_with", nullable=True),
    sa.UniqueConstraint("project_id", "url"),
    sa.CheckConstraint("engine IN ('http', 'browser', 'firecrawl')", name="engine"),
)
sa.Index("sources_batch_id_idx", sources.c.batch_id)


def _of(table: str, *, nullable: bool = False, name: str | None = None) -> "sa.Column[int]":
    """The id of a row of another table, with which this one goes."""
    name = name or f"{table.rstrip('s')}_id"
    reference = sa.ForeignKey(f"{table}.id", ondelete="CASCADE")
    return sa.Column(name, sa.BigInteger, reference, nullable=nullable)


def _offset(name: str, *, nullable: bool = False) -> "sa.Column[int]":
    """A place in a source's text, in characters."""
    return sa.Column(name, sa.Integer, nullable=nullable)


index_segments = sa.Table(
    "index_segments",
    metadata,
    sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
    _of("projects"),
    column_text("kind"),
    # Under `knowledge.index.dir`.
    column_text("file"),
    column_text("sha256"),
    sa.Column("vectors", sa.Integer, nullable=False),
    sa.Column("bytes", sa.BigInteger, nullable=False),
    # How much of the true nearest ten it finds, as measured, and how it is asked for that.
    sa.Column("recall", sa.Double, nullable=False),
    sa.Column("effort", sa.Integer, nullable=False),
    # The embedding model, and how texts were cut for it.
    column_text("made_with"),
    column_when("made_at", default=True),
    sa.CheckConstraint("kind IN ('flat', 'ivf', 'hnsw')", name="kind"),
)
sa.Index("index_segments_project_id_idx", index_segments.c.project_id)

source_passages = sa.Table(
    "source_passages",
    metadata,
    sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
    _of("projects"),
    _of("sources"),
    _offset("start"),
    _offset("end"),
    column_text("text"),
    column_words("text"),
    # 32-bit floats, little endian, of length 1.
    sa.Column("vector", sa.LargeBinary, nullable=False),
    # The segment that holds its vector; absent: none yet.
    sa.Column("segment_id", sa.BigInteger, sa.ForeignKey("index_segments.id", ondelete="SET NULL")),
    sa.UniqueConstraint("source_id", "start"),
)
sa.Index("source_passages_words_idx", source_passages.c.words, postgresql_using="gin")
sa.Index("source_passages_project_id_idx", source_passages.c.project_id, source_passages.c.id)
sa.Index("source_passages_segment_id_idx", source_passages.c.segment_id)

knowledge_chunks = sa.Table(
    "knowledge_chunks",
    metadata,
    sa.Column("source_id", sa.ForeignKey("sources.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("start", sa.Integer, primary_key=True),
    _offset("end"),
    sa.Column("dropped", JSONB, nullable=False, server_default="{}"),
)

knowledge_entities = sa.Table(
    "knowledge_entities",
    metadata,
    sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
    _of("projects"),
    _of("sources"),
    column_text("name"),
    column_text("entity_type"),
    sa.Column("aliases", ARRAY(sa.Text), nullable=False, server_default="{}"),
    sa.Column("mentions", sa.Integer, nullable=False),
    # Of its name; absent: not embedded yet.
    sa.Column("vector", sa.LargeBinary),
    column_text("embedded_with", nullable=True),
)
for _column in ("project_id", "source_id"):
    sa.Index(f"knowledge_entities_{_column}_idx", knowledge_entities.c[_column])

entity_merges = sa.Table(
    "entity_merges",
    metadata,
    sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
    _of("projects"),
    _of("knowledge_entities", name="winner_id"),
    _of("knowledge_entities", name="merged_id"),
    _of("knowledge_entities", name="like_id"),
    column_text("reason"),
    sa.Column("score", sa.Double),
    column_when("made_at", default=True),
    # A person said that they are two: they are not merged again.
    column_when("undone_at", nullable=True),
    column_text("undone_by", nullable=True),
    sa.CheckConstraint("reason IN ('same_name', 'alias', 'spelling', 'meaning')", name="reason"),
)
sa.Index(
    "entity_merges_one_winner_idx",
    entity_merges.c.merged_id,
    unique=True,
    postgresql_where=sa.text("undone_at IS NULL"),
)
for _column in ("project_id", "winner_id", "merged_id", "like_id"):
    sa.Index(f"entity_merges_{_column}_idx", entity_merges.c[_column])

knowledge_points = sa.Table(
    "knowledge_points",
    metadata,
    sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
    _of("projects"),
    _of("sources"),
    column_text("kind"),
    sa.Column("score", sa.Double, nullable=False),
    _offset("start"),
    _offset("end"),
    column_text("quote"),
    # What it says: a statement, a label, a name, or what joins two entities.
    column_text("said"),
    column_words("said quote"),
    _of("knowledge_entities", name="entity_id", nullable=True),
    _of("knowledge_entities", name="subject_id", nullable=True),
    _of("knowledge_entities", name="object_id", nullable=True),
    # Who saved it; absent: it was extracted.
    column_text("saved_by", nullable=True),
    column_when("made_at", default=True),
    sa.CheckConstraint("kind IN ('entity', 'relationship', 'fact', 'category', 'insight')", name="kind"),
)
sa.Index("knowledge_points_words_idx", knowledge_points.c.words, postgresql_using="gin")
for _column in ("project_id", "source_id", "entity_id", "subject_id", "object_id"):
    sa.Index(f"knowledge_points_{_column}_idx", knowledge_points.c[_column])
