"""The whole schema, declared once: the tables on one metadata, the triggers, and the row it begins with."""

import sqlalchemy as sa

from models.store.schema import (
    chat_tables,
    grant_tables,
    knowledge_tables,
    monitoring_tables,
    operation_tables,
    publishing_tables,
    research_tables,
    tables,
)
from models.store.schema.columns import metadata
from models.store.schema.triggers import TRIGGERS

__all__ = [
    "REST",
    "chat_tables",
    "create",
    "grant_tables",
    "knowledge_tables",
    "metadata",
    "monitoring_tables",
    "operation_tables",
    "publishing_tables",
    "research_tables",
    "tables",
]

_CLOCK = "INSERT INTO lease_clock (running_since, renewed_at) VALUES (now(), now()) ON CONFLICT DO NOTHING"
# What there is besides tables and their indexes; each statement may be run again.
REST = (*TRIGGERS, _CLOCK)


def create(connection: sa.Connection) -> None:
    """Make all of it in an empty database. Raises ProgrammingError where a table is there."""
    metadata.create_all(connection, checkfirst=False)
    for statement in REST:
        connection.execute(sa.text(statement))
