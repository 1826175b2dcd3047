"""Before a runner claims its kinds are imported, off the event loop; and who is waited for comes first."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from models.config import Config
from models.store import events
from models.store.database import Database
from models.store.runtime import claims
from tests.fakes.barrier import Barrier
from tests.fakes.graphs import KINDS
from tests.integration.runtime.claims.claiming import lease
from tests.integration.workflows import begin, ended, running

Configure = Callable[..., Config]
SLOW = """
import threading

import psycopg

from tests.fakes.graphs import STEPS

with psycopg.connect({url!r}) as connection:
    [leases] = connection.execute("SELECT count(*) FROM runners").fetchone()
with open({told!r}, "a") as told:
    told.write(f"on the event loop: {{threading.current_thread() is threading.main_thread()}}, ")
    told.write(f"leases: {{leases}}")
"""


@pytest.fixture
def told(tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the kind `a_slow_kind:STEPS` tells who imports it, and how many runners have leases by then."""
    told = tmp_path / "told"
    (tmp_path / "a_slow_kind.py").write_text(SLOW.format(url=database_url, told=str(told)))
    monkeypatch.syspath_prepend(str(tmp_path))
    return told


async def test_kinds_are_imported_off_the_event_loop_before_the_lease_begins(
    database: Database, configure: Configure, told: Path
) -> None:
    """Imports take seconds, in which a lease that had begun could not be renewed."""
    with Barrier() as barrier:
        workflow = await begin(database, barrier)
        async with running(database, configure(), kinds={"steps": "a_slow_kind:STEPS"}):
            assert (await ended(database, workflow.id)).status == "succeeded"
    assert threading.current_thread() is threading.main_thread()
    assert told.read_text() == "on the event loop: False, leases: 0"


@pytest.mark.parametrize("first", ["steps", "fan"])
async def test_in_one_claim_the_kinds_that_are_named_first_come_first(database: Database, first: str) -> None:
    with Barrier() as barrier:
        # The other's are older, and more than there is room for.
        for kind in ["fan" if first == "steps" else "steps"] * 4 + [first] * 2:
            await begin(database, barrier, kind)
    await lease(database, "r")
    rooms = dict.fromkeys(sorted(("steps", "fan"), key=lambda kind: kind != first), 3)
    taken = await claims.claim(database, runner_id="r", rooms=rooms, limit=3, lease_seconds=60)
    assert sorted(claim.kind == first for claim in taken) == [False, True, True]


async def test_a_runner_takes_first_what_people_wait_for(database: Database, configure: Configure) -> None:
    config = configure({"runners.concurrency": 1, "runners.reserved_per_kind": 1, "runners.count": 1})
    with Barrier() as barrier:
        older = await begin(database, barrier, "steps")
        waited_for = await begin(database, barrier, "fan")
        kinds = {"fan": KINDS["fan"], "steps": KINDS["steps"]}
        async with running(database, config, kinds=kinds):
            for workflow in (older, waited_for):
                assert (await ended(database, workflow.id)).status == "succeeded"
    async with database.connection() as connection:
        told = await events.read(connection, after=0, workflow_ids=[older.id, waited_for.id])
    taken = [event.workflow_id for event in told if event.type == "workflow.running"]
    assert taken == [waited_for.id, older.id]
