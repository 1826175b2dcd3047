"""What differs between two databases' schemas."""

import warnings

import psycopg
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from models.store.schema.whole import metadata


def differences(url: str) -> list[object]:
    """What the database lacks, or has too much, beside the tables as declared."""
    engine = sa.create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(url))
    with engine.connect() as connection, warnings.catch_warnings():
        warnings.simplefilter("ignore", sa.exc.SAWarning)
        found: list[object] = compare_metadata(MigrationContext.configure(connection), metadata)
    engine.dispose()
    return found
