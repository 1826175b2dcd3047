"""A runner whose process is proven dead loses what it had before its lease ends; no other does."""

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from actors.platform.runtime.process import _started, this_process
from models.config import Config
from models.store.database import Database
from models.store.runtime import runners, workflows
from models.store.runtime.runners import RunnerProcess
from tests.fakes.barrier import Barrier
from tests.integration.runtime.claims.claiming import claim
from tests.integration.workflows import begin, ended, running

Configure = Callable[..., Config]
pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells it")
NAME = "site:runner:0"


@pytest.fixture
def child() -> Iterator["subprocess.Popen[bytes]"]:
    """A process that lives until it is killed."""
    made = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield made
    made.kill()
    made.wait()


async def at_work(database: Database, barrier: Barrier, process: RunnerProcess) -> str:
    """A workflow that a runner of this process has claimed, under a lease that outlasts the test."""
    workflow = await begin(database, barrier)
    async with database.connection() as connection:
        await runners.renew(connection, runner_id="other", name=NAME, process=process, lease_seconds=60)
    [claimed] = await claim(database, "other")
    assert claimed.workflow_id == workflow.id
    return workflow.id


def of(child: "subprocess.Popen[bytes]", **changes: Any) -> RunnerProcess:
    """The child as a runner's process."""
    told = {"pid": child.pid, "started": _started(child.pid), **changes}
    return this_process().model_copy(update=told)


async def test_a_killed_runner_s_work_is_taken_over_before_its_lease_ends(
    database: Database, configure: Configure, child: "subprocess.Popen[bytes]"
) -> None:
    with Barrier() as barrier:
        workflow_id = await at_work(database, barrier, of(child))
        child.kill()
        child.wait()
        async with running(database, configure({"runners.lease_seconds": 8})):
            assert (await ended(database, workflow_id, timeout=20)).status == "succeeded"


@pytest.mark.parametrize("where", ["alive here", "another boot or machine", "nothing is told"])
async def test_whoever_is_not_proven_dead_keeps_its_work(
    database: Database, configure: Configure, child: "subprocess.Popen[bytes]", where: str
) -> None:
    """Its name is the same, and so may its process id be."""
    if where == "alive here":
        process = of(child)
    elif where == "another boot or machine":
        process = of(child, machine="another boot/4026531836")
    else:
        process = of(child, machine=None, started=None)
    with Barrier() as barrier:
        workflow_id = await at_work(database, barrier, process)
        if where != "alive here":
            child.kill()
            child.wait()
        async with running(database, configure({"runners.lease_seconds": 8}), NAME):
            await looked_around(database, times=3)
            async with database.connection() as connection:
                assert (await workflows.get(connection, workflow_id)).status == "running"
                cursor = await connection.execute("SELECT runner_id FROM workflows")
                assert [row["runner_id"] for row in await cursor.fetchall()] == ["other"]
                cursor = await connection.execute("SELECT 1 FROM runners WHERE id = 'other'")
                assert await cursor.fetchone() is not None
        assert barrier.arrivals == []


async def looked_around(database: Database, *, times: int) -> None:
    """The runner in this process has renewed its lease, and looked for the dead each time but the last."""
    renewed = set()
    async with asyncio.timeout(60), database.connection() as connection:
        while len(renewed) <= times:
            await workflows.notify(connection, about="batch:none")  # it looks at once when it is told
            cursor = await connection.execute("SELECT lease_until FROM runners WHERE id <> 'other'")
            renewed.update(row["lease_until"] for row in await cursor.fetchall())
            await asyncio.sleep(0.02)
