"""The whole schema, on one metadata: what migrations are compared with."""

from models.store import publishing_tables, tables
from models.store.columns import metadata

__all__ = ["metadata", "publishing_tables", "tables"]
