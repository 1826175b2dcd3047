"""What is waited for is told as what it is."""

import psycopg
import pytest

from actors.platform.runtime.outage import waits_for
from models.store.database import unavailable


@pytest.mark.parametrize(
    ("error", "what", "said"),
    [
        (psycopg.OperationalError("gone"), "Postgres", "the database is away"),
        (psycopg.errors.AdminShutdown("down"), "Postgres", "the database is away"),
        (psycopg.errors.LockNotAvailable("locked"), "a row that somebody else holds", "it needs a row that"),
        (psycopg.errors.DeadlockDetected("both"), "a row that somebody else holds", "it needs a row that"),
        (psycopg.errors.ProgramLimitExceeded("large"), None, "the database is away"),
    ],
)
def test_a_row_that_is_held_is_no_outage_of_postgres(error: Exception, what: str | None, said: str) -> None:
    assert waits_for(error) == what
    assert str(unavailable(error)).startswith(said)
