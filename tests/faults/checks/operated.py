"""The rows of a run's operations, and the logs of the servers that they read, for the checks of them."""

from collections.abc import Iterator, Mapping
from typing import Any

from models.runtime.workflows import Workflow
from tests.faults import ledger
from tests.faults.checks import operations, questions, writes
from tests.faults.checks.operations import OperationTrail
from tests.faults.checks.runs import Runs
from tests.faults.people.operations import BegunOperation
from tests.faults.people.work import Work
from tests.faults.site.books import NOTE, SEARCH, BookCall, code_of
from tests.faults.site.configuring import LEASE_SECONDS
from tests.faults.site.world import World


async def check(
    world: World, work: Work, mine: Mapping[str, Workflow], kept: Mapping[str, dict[str, Any]]
) -> list[str]:
    """All that is wrong with the operations of a run that has settled."""
    wrong = list(operations.written_while_running(await ledger.operated(world.rows, _numbers(work))))
    for begun in work.operations:
        if begun.workflow_id in mine:  # what is lost was told of before
            workflow = mine[begun.workflow_id]
            one = await _gathered(world, begun, workflow, list(kept[begun.workflow_id]))
            wrong += _odd(one, work)
            keeps = await ledger.keeps(world.rows, [begun.workflow_id])
            said = writes.yeses(one.approvals, one.history, keeps, one.moves, world.disturbances)
            came = [call for call in _calls(world, begun) if call.tool == NOTE]
            wrong += writes.came_once_for_each(one.name, said, came)
    there = await world.rows(
        "SELECT id FROM operations WHERE request_id LIKE %s ORDER BY id", f"run-{work.run}-%"
    )
    if (known := sorted(_numbers(work))) != (found := [row["id"] for row in there]):
        wrong.append(f"the operations {known} were asked for, and there are {found}")
    return wrong


async def called_by_somebody(world: World, runs: Runs) -> list[str]:
    """Each call that came since they were looked at last is of an operation, of whatever run."""
    rows = await world.rows("SELECT request_id FROM operations WHERE request_id LIKE 'run-%%'")
    numbers = [row["request_id"].split("-")[1:] for row in rows]
    codes = {code_of(int(run), int(number)) for run, number in numbers}
    calls = [
        call
        for name, book in world.books.items()
        for call in runs.since(f"{name}, by whom", list(book.entries))
    ]
    return [f"{c.book} was called for {c.query!r}, by nobody" for c in calls if c.code not in codes]


def _odd(one: OperationTrail, work: Work) -> Iterator[str]:
    ids = {approval["id"] for approval in one.approvals}
    # One whose approval could not be looked at has said nothing.
    said = [each for each in work.said if each.approval_id in ids and each.feedback]
    yield from operations.calls_were_approved(one)
    yield from operations.calls_were_told(one)
    yield from operations.read_for_a_reason(one)
    yield from operations.decisions_are_told(one, said)
    yield from operations.ended_as_decided(one)
    yield from questions.told_as_given(one)
    if (at := work.cancelled_at.get(one.workflow.id)) is not None:
        yield from operations.called_after_its_cancel(one, at, hears_within=LEASE_SECONDS)


def _calls(world: World, begun: BegunOperation) -> list[BookCall]:
    return [call for book in world.books.values() for call in list(book.entries) if call.code == begun.code]


def _numbers(work: Work) -> list[int]:
    return [begun.number for begun in work.operations]


async def _gathered(
    world: World, begun: BegunOperation, workflow: Workflow, keys: list[str]
) -> OperationTrail:
    iterations = await world.rows(
        "SELECT iteration, results FROM operation_iterations WHERE operation_id = %s", begun.number
    )
    return OperationTrail(
        number=begun.number,
        workflow=workflow,
        approvals=await world.rows(
            "SELECT id, kind, status, content, answer, decided_by,"
            " extract(epoch FROM decided_at)::float8 AS at FROM approvals"
            " WHERE workflow_id = %s ORDER BY created_at",
            begun.workflow_id,
        ),
        history=await world.rows(
            "SELECT iteration, stage, agent, result, user_feedback, by FROM operation_history"
            " WHERE operation_id = %s ORDER BY id",
            begun.number,
        ),
        iterations={row["iteration"]: row["results"] for row in iterations},
        calls=[call for call in _calls(world, begun) if call.tool == SEARCH],
        moves=await ledger.moves(world.rows, [begun.workflow_id]),
        keys=keys,
    )
