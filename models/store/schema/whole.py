"""The whole schema, on one metadata: what migrations are compared with."""

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

__all__ = [
    "chat_tables",
    "grant_tables",
    "knowledge_tables",
    "metadata",
    "monitoring_tables",
    "operation_tables",
    "publishing_tables",
    "research_tables",
    "tables",
]
