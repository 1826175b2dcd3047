"""Real processes killed, paused and cut off: acknowledged work goes on, and no committed step runs twice."""

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
import ray
import ray.exceptions

from actors.platform.runtime.directory import NAMESPACE, Directory, stop_agents
from actors.platform.runtime.pool import start_runners, stop_runners
from cluster.postgres import server as embedded
from models.config import Config
from models.runtime.approvals import Approval
from models.store import decisions
from models.store.database import Database
from models.store.runtime import workflows
from tests.fakes.agents import with_roles
from tests.fakes.barrier import Barrier
from tests.fakes.graphs import KINDS
from tests.fakes.model.model_server import ModelServer, Rule
from tests.integration.runtime.deciding import EDITOR, waiting, yes
from tests.integration.workflows import begin, ended

pytestmark = pytest.mark.usefixtures("ray_cluster")
Configure = Callable[..., Config]
STEPS = ["one", "two", "three", "four"]
ROLES = "tests.fakes.agents:ROLES"


@pytest.fixture
def config(configure: Configure, model_server: ModelServer) -> Config:
    """Two runners with short leases, and an oracle that asks the scripted model server."""
    configured = configure(
        {
            "runners.lease_seconds": 2,
            "runners.poll_seconds": 0.2,
            "runners.max_attempts": 3,
            "article_generation.agents.writer_llm.api_base": model_server.base_url,
        }
    )
    return with_roles(configured, "oracle")


@pytest.fixture
def runner_pids(config: Config, database_url: str) -> Iterator[list[int]]:
    """The process ids of the pool."""
    try:
        yield [pid for _, pid in start_runners(config, database_url, roles=ROLES, kinds=KINDS)]
    finally:
        stop_runners(timeout_seconds=10)
        stop_agents()


def committed(url: str) -> dict[str, list[str]]:
    """By workflow id, the steps that are kept. A plain query: no runner is asked."""
    with psycopg.connect(url) as connection:
        rows = connection.execute(
            "SELECT workflow_id, array_agg(key ORDER BY created_at) FROM documents GROUP BY workflow_id"
        ).fetchall()
    return dict(rows)


async def until(barrier: Barrier, condition: Callable[[], bool]) -> None:
    """Wait for the barrier without holding up the event loop."""
    await asyncio.to_thread(barrier.until, condition)


async def test_killing_a_runner_inside_a_step_redoes_that_step_once(
    database: Database, runner_pids: list[int]
) -> None:
    with Barrier() as barrier:
        barrier.hold("two")
        workflow = await begin(database, barrier)
        await until(barrier, lambda: barrier.runs(workflow.id, "two") == 1)
        os.kill(barrier.arrivals[-1].pid, signal.SIGKILL)
        await until(barrier, lambda: barrier.runs(workflow.id, "two") == 2)
        barrier.release()
        done = await ended(database, workflow.id)
        assert done.result is not None
        assert done.result["done"] == STEPS
        assert [barrier.runs(workflow.id, step) for step in STEPS] == [1, 2, 1, 1]


async def test_killing_a_runner_anywhere_redoes_no_committed_step(
    database: Database, database_url: str, runner_pids: list[int]
) -> None:
    with Barrier() as barrier:
        made = [(await begin(database, barrier)).id for _ in range(30)]
        await until(barrier, lambda: len(barrier.arrivals) >= 40)
        victim = barrier.arrivals[-1].pid
        os.kill(victim, signal.SIGKILL)
        at_death = committed(database_url)
        before = {(w, step): barrier.runs(w, step) for w, steps in at_death.items() for step in steps}
        for workflow_id in made:
            done = await ended(database, workflow_id, timeout=60)
            assert done.result is not None
            assert done.result["done"] == STEPS
        assert all(barrier.runs(w, step) == runs == 1 for (w, step), runs in before.items())
        assert all(barrier.runs(w, step) <= 2 for w in made for step in STEPS)


async def test_what_kills_its_runner_is_set_aside_and_takes_nobody_along(
    database: Database, runner_pids: list[int]
) -> None:
    with Barrier() as barrier:
        poison = await begin(database, barrier, kill="two")
        others = [await begin(database, barrier) for _ in range(6)]
        failed = await ended(database, poison.id, timeout=180)
        assert failed.status == "failed"
        assert failed.error is not None
        assert failed.error.startswith("3 runners in a row ended while they ran it, after its step one:")
        for other in others:
            done = await ended(database, other.id, timeout=60)
            assert done.status == "succeeded", done.error
        assert barrier.runs(poison.id, "one") == 1
        assert barrier.runs(poison.id, "two") == 3


async def test_killing_a_branch_leaves_the_finished_branches_alone(
    database: Database, database_url: str, runner_pids: list[int]
) -> None:
    with Barrier() as barrier:
        barrier.hold("branch 2")
        workflow = await begin(database, barrier, "fan")
        await until(barrier, lambda: len(barrier.arrivals) == 3)

        async with asyncio.timeout(30):
            while len(committed(database_url).get(workflow.id, [])) < 2:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        os.kill(barrier.arrivals[-1].pid, signal.SIGKILL)
        await until(barrier, lambda: barrier.runs(workflow.id, "branch 2") == 2)
        barrier.release()
        await ended(database, workflow.id)
        assert [barrier.runs(workflow.id, f"branch {n}") for n in (1, 2, 3)] == [1, 2, 1]


async def test_killing_every_runner_at_a_gate_loses_neither_gate_nor_decision(
    database: Database, runner_pids: list[int]
) -> None:
    with Barrier() as barrier:
        workflow = await begin(database, barrier, "gated")
        approval: Approval = await waiting(database, workflow.id)
        for pid in runner_pids:
            os.kill(pid, signal.SIGKILL)
        await decisions.decide(
            database, approval_id=approval.id, answer=yes(approval), decided_by="bob", scopes=EDITOR
        )
        done = await ended(database, workflow.id, timeout=60)
        assert done.result is not None
        assert done.result["done"] == ["prepare", "act", "close"]
        assert [barrier.runs(workflow.id, s) for s in ("prepare", "act", "close")] == [1, 1, 1]


async def test_a_runner_paused_past_its_lease_can_write_nothing_when_it_wakes(
    database: Database, runner_pids: list[int]
) -> None:
    with Barrier() as barrier:
        barrier.hold("two")
        workflow = await begin(database, barrier)
        await until(barrier, lambda: barrier.runs(workflow.id, "two") == 1)
        paused = barrier.arrivals[-1].pid
        os.kill(paused, signal.SIGSTOP)
        try:
            await until(barrier, lambda: barrier.runs(workflow.id, "two") == 2)
            other = barrier.arrivals[-1].pid
            assert other != paused
            barrier.hold("three")
            barrier.release("two")
            await until(barrier, lambda: barrier.runs(workflow.id, "three") == 1)
        finally:
            os.kill(paused, signal.SIGCONT)
        # It wakes with its own step two let through, and would go on to three if its write were taken.
        more: list[str] = []

        def woke() -> bool:
            return any(a.pid == paused and a.workflow in more for a in barrier.arrivals)

        async with asyncio.timeout(60):
            while not woke():
                more.append((await begin(database, barrier)).id)
                await until(barrier, lambda: any(a.workflow == more[-1] for a in barrier.arrivals))
        barrier.release()
        done = await ended(database, workflow.id)
        assert done.result is not None
        assert done.result["done"] == STEPS
        assert [barrier.runs(workflow.id, step) for step in STEPS] == [1, 2, 1, 1]
        by = {a.step: a.pid for a in barrier.arrivals if a.workflow == workflow.id}
        assert by["three"] == by["four"] == other


async def test_killing_an_agent_in_a_call_begins_the_call_again(
    database: Database, config: Config, model_server: ModelServer, runner_pids: list[int]
) -> None:
    model_server.script(Rule(contains="what will be", hold=True, reply="what was"))
    with Barrier() as barrier:
        workflow = await begin(database, barrier, "asking", question="what will be?")
        await model_server.await_calls(1)
        agent = Directory(config=config, roles=ROLES).agent("oracle")
        os.kill(await agent.pid(), signal.SIGKILL)
        await model_server.await_calls(2)
        model_server.release()
        done = await ended(database, workflow.id)
        assert done.result is not None
        assert done.result["done"] == ["what was", "after"]
        assert barrier.runs(workflow.id, "asked") == 1


async def test_cancelling_while_a_model_call_runs_ends_the_call_and_writes_nothing(
    database: Database, model_server: ModelServer, runner_pids: list[int]
) -> None:
    model_server.script(Rule(contains="what will be", hold=True, reply="never mind"))
    with Barrier() as barrier:
        workflow = await begin(database, barrier, "asking", question="what will be?")
        await model_server.await_calls(1)
        async with database.transaction() as connection:
            await workflows.cancel(connection, workflow.id, reason="enough")
        calls = await model_server.wait_until(lambda calls: any(c.cancelled for c in calls))
        assert len(calls) == 1
        after = await ended(database, workflow.id)
        assert after.status == "cancelled"
        assert barrier.arrivals == []


async def test_restarting_postgres_under_load_loses_nothing(
    database: Database, database_url: str, postgres_folder: Path, runner_pids: list[int]
) -> None:
    with Barrier() as barrier:
        made = [(await begin(database, barrier)).id for _ in range(30)]
        await until(barrier, lambda: len(barrier.arrivals) >= 30)
        embedded.stop(postgres_folder)
        assert embedded.url(postgres_folder) is None
        embedded.start(postgres_folder)
        at_restart = committed(database_url)
        for workflow_id in made:
            done = await ended(database, workflow_id, timeout=90)
            assert done.status == "succeeded", done.error
            assert done.result is not None
            assert done.result["done"] == STEPS
        again = [(w, s) for w, steps in at_restart.items() for s in steps if barrier.runs(w, s) != 1]
        assert again == []
        assert all(barrier.runs(w, step) <= 2 for w in made for step in STEPS)


async def test_a_runner_that_restarts_while_postgres_is_away_comes_back_with_it(
    database_url: str, postgres_folder: Path, runner_pids: list[int]
) -> None:
    names = [entry["name"] for entry in ray.util.list_named_actors(all_namespaces=True)]
    handles = [
        ray.get_actor(name, namespace=NAMESPACE) for name in names if (name or "").startswith("runner:")
    ]
    embedded.stop(postgres_folder)
    try:
        for pid in runner_pids:
            os.kill(pid, signal.SIGKILL)
        # Longer than a pool waits for its first connection. Whoever gives up is dead for good, and says so.
        until_then = time.monotonic() + 25
        for handle in handles:
            while (left := until_then - time.monotonic()) > 0:
                with contextlib.suppress(
                    ray.exceptions.ActorUnavailableError, ray.exceptions.GetTimeoutError
                ):
                    await asyncio.to_thread(ray.get, handle.ready.remote(), timeout=left)
    finally:
        embedded.start(postgres_folder)
    async with Database(url=database_url, pool_size=2) as database:
        with Barrier() as barrier:
            workflow = await begin(database, barrier)
            assert (await ended(database, workflow.id, timeout=90)).status == "succeeded"


def test_an_agent_is_started_once_however_many_ask_for_it(config: Config) -> None:
    directories = [Directory(config=config, roles=ROLES) for _ in range(4)]

    async def pids() -> set[int]:
        return set(await asyncio.gather(*(d.agent("oracle").pid() for d in directories)))

    first = asyncio.run(pids())
    assert len(first) == 1
    assert stop_agents() == 1
    second = asyncio.run(pids())
    assert not first & second, "what was stopped answers no more"
    assert len(second) == 1, "a handle that went stale finds the new agent"
    stop_agents()
    assert ray.is_initialized()
