"""Alembic's entry: runs the revisions on the connection that `models.store.schema.migrate` hands over.

Each in a transaction of its own, with its row of `alembic_version`.
"""

from alembic import context

context.configure(connection=context.config.attributes["connection"], transaction_per_migration=True)
with context.begin_transaction():
    context.run_migrations()
