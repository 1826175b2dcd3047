"""Bring a database to this release's schema with Alembic. `signoff up` calls it; running it again is free.

A revision says in `phase` when it may run: `before` the processes of the last release are replaced (it
only adds, and they work on), or `after` (it takes away what only they used). What it is made of, and how that
waits for locks: `models.migrations.statements`.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from models.error_lines import error_line
from models.errors import DatabaseUnavailable

if TYPE_CHECKING:
    import psycopg
    from alembic.script import ScriptDirectory

Phase = Literal["before", "after"]

# Less than Postgres' `deadlock_timeout`: where it and a writer wait for each other, the revision gives way.
_LOCK_TIMEOUT = "400ms"
_LOCKED_SECONDS = 600.0
_REFUSED = (
    "this release can't upgrade the database, which a newer one or a development state made ({}): go on with "
    "that one, or set database.url (or data_dir) to an empty place and restore a release's backup there"
)
# Tables, columns, functions and others that are there twice, or missing.
_OTHER_TABLES = {"42P07", "42701", "42710", "42723", "42P01", "42703", "42704", "42883"}
_COLUMNS = """
SELECT c.relname, a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
WHERE c.relnamespace = 'public'::regnamespace AND a.attnum > 0 AND NOT a.attisdropped
"""


def migrate(url: str, phase: Phase | None = None) -> None:
    """Upgrade the schema to the newest revision, or only to the last one of phase `before`.

    Raises:
        DatabaseUnavailable: the database can't be reached, is of another release or of a development state
            that this one can't upgrade, or of one so old that its runners must be stopped first; it refuses a
            revision (rights, an event trigger); or somebody holds a lock on a table for too long.
    """
    import alembic.config
    import alembic.util
    import psycopg
    import sqlalchemy as sa

    config = alembic.config.Config()
    config.set_main_option("script_location", str(Path(__file__).parents[2] / "migrations"))
    try:
        with _only_one(url):
            _run(config, url, phase)
    except (sa.exc.SQLAlchemyError, psycopg.Error, alembic.util.CommandError) as error:
        cause = error.orig if isinstance(error, sa.exc.DBAPIError) and error.orig else error
        reason = error_line(str(cause))
        if getattr(cause, "sqlstate", None) in _OTHER_TABLES:
            raise DatabaseUnavailable(_REFUSED.format(reason)) from error
        if isinstance(cause, psycopg.errors.LockNotAvailable):
            reason += f" ({_holders(url)})"
        raise DatabaseUnavailable(f"the database can't be migrated: {reason}: check database.url") from error


def _run(config: Any, url: str, phase: Phase | None) -> None:
    import alembic.command
    import sqlalchemy as sa
    from alembic.script import ScriptDirectory

    engine = sa.create_engine("postgresql+psycopg://", creator=lambda: _connect(url), poolclass=sa.NullPool)
    try:
        with engine.connect() as connection:
            revision = _goal(ScriptDirectory.from_config(config), connection, phase)
            config.attributes["connection"] = connection
            alembic.command.upgrade(config, revision)
            if lacking := _lacking(connection):
                raise DatabaseUnavailable(_REFUSED.format(f"{lacking[0]} is missing"))
    finally:
        engine.dispose()


def _goal(script: "ScriptDirectory", connection: Any, phase: Phase | None) -> str:
    """Up to which revision; where one of `after` comes before the last of `before`, nobody may be at work."""
    from alembic.migration import MigrationContext

    current = MigrationContext.configure(connection).get_current_revision()
    connection.rollback()
    revisions = {found.revision: phase_of(found.module) for found in script.walk_revisions()}
    chain = list(revisions)[::-1]
    if current is not None and current not in chain:
        raise DatabaseUnavailable(_REFUSED.format(f"revision {current}"))
    if phase != "before":
        return "head"
    pending = chain[chain.index(current) + 1 :] if current is not None else chain
    before = [revision for revision in pending if revisions[revision] == "before"]
    if not before:
        return current or "base"
    if "after" in [revisions[revision] for revision in pending[: pending.index(before[-1])]]:
        _refuse_while_at_work(connection)
    return before[-1]


def _lacking(connection: Any) -> list[str]:
    """The columns that are declared and not there."""
    import sqlalchemy as sa

    from models.store.schema.whole import metadata

    there = {f"{table}.{column}" for table, column in connection.execute(sa.text(_COLUMNS))}
    connection.rollback()
    declared = {f"{table.name}.{column.name}" for table in metadata.sorted_tables for column in table.c}
    return sorted(declared - there)


def phase_of(revision: Any) -> Phase:
    """When a revision (its module) may run."""
    phase: Phase = getattr(revision, "phase", "before")
    return phase


def _refuse_while_at_work(connection: Any) -> None:
    import sqlalchemy as sa

    if not sa.inspect(connection).has_table("runners"):
        connection.rollback()
        return
    live = connection.execute(sa.text("SELECT count(*) FROM runners WHERE lease_until > now()")).scalar()
    connection.rollback()
    if live:
        raise DatabaseUnavailable(
            f"the database is more than one release behind, and {live} runners are at work on it: "
            "stop them with `signoff down`, then run `signoff up`"
        )


@contextmanager
def _only_one(url: str) -> Iterator[None]:
    """Hold the migrations' lock, on a connection of its own that has no open transaction.

    It is tried for, not waited for: an index that is made concurrently waits for all that wait.
    """
    deadline = time.monotonic() + _LOCKED_SECONDS
    with _connect(url) as connection:
        connection.autocommit = True
        while True:
            cursor = connection.execute("SELECT pg_try_advisory_lock(hashtext('signoff-migrations'))")
            if (cursor.fetchone() or (False,))[0]:
                break
            if time.monotonic() > deadline:
                raise DatabaseUnavailable(
                    f"somebody else has been migrating the database for {_LOCKED_SECONDS:g} s: "
                    "see pg_stat_activity"
                )
            time.sleep(0.2)
        yield


def _connect(url: str) -> "psycopg.Connection[Any]":
    """One whose statements may take long, such as an index's, and wait for no lock for long."""
    from models.store.connecting import UNHURRIED, connect

    settings = {**UNHURRIED, "lock_timeout": _LOCK_TIMEOUT}
    return connect(url, application="signoff migrate", autocommit=False, settings=settings)


def _holders(url: str) -> str:
    """Who has had a transaction open for long."""
    from models.store.upkeep.activity import old_transactions_at

    return "; ".join(str(held) for held in old_transactions_at(url, older_than_seconds=5)) or "it is free now"
