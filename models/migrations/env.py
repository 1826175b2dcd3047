"""Alembic's entry: runs the revisions on the connection that `models.store.schema.migrate` hands over.

Each in a transaction of its own, with its row of `alembic_version`.
"""

from alembic import context

from models.store.schema.whole import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transaction_per_migration=True,
)
with context.begin_transaction():
    context.run_migrations()
