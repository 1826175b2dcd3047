"""The only place that speaks SQL: one module per noun. See `tables.py` for the schema."""

from models.store.migrate import migrate

__all__ = ["migrate"]
