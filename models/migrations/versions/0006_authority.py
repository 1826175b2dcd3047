"""Authority: grants by client, who attached and submitted what, and acts that wait for a yes.

Old runners and replicas go on meanwhile: they read and write nothing that is new here.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None
phase = "before"

# What the newest token said, which client brought it is not known. It lasts until it is seen again.
_FIRST_GRANTS = """
    INSERT INTO grants (user_id, scope, client, issued_at, seen_at, lapses_at)
    SELECT u.id, s.scope, '', u.token_issued_at, coalesce(u.seen_at, now()), now() + interval '30 days'
    FROM users u, unnest(u.scopes) AS s(scope)
    ON CONFLICT DO NOTHING
"""


def _when(name: str, *, nullable: bool = False, default: bool = False) -> "sa.Column[object]":
    now = sa.text("now()") if default else None
    return sa.Column(name, sa.DateTime(timezone=True), server_default=now, nullable=nullable)


def upgrade() -> None:
    """Make the tables and columns; the scopes that are known become grants."""
    op.create_table(
        "token_clients",
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("client", sa.Text(), nullable=False),
        _when("issued_at", nullable=True),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("token_clients_user_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", "client", name=op.f("token_clients_pkey")),
    )
    op.create_table(
        "grants",
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("client", sa.Text(), nullable=False),
        _when("issued_at", nullable=True),
        _when("seen_at"),
        _when("lapses_at"),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("grants_user_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", "scope", "client", name=op.f("grants_pkey")),
    )
    op.create_table(
        "grant_source",
        sa.Column("one", sa.Boolean(), server_default="true", nullable=False),
        _when("read_at", nullable=True),
        _when("checked_at"),
        sa.Column("digest", sa.Text(), nullable=True),
        sa.Column("fault", sa.Text(), nullable=True),
        sa.CheckConstraint("one", name=op.f("grant_source_one_check")),
        sa.PrimaryKeyConstraint("one", name=op.f("grant_source_pkey")),
    )
    op.create_table(
        "listed_grants",
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("scopes", postgresql.ARRAY(sa.Text()), nullable=False),
        sa.PrimaryKeyConstraint("subject", name=op.f("listed_grants_pkey")),
    )
    op.create_table(
        "chat_acts",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("person", sa.Text(), nullable=False),
        sa.Column("conversation_id", sa.Text(), nullable=False),
        sa.Column("question_digest", sa.Text(), nullable=False),
        sa.Column("act", postgresql.JSONB(), nullable=False),
        _when("created_at", default=True),
        _when("expires_at"),
        sa.Column("taken_by", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("chat_acts_pkey")),
        sa.UniqueConstraint(
            "person",
            "conversation_id",
            "question_digest",
            name=op.f("chat_acts_person_conversation_id_question_digest_key"),
        ),
    )
    op.create_index("chat_acts_expires_at_idx", "chat_acts", ["expires_at"])
    op.add_column("articles", sa.Column("submitted_by", sa.Text(), nullable=True))
    op.add_column("article_resources", sa.Column("attached_by", sa.Text(), nullable=True))
    op.execute(_FIRST_GRANTS)


def downgrade() -> None:
    """Take it all away again."""
    op.drop_column("article_resources", "attached_by")
    op.drop_column("articles", "submitted_by")
    for table in ("chat_acts", "listed_grants", "grant_source", "grants", "token_clients"):
        op.drop_table(table)
