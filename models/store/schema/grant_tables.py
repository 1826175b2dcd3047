"""The schema of grants: which scopes people are known to have, and how that is known.

The rest of `models.store.schema.tables`, on the same metadata.
"""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY

from models.store.schema.columns import column_text, column_when, metadata

# The newest token seen of each client that a person comes with; '' is a client that tokens don't name.
token_clients = sa.Table(
    "token_clients",
    metadata,
    sa.Column("user_id", sa.BigInteger, sa.ForeignKey("users.id", ondelete="CASCADE"), primary_key=True),
    column_text("client", primary_key=True),
    column_when("issued_at", nullable=True),
)

grants = sa.Table(
    "grants",
    metadata,
    sa.Column("user_id", sa.BigInteger, sa.ForeignKey("users.id", ondelete="CASCADE"), primary_key=True),
    column_text("scope", primary_key=True),
    column_text("client", primary_key=True),
    # Of the newest token that carried it.
    column_when("issued_at", nullable=True),
    column_when("seen_at"),
    # When it is over unless a token carries it again.
    column_when("lapses_at"),
)

# What `auth.grants` was last read as. No row: there is no such source.
grant_source = sa.Table(
    "grant_source",
    metadata,
    sa.Column("one", sa.Boolean, primary_key=True, server_default="true"),
    column_when("read_at", nullable=True),
    column_when("checked_at"),
    column_text("digest", nullable=True),
    column_text("fault", nullable=True),
    sa.CheckConstraint("one", name="one"),
)

listed_grants = sa.Table(
    "listed_grants",
    metadata,
    column_text("subject", primary_key=True),
    sa.Column("scopes", ARRAY(sa.Text), nullable=False),
)
