"""The runner and its saver in this process, on a real Postgres: what is committed, and what is refused."""

import asyncio
import operator
from collections.abc import Callable
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.graph import END, START, StateGraph

from actors.runtime.checkpoints import EPOCH, FencedSaver, GroupCommit
from models.config import Config
from models.errors import Fenced, WorkflowEnded
from models.store import documents, runners, workflows
from models.store.database import Database
from models.workflows import Claim
from tests.fakes.barrier import Barrier
from tests.fakes.graphs import KINDS
from tests.integration.workflows import begin, ended, running

Configure = Callable[..., Config]


async def claim_one(database: Database, runner_id: str) -> Claim:
    """Claim the one workflow there is, as a runner would."""
    await runners.register(database, runner_id=runner_id, name=runner_id, node="n", pid=1, lease_seconds=60)
    [claim] = await workflows.claim(
        database, runner_id=runner_id, kinds=list(KINDS), limit=5, lease_seconds=0
    )
    return claim


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
    await runners.end(database, runner_id="r1")
    new = await claim_one(database, "r2")
    assert new.epoch > old.epoch
    before = await everything(database)
    saver = FencedSaver(database=database, commits=GroupCommit(database=database))
    where: Any = {"configurable": {"thread_id": workflow.id, "checkpoint_ns": "", EPOCH: old.epoch}}
    checkpoint: Any = {
        "id": "1",
        "v": 4,
        "ts": "",
        "channel_values": {},
        "channel_versions": {},
        "versions_seen": {},
    }
    with pytest.raises(Fenced):
        await saver.aput(where, checkpoint, {"source": "loop", "step": 1}, {})
    where["configurable"]["checkpoint_id"] = "1"
    with pytest.raises(Fenced):
        await saver.aput_writes(where, [("done", ["x"])], "task")
    with pytest.raises(Fenced):
        await documents.put(database, old, key="k", value={})
    with pytest.raises(Fenced):
        await workflows.finish(database, old, result={})
    with pytest.raises(Fenced):
        await workflows.fail(database, old, error="no")
    with pytest.raises(Fenced):
        await workflows.give_back(database, old)
    assert await everything(database) == before
    where["configurable"][EPOCH] = new.epoch
    await saver.aput(where, checkpoint, {"source": "loop", "step": 1}, {})


async def everything(database: Database) -> list[Any]:
    """All that a workflow's owner may write."""
    async with database.connection() as connection:
        rows: list[Any] = []
        for table in ("workflows", "checkpoints", "checkpoint_writes", "documents", "events", "approvals"):
            cursor = await connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2, 3".encode())
            rows.append(await cursor.fetchall())
        return rows


async def test_one_group_of_an_old_and_a_new_epoch_writes_only_the_new(database: Database) -> None:
    with Barrier() as barrier:
        workflow = await begin(database, barrier)
    old = await claim_one(database, "r1")
    await runners.end(database, runner_id="r1")
    new = await claim_one(database, "r2")
    saver = FencedSaver(database=database, commits=GroupCommit(database=database, lanes=1))

    def put(epoch: int, checkpoint_id: str) -> Any:
        where: Any = {"configurable": {"thread_id": workflow.id, "checkpoint_ns": "", EPOCH: epoch}}
        checkpoint: Any = {"id": checkpoint_id, "v": 4, "channel_values": {}, "channel_versions": {}}
        return saver.aput(where, checkpoint, {"source": "loop", "step": 1}, {})

    answers = await asyncio.gather(
        put(new.epoch, "1"), put(old.epoch, "2"), put(new.epoch, "3"), return_exceptions=True
    )
    assert [isinstance(answer, Fenced) for answer in answers] == [False, True, False]
    kept = await saver.aget_tuple({"configurable": {"thread_id": workflow.id}})
    assert kept is not None
    assert kept.checkpoint["id"] == "3"


async def test_two_runners_never_claim_the_same_workflow(database: Database) -> None:
    with Barrier() as barrier:
        made = [(await begin(database, barrier)).id for _ in range(20)]
    for runner_id in ("r1", "r2"):
        await runners.register(
            database, runner_id=runner_id, name=runner_id, node="n", pid=1, lease_seconds=60
        )
    claims = await asyncio.gather(
        *(
            workflows.claim(database, runner_id=f"r{n % 2 + 1}", kinds=["steps"], limit=3, lease_seconds=9)
            for n in range(12)
        )
    )
    claimed = [claim.workflow_id for some in claims for claim in some]
    assert sorted(claimed) == sorted(made)


async def test_a_failed_step_fails_the_workflow_and_queueing_it_again_continues_there(
    database: Database, configure: Configure
) -> None:
    with Barrier() as barrier:
        workflow = await begin(database, barrier, fail="three")
        async with running(database, configure()):
            failed = await ended(database, workflow.id)
            assert failed.status == "failed"
            assert failed.error == "RuntimeError: step three was told to fail"
            async with database.transaction() as connection:
                await connection.execute("UPDATE workflows SET input = input - 'fail'")
                await workflows.requeue(connection, workflow.id)
            assert (await ended(database, workflow.id)).status == "succeeded"
        assert [a.step for a in barrier.arrivals] == ["one", "two", "three", "three", "four"]


async def test_a_cancelled_workflow_writes_nothing_more(database: Database, configure: Configure) -> None:
    with Barrier() as barrier:
        barrier.hold("two")
        workflow = await begin(database, barrier)
        async with running(database, configure()):
            await asyncio.to_thread(barrier.until, lambda: barrier.runs(workflow.id, "two") == 1)
            async with database.transaction() as connection:
                await workflows.cancel(connection, workflow.id, reason="changed my mind")
            before = await everything(database)
            barrier.release()
            next_one = await begin(database, barrier)
            await ended(database, next_one.id)
            async with database.connection() as connection:
                stopped = await workflows.get(connection, workflow.id)
                cursor = await connection.execute(
                    "SELECT * FROM checkpoints WHERE thread_id = %s ORDER BY 1, 2, 3", (workflow.id,)
                )
                assert await cursor.fetchall() == before[1]
            assert stopped.status == "cancelled"
            assert stopped.epoch > 1, "stopping raises the epoch, so its runner is fenced off"
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


class Numbers(TypedDict):
    """A list that grows."""

    seen: Annotated[list[int], operator.add]


async def test_the_saver_keeps_history_and_pending_writes_like_the_stock_one(database: Database) -> None:
    """A graph run with our saver and interrupted midway resumes and lists as LangGraph documents."""
    with Barrier() as barrier:
        workflow = await begin(database, barrier)
    claim = await claim_one(database, "r1")
    broken = True

    async def good(state: Numbers) -> Numbers:
        return {"seen": [1]}

    async def bad(state: Numbers) -> Numbers:
        await asyncio.sleep(0)
        if broken:
            raise RuntimeError("not yet")
        return {"seen": [2]}

    graph = StateGraph(Numbers)
    graph.add_node("good", good)
    graph.add_node("bad", bad)
    graph.add_edge(START, "good")
    graph.add_edge(START, "bad")
    graph.add_edge("good", END)
    graph.add_edge("bad", END)
    saver = FencedSaver(database=database, commits=GroupCommit(database=database))
    app = graph.compile(checkpointer=saver)
    where: Any = {"configurable": {"thread_id": workflow.id, EPOCH: claim.epoch}}
    with pytest.raises(RuntimeError, match="not yet"):
        await app.ainvoke({"seen": [0]}, where, durability="sync")
    saved = await saver.aget_tuple(where)
    assert saved is not None
    assert ("seen", [1]) in [(channel, value) for _, channel, value in saved.pending_writes or []]
    broken = False
    await app.ainvoke(None, where, durability="sync")
    final = await app.aget_state(where)
    assert sorted(final.values["seen"]) == [0, 1, 2]
    steps = [found.metadata["step"] async for found in saver.alist(where)]
    assert steps == sorted(steps, reverse=True)
    [newest] = [found async for found in saver.alist(where, limit=1)]
    assert newest.checkpoint["id"] == final.config["configurable"]["checkpoint_id"]
