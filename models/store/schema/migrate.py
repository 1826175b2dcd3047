"""Bring a database to this release's schema with Alembic. `signoff up` calls it; running it again is free.

A revision says in `phase` when it may run: `before` the processes of the last release are replaced (it
only adds, and they work on), or `after` (it takes away what only they used). Each is a transaction of its
own that waits for a lock for `_LOCK_TIMEOUT` at most, again and again: who waits holds up all behind it.
"""

import random
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
# Where writers never rest, most tries meet one of them.
_PATIENCE_SECONDS, _LONGEST_PAUSE_SECONDS = 240.0, 0.6
_LOCKED_SECONDS = 600.0


def migrate(url: str, phase: Phase | None = None) -> None:
    """Upgrade the schema to the newest revision, or only to the last one of phase `before`.

    Raises:
        DatabaseUnavailable: the database can't be reached, is of a newer release, or is of one so old that
            its runners must be stopped first; it refuses a revision (rights, an event trigger); or somebody
            holds a lock on a table for too long.
    """
    run_alembic(url, "upgrade", "head" if phase != "before" else "before")


def run_alembic(url: str, direction: Literal["upgrade", "downgrade"], revision: str) -> None:
    """Run `upgrade` or `downgrade` to `revision` (or `before`: see `migrate`) over `url` (a libpq URL)."""
    import alembic.config
    import alembic.util
    import psycopg
    import sqlalchemy as sa

    config = alembic.config.Config()
    config.set_main_option("script_location", str(Path(__file__).parents[2] / "migrations"))
    try:
        with _only_one(url):
            deadline = time.monotonic() + _PATIENCE_SECONDS
            while True:
                try:
                    _run(config, url, direction, revision)
                    return
                except sa.exc.OperationalError as error:
                    # Revisions that are done stay done: the next try goes on with the one that had to wait.
                    locked = isinstance(error.orig, psycopg.errors.LockNotAvailable)
                    if not locked or time.monotonic() > deadline:
                        raise
                    time.sleep(random.uniform(0.1, _LONGEST_PAUSE_SECONDS))
    except (sa.exc.DBAPIError, psycopg.Error, alembic.util.CommandError) as error:
        reason = error_line(str(error))
        if "lock timeout" in reason:
            reason += f" ({_holders(url)})"
        raise DatabaseUnavailable(f"the database can't be migrated: {reason}: check database.url") from error


def _run(config: Any, url: str, direction: str, revision: str) -> None:
    import alembic.command
    import sqlalchemy as sa
    from alembic.script import ScriptDirectory

    engine = sa.create_engine("postgresql+psycopg://", creator=lambda: _connect(url), poolclass=sa.NullPool)
    try:
        with engine.connect() as connection:
            if revision == "before":
                revision = _last_before(ScriptDirectory.from_config(config), connection)
            config.attributes["connection"] = connection
            getattr(alembic.command, direction)(config, revision)
    finally:
        engine.dispose()


def _last_before(script: "ScriptDirectory", connection: Any) -> str:
    """The last revision of phase `before`; where one of `after` comes earlier, nobody may be at work."""
    from alembic.migration import MigrationContext

    current = MigrationContext.configure(connection).get_current_revision()
    connection.rollback()
    chain = [found.revision for found in script.walk_revisions()][::-1]
    if current is not None and current not in chain:
        return "head"  # of a newer release: Alembic says so
    pending = chain[chain.index(current) + 1 :] if current is not None else chain
    phases = {found.revision: phase_of(found.module) for found in script.walk_revisions()}
    before = [revision for revision in pending if phases[revision] == "before"]
    if not before:
        return current or "base"
    if "after" in [phases[revision] for revision in pending[: pending.index(before[-1])]]:
        _refuse_while_at_work(connection)
    return before[-1]


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
