"""What the tables are declared with: the names of constraints, and the columns that recur."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import TSVECTOR

metadata = sa.MetaData(
    naming_convention={
        "ix": "%(table_name)s_%(column_0_N_name)s_idx",
        "uq": "%(table_name)s_%(column_0_N_name)s_key",
        "ck": "%(table_name)s_%(constraint_name)s_check",
        "fk": "%(table_name)s_%(column_0_N_name)s_fkey",
        "pk": "%(table_name)s_pkey",
    }
)


# Rows stay for a moment: without this the dead ones would outnumber the living by thousands.
PASSING = {"autovacuum_vacuum_scale_factor": "0", "autovacuum_vacuum_threshold": "2000"}


def column_when(name: str, *, nullable: bool = False, default: bool = False) -> "sa.Column[object]":
    """A point in time; `default`: when the row is written."""
    return sa.Column(
        name,
        sa.DateTime(timezone=True),
        nullable=nullable,
        server_default=sa.text("now()") if default else None,
    )


def column_text(name: str, *, nullable: bool = False, primary_key: bool = False) -> "sa.Column[str]":
    """A text that must be there, unless `nullable`."""
    return sa.Column(name, sa.Text, nullable=nullable, primary_key=primary_key)


def column_words(columns: str) -> "sa.Column[object]":
    """The words that full text search finds a row by; the first column's weigh more.

    Of any language, hence `simple`; and of the beginning only, for Postgres holds 1 MB of words in a row.
    """
    first, *rest = columns.split()
    weighed = f"setweight(to_tsvector('simple', left(coalesce({first}, ''), 200000)), 'A')"
    for column in rest:
        weighed += f" || setweight(to_tsvector('simple', left(coalesce({column}, ''), 200000)), 'B')"
    return sa.Column("words", TSVECTOR, sa.Computed(weighed, persisted=True))
