"""Alembic's entry: runs the revisions on the connection that `models.store.migrate` hands over."""

from alembic import context

from models.store.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
