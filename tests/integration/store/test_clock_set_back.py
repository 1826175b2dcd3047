"""The server's clock is set back by an hour: nobody waits for that hour, and no grant is kept through it.

Times in the database are moved, not the clock: what compares them sees the same.
"""

import json
from pathlib import Path

import pytest

from models.config import RateLimit
from models.config.publishing import GrantsConfig
from models.store import outbox
from models.store.database import Database
from models.store.people import tool_calls, users
from models.store.runtime import claims
from serve.auth.grants import GrantList
from tests.fakes.barrier import Barrier
from tests.integration.runtime.claims.claiming import claim, lease
from tests.integration.webhooks import deliveries
from tests.integration.workflows import begin

HOUR = "interval '1 hour'"


async def execute(database: Database, statement: str) -> None:
    """Change something by hand."""
    async with database.connection() as connection:
        await connection.execute(statement.encode())


@pytest.mark.parametrize("waits_for_a_release", [False, True])
async def test_what_is_parked_is_tried_again(database: Database, waits_for_a_release: bool) -> None:
    with Barrier() as barrier:
        await begin(database, barrier)
    await lease(database, "r")
    [held] = await claim(database, "r")
    await claims.park(
        database,
        held,
        waits_for="the oracle",
        pause_seconds=None if waits_for_a_release else 60,
        waited_seconds=0,
        afresh=False,
    )
    assert await claim(database, "r", longest_pause_seconds=100) == [], "its pause is not over"
    await execute(database, f"UPDATE workflows SET not_before = not_before + {HOUR}")
    taken = await claim(database, "r", longest_pause_seconds=100)
    assert [one.workflow_id for one in taken] == ([] if waits_for_a_release else [held.workflow_id])


async def test_what_a_dead_dispatcher_has_claimed_is_claimed_again(database: Database) -> None:
    await deliveries.make(database, "https://target.example/")
    [delivery] = await deliveries.put(database)

    async def claimed() -> list[str]:
        found = await outbox.claim(database, limit=5, per_webhook=5, busy={}, lease_seconds=40)
        return [one.id for one in found]

    assert await claimed() == [delivery]
    assert await claimed() == [], "it is another's"
    await execute(database, f"UPDATE deliveries SET claimed_until = claimed_until + {HOUR}")
    assert await claimed() == [delivery]


async def test_who_has_called_a_tool_may_call_it_again(database: Database) -> None:
    limit = RateLimit(calls=2, per_seconds=60)

    async def waits() -> float:
        async with database.connection() as connection:
            return await tool_calls.admit(connection, "ann", "search", limit)

    assert await waits() == 0
    await execute(database, f"UPDATE rate_limits SET empty_at = empty_at + {HOUR}")
    assert [await waits(), await waits()] == [0, 0]
    assert 0 < await waits() <= 60


async def test_grants_are_read_again(database: Database, tmp_path: Path) -> None:
    await execute(
        database, "INSERT INTO users (subject, name, email, scopes) VALUES ('ann', '', '', '{macro:analyst}')"
    )
    file = tmp_path / "grants.json"
    follower = GrantList(database, GrantsConfig.model_validate({"every_seconds": 600, "file": file}))
    file.write_text(json.dumps({"ann": ["macro:analyst"]}))
    assert await follower.read()
    file.write_text(json.dumps({"ann": ["macro:reader"]}))
    assert not await follower.read(), "it was read just now"
    await execute(database, f"UPDATE grant_source SET checked_at = checked_at + {HOUR}")
    assert await follower.read()
    async with database.connection() as connection:
        assert [str(scope) for scope in await users.stored_scopes(connection, "ann")] == ["macro:reader"]
