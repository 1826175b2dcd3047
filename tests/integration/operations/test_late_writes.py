"""An approved write whose processes are paused on its way outside: once it is another's, it is not sent.

Real runners and agents, stopped by SIGSTOP at each place where a write may stand still, and woken after the
operation was taken over or cancelled.
"""

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from actors.platform.runtime.directory import Directory, stop_agents
from actors.platform.runtime.pool import start_runners, stop_runners
from models.config import Config
from models.operations.operations import OperationRequest
from models.store.database import Database
from models.store.operations import operations
from models.store.runtime import workflows
from tests.fakes.barrier import Barrier
from tests.fakes.mcp_servers import BadServer, tool
from tests.fakes.writing import KINDS, with_one_place
from tests.integration.operations.operations_desk import operations_config
from tests.integration.workflows import ended

pytestmark = pytest.mark.usefixtures("ray_cluster")
ROLES = "tests.fakes.writing:ROLES"


@pytest.fixture(name="barrier")
def make_barrier() -> Iterator[Barrier]:
    with Barrier() as barrier:
        yield barrier


@pytest.fixture(name="crm")
def make_crm() -> Iterator[BadServer]:
    with BadServer(tool("search"), tool("send")) as server:
        yield server


@pytest.fixture(name="config")
def make_config(configure: Callable[..., Config], barrier: Barrier, crm: BadServer) -> Config:
    its = {"title": barrier.address, "http": {"url": crm.url}, "tools": ["search"], "writes": ["send"]}
    servers = dict.fromkeys(("mail", "bills", "crm"), its)
    return with_one_place(operations_config(configure, **{"mcp.servers": servers}))


@pytest.fixture(name="paused")
def make_paused(config: Config, database_url: str) -> Iterator[set[int]]:
    """Two runners; the processes that a test has stopped, which go on at its end."""
    stopped: set[int] = set()
    try:
        start_runners(config, database_url, roles=ROLES, kinds=KINDS)
        yield stopped
    finally:
        go_on(stopped)
        stop_runners(timeout_seconds=10)
        stop_agents()


def pause(stopped: set[int], *processes: int) -> None:
    """Stop processes where they are."""
    for process in processes:
        os.kill(process, signal.SIGSTOP)
        stopped.add(process)


def go_on(stopped: set[int], *processes: int) -> None:
    """Let processes go on; all, where none is named."""
    for process in set(processes) or set(stopped):
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGCONT)
        stopped.discard(process)


async def begun(database: Database) -> str:
    """An operation that writes; the id of its workflow."""
    async with database.transaction() as connection:
        asked = OperationRequest(query="Write it down", topic="macro")
        operation, _ = await operations.start(connection, asked, requested_by="ann", gates=())
        return operation.workflow_id


async def cancel(database: Database, workflow_id: str) -> None:
    """Cancel it, as a person does."""
    async with database.transaction() as connection:
        await workflows.cancel(connection, workflow_id, reason="no")


async def arrived(barrier: Barrier, step: str) -> int:
    """The process that reports a step first, once it does."""
    await asyncio.to_thread(barrier.until, lambda: any(a.step == step for a in barrier.arrivals))
    return next(a.pid for a in barrier.arrivals if a.step == step)


async def how_it_ended(barrier: Barrier) -> str:
    """What the agent says of the write, once it is over."""
    await asyncio.to_thread(barrier.until, lambda: any(a.step.startswith("over") for a in barrier.arrivals))
    return next(a.step for a in barrier.arrivals if a.step.startswith("over"))


async def test_a_write_that_nobody_holds_up_is_sent(
    database: Database, barrier: Barrier, crm: BadServer, paused: set[int]
) -> None:
    workflow_id = await begun(database)
    done = await ended(database, workflow_id)
    assert done.result == {"status": "done"}, done.error
    assert [call["arguments"] for call in crm.calls] == [{"to": "a"}]


@pytest.mark.parametrize("how", ["taken over", "cancelled"])
@pytest.mark.parametrize("place", ["noted", "starting", "called", "looked"])
async def test_a_write_is_not_sent_by_who_was_paused_on_its_way_and_wakes_late(
    database: Database, barrier: Barrier, crm: BadServer, paused: set[int], place: str, how: str
) -> None:
    barrier.hold(place)
    workflow_id = await begun(database)
    there = await arrived(barrier, place)
    runner = await arrived(barrier, "noted")
    # An agent that is being started waits by itself; its call is with the runner until then.
    pause(paused, runner, *({there} - {runner} if place != "starting" else ()))
    if how == "cancelled":
        await cancel(database, workflow_id)
    else:
        done = await ended(database, workflow_id)
        assert (done.status, done.result) == ("succeeded", {"status": "unknown"})
    assert crm.calls == []
    barrier.release()
    go_on(paused, runner if place == "starting" else there)
    assert await how_it_ended(barrier) == ("over: NotSent" if place == "looked" else "over: Fenced")
    go_on(paused)
    assert crm.calls == []


async def test_a_write_that_waits_in_its_agent_s_queue_is_not_sent_once_it_is_cancelled(
    database: Database, config: Config, barrier: Barrier, crm: BadServer, paused: set[int]
) -> None:
    barrier.hold("noted", "occupied")
    workflow_id = await begun(database)
    await arrived(barrier, "noted")
    directory = Directory(config=config, roles=ROLES, database_url=database.url)
    occupying = asyncio.create_task(directory.agent("crm").occupy())
    await arrived(barrier, "occupied")
    await cancel(database, workflow_id)
    barrier.release("noted")
    barrier.release("occupied")
    assert await how_it_ended(barrier) == "over: Fenced"
    await occupying
    assert crm.calls == []
