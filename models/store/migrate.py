"""Bring a database to this release's schema with Alembic. `signoff up` calls it; running it again is free."""

from pathlib import Path

from models.errors import DatabaseUnavailable


def migrate(url: str) -> None:
    """Upgrade the schema to the newest revision, under a lock so that two callers don't collide.

    Raises:
        DatabaseUnavailable: the database can't be reached, or is of a newer release.
    """
    run_alembic(url, "upgrade", "head")


def run_alembic(url: str, direction: str, revision: str) -> None:
    """Run `upgrade` or `downgrade` to `revision` over `url` (a libpq URL)."""
    import alembic.command
    import alembic.config
    import alembic.util
    import sqlalchemy as sa

    config = alembic.config.Config()
    config.set_main_option("script_location", str(Path(__file__).parent.parent / "migrations"))
    engine = sa.create_engine("postgresql+psycopg://", creator=lambda: _connect(url))
    try:
        with engine.begin() as connection:
            connection.execute(sa.text("SELECT pg_advisory_xact_lock(hashtext('signoff-migrations'))"))
            config.attributes["connection"] = connection
            getattr(alembic.command, direction)(config, revision)
    except (sa.exc.OperationalError, alembic.util.CommandError) as error:
        reason = str(error).splitlines()[0]
        raise DatabaseUnavailable(f"the database can't be migrated: {reason}: check database.url") from error
    finally:
        engine.dispose()


def _connect(url: str):  # type: ignore[no-untyped-def]  # a psycopg connection; imported late
    import psycopg

    return psycopg.connect(url, connect_timeout=10)
