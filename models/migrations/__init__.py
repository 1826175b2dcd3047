"""Alembic migrations. `env.py` is handed a connection by `models.store.schema.migrate`."""
