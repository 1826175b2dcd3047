"""The runner in this process, on a real Postgres: what is claimed, kept, settled, and what is refused."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from models.config import Config
from models.errors import Fenced, WorkflowConflict, WorkflowEnded
from models.runtime.approvals import GateStop
from models.runtime.workflows import Claim, Holding
from models.store import approvals
from models.store.database import Connection, Database
from models.store.runtime import claims, documents, runners, workflows
from models.store.runtime.claimable import SUSPECT_DEATHS
from tests.fakes.barrier import Barrier
from tests.fakes.graphs import Done, plan
from tests.integration.runtime.claims.claiming import ELSEWHERE, claim, end, lease, outcome
from tests.integration.workflows import begin, ended, running

Configure = Callable[..., Config]


async def claim_one(database: Database, runner_id: str, **more: Any) -> Claim:
    """Claim the one workflow there is."""
    await lease(database, runner_id)
    [found] = await claim(database, runner_id, **more)
    return found


async def has_lease(database: Database, runner_id: str) -> bool:
    """Whether a runner has not ended."""
    async with database.connection() as connection:
        cursor = await connection.execute("SELECT id FROM runners WHERE id = %s", (runner_id,))
        return await cursor.fetchone() is not None


async def everything(database: Database) -> list[Any]:
    """All that a workflow's owner may write."""
    async with database.connection() as connection:
        rows: list[Any] = []
        for table in ("workflows", "documents", "events", "approvals"):
            cursor = await connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2, 3".encode())
            rows.append(await cursor.fetchall())
        return rows


async def test_a_workflow_runs_to_its_end_and_each_step_once(
    database: Database, configure: Configure
) -> None:
    with Barrier() as barrier:
        workflow = await begin(database, barrier)
        async with running(database, configure()):
            done = await ended(database, workflow.id)
        assert done.status == "succeeded"
        assert done.result == {"done": ["one", "two", "three", "four"], "decision": None}
        assert [arrival.step for arrival in barrier.arrivals] == ["one", "two", "three", "four"]


async def test_a_claim_that_is_over_can_write_nothing(database: Database) -> None:
    with Barrier() as barrier:
        workflow = await begin(database, barrier)
    old = await claim_one(database, "r1")
    await end(database, "r1")
    new = await claim_one(database, "r2")
    assert new.epoch > old.epoch
    before = await everything(database)
    assert await documents.put(database, [outcome(old, "k")]) == set()
    assert await claims.finish(database, [claims.Finish(old, "{}", False)]) == set()
    assert await claims.still_owned(database, [old]) == set()
    writes = [
        claims.fail(database, old, error="no", project=False),
        claims.give_back(database, old),
        claims.park(database, old, waits_for="rain", pause_seconds=1, waited_seconds=1, afresh=True),
    ]
    for write in writes:
        with pytest.raises(Fenced):
            await write
    assert await everything(database) == before
    assert await documents.put(database, [outcome(new, "k")]) == {(workflow.id, new.epoch)}


@pytest.mark.parametrize("how", ["finish", "fail", "cancel"])
async def test_settling_ends_the_claim_so_that_nothing_acts_on_an_older_answer(
    database: Database, how: str
) -> None:
    with Barrier() as barrier:
        workflow = await begin(database, barrier)
    held = await claim_one(database, "r1")
    async with database.connection() as connection:
        [holding] = await claims.held_by(connection, "r1")
    if how == "finish":
        await claims.finish(database, [claims.Finish(held, "{}", False)])
    elif how == "fail":
        await claims.fail(database, held, error="no", project=False)
    else:
        async with database.transaction() as connection:
            await workflows.cancel(connection, workflow.id, reason="no")
    async with database.connection() as connection:
        await claims.let_go(connection, "r1", holding)
        await claims.let_go(
            connection, "r1", Holding(workflow_id=workflow.id, epoch=held.epoch + 1, wanted=True)
        )
        settled = await workflows.get(connection, workflow.id)
    assert settled.status == {"finish": "succeeded", "fail": "failed", "cancel": "cancelled"}[how]
    assert settled.epoch > held.epoch
    assert await claim(database, "r1") == []


@pytest.mark.parametrize("how", ["park", "give back", "gate"])
async def test_setting_it_aside_ends_the_claim(database: Database, how: str) -> None:
    with Barrier() as barrier:
        workflow = await begin(database, barrier, "gated")
    held = await claim_one(database, "r1")
    if how == "park":
        await claims.park(database, held, waits_for="rain", pause_seconds=1, waited_seconds=1, afresh=True)
    elif how == "give back":
        await claims.give_back(database, held)
    else:
        stop = GateStop(gate="plan", request=plan("send the letter"))
        await approvals.open_gates(database, held, [stop])
    async with database.connection() as connection:
        aside = await workflows.get(connection, workflow.id)
    assert aside.status == {"park": "parked", "give back": "queued", "gate": "waiting"}[how]
    assert aside.epoch > held.epoch
    assert await claims.still_owned(database, [held]) == set()


async def test_two_runners_never_claim_the_same_workflow(database: Database) -> None:
    with Barrier() as barrier:
        made = [(await begin(database, barrier)).id for _ in range(20)]
    for runner_id in ("r1", "r2"):
        await lease(database, runner_id)
    found = await asyncio.gather(*(claim(database, f"r{n % 2 + 1}", 3) for n in range(12)))
    claimed = [one.workflow_id for some in found for one in some]
    assert sorted(claimed) == sorted(made)


async def test_one_kind_s_thousands_leave_room_for_the_others(
    database: Database, configure: Configure
) -> None:
    config = configure({"runners.concurrency": 2, "runners.reserved_per_kind": 1, "runners.count": 1})
    with Barrier() as barrier:
        barrier.hold("one")
        for _ in range(6):
            await begin(database, barrier)
        async with running(database, config):
            await asyncio.to_thread(barrier.until, lambda: len(barrier.arrivals) == 2)
            late = await begin(database, barrier, "fan")
            assert (await ended(database, late.id)).status == "succeeded"
            assert barrier.runs(late.id, "join") == 1
            barrier.release()


async def test_a_failed_step_fails_the_workflow_and_a_retry_continues_there(
    database: Database, configure: Configure
) -> None:
    with Barrier() as barrier:
        workflow = await begin(database, barrier, fail="three")
        async with running(database, configure()):
            failed = await ended(database, workflow.id)
            assert failed.status == "failed"
            assert (failed.error or "").startswith("RuntimeError: step three was told to fail (trace ")
            async with database.transaction() as connection:
                await connection.execute("UPDATE workflows SET input = input - 'fail'")
                await workflows.retry(connection, workflow.id)
            assert (await ended(database, workflow.id)).status == "succeeded"
        assert [a.step for a in barrier.arrivals] == ["one", "two", "three", "three", "four"]
    async with database.transaction() as connection:
        with pytest.raises(WorkflowConflict, match="is succeeded"):
            await workflows.retry(connection, workflow.id)


async def test_a_cancelled_workflow_writes_nothing_more(database: Database, configure: Configure) -> None:
    with Barrier() as barrier:
        barrier.hold("two")
        workflow = await begin(database, barrier)
        async with running(database, configure()):
            await asyncio.to_thread(barrier.until, lambda: barrier.runs(workflow.id, "two") == 1)
            async with database.transaction() as connection:
                await workflows.cancel(connection, workflow.id, reason="changed my mind")
            before = (await everything(database))[1]
            barrier.release()
            next_one = await begin(database, barrier)
            await ended(database, next_one.id)
            kept = [row for row in (await everything(database))[1] if row["workflow_id"] == workflow.id]
            assert kept == before
            async with database.connection() as connection:
                stopped = await workflows.get(connection, workflow.id)
            assert stopped.status == "cancelled"
            assert stopped.error == "changed my mind"
            assert barrier.runs(workflow.id, "three") == 0
            async with database.transaction() as connection:
                with pytest.raises(WorkflowEnded):
                    await workflows.cancel(connection, workflow.id, reason="again")


async def test_a_stopped_runner_gives_its_workflows_back_after_the_present_step(
    database: Database, configure: Configure
) -> None:
    config = configure()
    with Barrier() as barrier:
        barrier.hold("two")
        workflow = await begin(database, barrier)
        async with running(database, config, "a") as runner:
            await asyncio.to_thread(barrier.until, lambda: barrier.runs(workflow.id, "two") == 1)
            runner.stop()
            barrier.release()
        assert (await ended(database, workflow.id, "queued")).status == "queued"
        assert barrier.runs(workflow.id, "three") == 0
        async with running(database, config, "b"):
            assert (await ended(database, workflow.id)).status == "succeeded"
        assert [a.step for a in barrier.arrivals] == ["one", "two", "three", "four"]


async def test_what_a_runner_claims_while_it_is_stopped_is_given_back_at_once(
    database: Database, configure: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own workflow, say, that it has just given back."""
    real, stopped = claims.claim, asyncio.Event()
    with Barrier() as barrier:
        async with running(database, configure(), "a") as runner:

            async def overtaken(*arguments: Any, **more: Any) -> list[Claim]:
                taken = await real(*arguments, **more)
                if taken:
                    runner.stop()
                    stopped.set()
                return taken

            monkeypatch.setattr(claims, "claim", overtaken)
            workflow = await begin(database, barrier)
            # Before the end of `running`, which stops the runner once more.
            async with asyncio.timeout(20):
                await stopped.wait()
                while await has_lease(database, runner.id):  # noqa: ASYNC110  # a row
                    await asyncio.sleep(0.02)
        assert (await ended(database, workflow.id, "queued", "succeeded")).status == "queued"
        assert barrier.arrivals == []


async def test_nobody_takes_a_workflow_over_between_an_effect_s_fence_and_its_commit(
    database: Database,
) -> None:
    with Barrier() as barrier:
        await begin(database, barrier)
    held = await claim_one(database, "r1")
    await lease(database, "r2")

    async def act(connection: Connection) -> Done:
        await end(database, "r1")
        assert await claim(database, "r2") == []
        return Done(said="done")

    await documents.effect(database, held, key="k", act=act)
    [after] = await claim(database, "r2")
    assert await documents.get_all(database, after.workflow_id) == {"k": {"said": "done"}}


async def test_what_is_stopped_ends_while_a_claim_is_under_way(
    database: Database, configure: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    claiming, over = asyncio.Event(), asyncio.Event()

    async def held_up(*_: object, **__: object) -> list[Claim]:
        claiming.set()
        await over.wait()
        return []

    with Barrier() as barrier:
        barrier.hold("one")
        async with running(database, configure()) as runner:
            workflow = await begin(database, barrier)
            await asyncio.to_thread(barrier.until, lambda: barrier.runs(workflow.id, "one") == 1)
            monkeypatch.setattr(claims, "claim", held_up)
            await begin(database, barrier)
            await claiming.wait()
            async with database.transaction() as connection:
                await workflows.cancel(connection, workflow.id, reason="enough")
            async with asyncio.timeout(30):
                while runner._active:  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
            assert not over.is_set()
            monkeypatch.undo()
            over.set()
            barrier.release()


async def test_nobody_cancels_a_workflow_between_an_effect_s_fence_and_its_commit(database: Database) -> None:
    with Barrier() as barrier:
        workflow = await begin(database, barrier)
    held = await claim_one(database, "r1")

    async def cancel() -> set[str]:
        async with database.transaction() as connection:
            await workflows.cancel(connection, workflow.id, reason="no")
        return set(await documents.get_all(database, workflow.id))

    async def act(connection: Connection) -> Done:
        nonlocal cancelling
        cancelling = asyncio.create_task(cancel())
        waits = "SELECT count(*) AS n FROM pg_locks WHERE NOT granted"
        async with asyncio.timeout(20):
            while not cancelling.done():
                if (await (await connection.execute(waits)).fetchone() or {})["n"]:
                    break
        assert not cancelling.done()
        return Done(said="done")

    cancelling: asyncio.Task[set[str]]
    await documents.effect(database, held, key="k", act=act)
    assert await cancelling == {"k"}
    with pytest.raises(Fenced):
        await documents.effect(database, held, key="l", act=act)


async def test_a_runner_whose_own_lease_has_run_out_takes_nothing(database: Database) -> None:
    """It was paused, say: others may be taking over from it, and would from what it took now."""
    with Barrier() as barrier:
        workflow = await begin(database, barrier)
    assert await claim(database, "r1") == []  # it never had one
    await lease(database, "r1", seconds=-1)
    assert await claim(database, "r1") == []
    async with database.connection() as connection:
        assert (await workflows.get(connection, workflow.id)).status == "queued"
    await lease(database, "r1")
    assert [one.workflow_id for one in await claim(database, "r1")] == [workflow.id]


async def test_a_namesake_of_another_site_keeps_what_it_has(database: Database) -> None:
    with Barrier() as barrier:
        await begin(database, barrier)
    await lease(database, "site-a:runner:0")
    assert len(await claim(database, "site-a:runner:0")) == 1
    async with database.connection() as connection:
        await runners.renew(
            connection, runner_id="b", name="site-a:runner:0", process=ELSEWHERE, lease_seconds=60
        )
    assert await claim(database, "b") == []


async def test_two_runners_of_one_name_leave_each_other_s_work_alone(
    database: Database, configure: Configure
) -> None:
    """Two sites on one database: each step begins once, however long it takes."""
    config = configure({"runners.lease_seconds": 1, "runners.concurrency": 4})
    with Barrier() as barrier:
        barrier.hold("two")
        made = [(await begin(database, barrier)).id for _ in range(8)]
        async with running(database, config, "runner:0"), running(database, config, "runner:0"):
            await asyncio.to_thread(
                barrier.until, lambda: all(barrier.runs(workflow_id, "two") for workflow_id in made)
            )
            # Both renew their leases several times meanwhile.
            renewed = "SELECT min(lease_until) AS until FROM runners"
            async with database.connection() as connection:
                row = await (await connection.execute(renewed)).fetchone()
                first = row["until"] if row else None
                async with asyncio.timeout(30):
                    while (row := await (await connection.execute(renewed)).fetchone()) and (  # noqa: ASYNC110
                        row["until"] - first
                    ).total_seconds() < 3:
                        await asyncio.sleep(0.05)
            barrier.release()
            for workflow_id in made:
                assert (await ended(database, workflow_id)).status == "succeeded"
        assert all(barrier.runs(workflow_id, "two") == 1 for workflow_id in made)


async def test_a_lease_runs_out_only_while_leases_can_be_renewed(database: Database) -> None:
    """After Postgres was away, or its standby was promoted, whoever lives gets the time to say so."""
    with Barrier() as barrier:
        await begin(database, barrier)
    await lease(database, "r1", seconds=60)
    assert len(await claim(database, "r1")) == 1

    async def shift(column: str, seconds: int) -> None:
        async with database.connection() as connection:
            await connection.execute(
                f"UPDATE lease_clock SET {column} = {column} - make_interval(secs => %s)".encode(), (seconds,)
            )

    async with database.connection() as connection:
        await connection.execute("UPDATE runners SET lease_until = now() - interval '1 second'")
    # Nobody renewed for longer than a lease: the clock begins anew, and r1 is waited for.
    await shift("running_since", 1000)
    await shift("renewed_at", 1000)
    await lease(database, "r2")
    assert await claim(database, "r2") == []
    # A whole lease has passed since, and r1 has not come back.
    await shift("running_since", 61)
    assert len(await claim(database, "r2")) == 1


async def test_a_clock_set_back_keeps_no_dead_runner_alive(database: Database) -> None:
    with Barrier() as barrier:
        await begin(database, barrier)
    await lease(database, "r1")
    assert len(await claim(database, "r1")) == 1
    async with database.connection() as connection:
        await connection.execute("UPDATE runners SET lease_until = now() + interval '1 day' WHERE id = 'r1'")
        await connection.execute("UPDATE lease_clock SET running_since = now() - interval '1 hour'")
    await lease(database, "r2")
    assert len(await claim(database, "r2")) == 1


async def test_what_kills_its_runners_is_set_aside_and_can_be_begun_again(
    database: Database, configure: Configure
) -> None:
    config = configure({"runners.max_attempts": 3})
    with Barrier() as barrier:
        poison = await begin(database, barrier)
        for death in range(3):
            name = f"r{death}"
            await lease(database, name)
            [found] = await claim(database, name, 5, suspects=death >= SUSPECT_DEATHS)
            assert found.deaths == death
            await end(database, name)
            if death + 1 >= SUSPECT_DEATHS:
                await lease(database, "x")
                assert await claim(database, "x") == [], "a suspect is not taken among the others"
        async with running(database, config):
            failed = await ended(database, poison.id)
            assert failed.status == "failed"
            assert failed.error is not None
            assert failed.error.startswith("3 runners in a row ended while they ran it")
            assert f"signoff workflows retry {poison.id}" in failed.error
            assert barrier.arrivals == []
            async with database.transaction() as connection:
                await workflows.retry(connection, poison.id)
            assert (await ended(database, poison.id)).status == "succeeded"


async def test_a_death_after_a_new_step_does_not_count_on(database: Database) -> None:
    with Barrier() as barrier:
        await begin(database, barrier)
    deaths = []
    for turn in range(6):
        found = await claim_one(database, f"r{turn}")
        deaths.append(found.deaths)
        await documents.put(database, [outcome(found, f"step {turn}")])
        await end(database, f"r{turn}")
    assert deaths == [0, 1, 1, 1, 1, 1]


@pytest.mark.parametrize("got_on", [True, False])
@pytest.mark.parametrize("how", ["given back", "let go", "taken over"])
async def test_what_has_got_on_waits_and_dies_anew(database: Database, how: str, got_on: bool) -> None:
    with Barrier() as barrier:
        workflow = await begin(database, barrier)
    async with database.connection() as connection:
        await connection.execute(
            "UPDATE workflows SET deaths = 1, waited_seconds = 5, parked_since = now(), parked_for = 'rain'"
        )
    held = await claim_one(database, "r1")
    if got_on:
        await documents.put(database, [outcome(held, "k")])
    if how == "given back":
        await claims.give_back(database, held)
    elif how == "let go":
        async with database.connection() as connection:
            [holding] = await claims.held_by(connection, "r1")
            await claims.let_go(connection, "r1", holding)
    else:
        await end(database, "r1")
        await claim_one(database, "r2", suspects=not got_on)
    async with database.connection() as connection:
        cursor = await connection.execute("SELECT deaths, waited_seconds, parked_for FROM workflows")
        [row] = await cursor.fetchall()
    died = 1 if how == "taken over" else 0
    expected = (died, 0, None) if got_on else (1 + died, 5, "rain")
    assert (row["deaths"], row["waited_seconds"], row["parked_for"]) == expected
    assert (await look_at(database, workflow.id)) == ("running" if died else "queued")


async def test_the_deaths_before_one_that_got_on_and_is_parked_count_no_more(database: Database) -> None:
    with Barrier() as barrier:
        await begin(database, barrier)
    for afresh, deaths in ((False, 1), (True, 0)):
        async with database.connection() as connection:
            await connection.execute("UPDATE workflows SET deaths = 1, status = 'queued'")
        held = await claim_one(database, "r")
        await claims.park(database, held, waits_for="rain", pause_seconds=1, waited_seconds=1, afresh=afresh)
        async with database.connection() as connection:
            [row] = await (await connection.execute("SELECT deaths FROM workflows")).fetchall()
        assert row["deaths"] == deaths


async def look_at(database: Database, workflow_id: str) -> str:
    """A workflow's status."""
    async with database.connection() as connection:
        return (await workflows.get(connection, workflow_id)).status
