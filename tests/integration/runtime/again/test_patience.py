"""How long an outage is waited for: only the time in which somebody tried in vain counts."""

from collections.abc import Callable

import pytest

from actors.platform.runtime.directory import Directory
from actors.platform.runtime.execution import CompiledGraph, Execution
from actors.platform.runtime.group_commit import JournalWriter
from actors.platform.runtime.run import Run
from actors.platform.runtime.workflow_graph import WorkflowGraph
from models.config import Config
from models.errors import DatabaseUnavailable, JournalMismatch
from models.runtime.workflows import Claim
from models.store.database import Database
from models.store.runtime import workflows
from tests.fakes import graphs
from tests.fakes.barrier import Barrier
from tests.integration.runtime.claims.claiming import claim, lease
from tests.integration.runtime.journals.carrying import carry, look
from tests.integration.workflows import begin

Configure = Callable[..., Config]
AWAY = DatabaseUnavailable("the oracle is away", waits_for="the oracle")


def _needing(
    away: Callable[[], bool], *, at: tuple[str, ...] = ("two",), error: Exception = AWAY
) -> WorkflowGraph:
    """Steps that need something at some of them, which may be away."""

    class Needing(graphs.Context):
        async def report(self, step: str) -> None:
            """Asked before the step is kept."""
            if step in at and away():
                raise error

    async def begin(run: Run) -> tuple[dict[str, list[str]], Needing]:
        return {"done": []}, Needing(run=run)

    return WorkflowGraph(build=graphs.build_steps, begin=begin, result=graphs._result)


def _execution(held: Claim, database: Database, config: Config, kind: WorkflowGraph) -> Execution:
    return Execution(
        claim=held,
        compiled=CompiledGraph(kind),
        config=config,
        database=database,
        directory=Directory(config=config, roles="tests.fakes.agents:ROLES"),
        journal=JournalWriter(database=database),
    )


async def test_an_outage_parks_the_step_with_growing_pauses_until_patience_is_over(
    database: Database, configure: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = True

    async def report(self: graphs.Context, step: str) -> None:
        if away and step == "two":
            raise DatabaseUnavailable("the oracle is away", waits_for="the oracle")

    monkeypatch.setattr(graphs.Context, "report", report)
    config = configure(
        {
            "outages.patience_seconds": 600,
            "operations.away_seconds": 60,
            "outages.longest_pause_seconds": 100,
            "outages.first_pause_seconds": 1,
        }
    )
    with Barrier() as barrier:
        workflow = await begin(database, barrier)
        await carry(database, config, graphs.STEPS)
        parked = await look(database, workflow.id)
        assert (parked.status, parked.parked_for) == ("parked", "the oracle")
        assert await claim(database, "r") == [], "not before its pause is over"
        pauses = []
        for waited in (0, 40, 300):
            async with database.connection() as connection:
                await connection.execute(
                    "UPDATE workflows SET not_before = now(), waited_seconds = %s", (waited,)
                )
            await carry(database, config, graphs.STEPS)
            async with database.connection() as connection:
                cursor = await connection.execute(
                    "SELECT extract(epoch FROM not_before - now())::float8 AS pause FROM workflows"
                )
                row = await cursor.fetchone()
            assert row is not None
            pauses.append(row["pause"])
        assert pauses == pytest.approx([1, 20, 100], abs=10)
        async with database.connection() as connection:
            await connection.execute("UPDATE workflows SET not_before = now(), waited_seconds = 601")
        await carry(database, config, graphs.STEPS)
        failed = await look(database, workflow.id)
        assert failed.status == "failed"
        assert failed.error == "waited 600 s in vain for the oracle: the oracle is away"
        away = False
        async with database.transaction() as connection:
            await workflows.retry(connection, workflow.id)
        await carry(database, config, graphs.STEPS)
        assert (await look(database, workflow.id)).status == "succeeded"


async def pass_hours(database: Database, hours: int) -> None:
    """As if so much time had gone by since everything that is kept."""
    async with database.connection() as connection:
        for table, column in (
            ("workflows", "not_before"),
            ("workflows", "parked_since"),
            ("documents", "created_at"),
        ):
            query = f"UPDATE {table} SET {column} = {column} - make_interval(hours => %s)"
            await connection.execute(query.encode(), (hours,))


async def test_time_in_which_nobody_tried_is_no_waiting(database: Database, configure: Configure) -> None:
    """A site that was down over a weekend, with work that was parked before, tries again on Monday."""
    config = configure({"outages.patience_seconds": 3600})
    with Barrier() as barrier:
        workflow = await begin(database, barrier)
        kind = _needing(lambda: True)
        await carry(database, config, kind)
        first = await look(database, workflow.id)
        await pass_hours(database, 60)
        await carry(database, config, kind)
        second = await look(database, workflow.id)
    assert (first.status, second.status) == ("parked", "parked")
    assert first.parked_since is not None
    assert second.parked_since is not None
    assert second.parked_since < first.parked_since  # people are told since when it is away


async def test_a_step_that_was_kept_in_between_begins_the_waiting_anew(
    database: Database, configure: Configure
) -> None:
    """Also where the runner that kept it was stopped before it could say so."""
    config = configure({"outages.patience_seconds": 3600})
    away, stop = True, False
    execution: list[Execution] = []

    def needs() -> bool:
        if stop:
            execution[-1].control.request_drain("upgrade")
        return away

    with Barrier() as barrier:
        workflow = await begin(database, barrier)
        kind = _needing(needs, at=("one", "two"))
        await carry(database, config, kind)
        first = await look(database, workflow.id)
        async with database.connection() as connection:
            await connection.execute("UPDATE workflows SET not_before = now(), waited_seconds = 3599")
        away, stop = False, True
        await lease(database, "r")
        [held] = await claim(database, "r")
        execution.append(_execution(held, database, config, kind))
        await execution[-1].carry()
        queued = await look(database, workflow.id)
        assert (queued.status, queued.parked_since) == ("queued", None), "it waits for nothing any more"
        away, stop = True, False
        await carry(database, config, kind)
        parked = await look(database, workflow.id)
    assert (parked.status, parked.error) == ("parked", None)
    assert first.parked_since is not None
    assert parked.parked_since is not None
    assert parked.parked_since > first.parked_since


async def test_waiting_for_another_release_is_no_waiting_for_an_outage(
    database: Database, configure: Configure
) -> None:
    config = configure({"outages.patience_seconds": 3600})
    with Barrier() as barrier:
        workflow = await begin(database, barrier)
        await carry(database, config, _needing(lambda: True, error=JournalMismatch("another release")))
        async with database.connection() as connection:
            await connection.execute("UPDATE workflows SET not_before = now()")
        await pass_hours(database, 60)
        await carry(database, config, _needing(lambda: True))
        parked = await look(database, workflow.id)
    assert (parked.status, parked.parked_for) == ("parked", "the oracle")
