"""The gate: nothing runs past it without a decision on exactly what was shown."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from actors.platform.runtime.runner import Runner
from models.config import Config
from models.errors import (
    ApprovalConflict,
    ApprovalNotFound,
    DecisionInvalid,
    PermissionMissing,
    SignoffError,
)
from models.people.scopes import read_scopes
from models.runtime.approvals import Approval, content_digest
from models.store import approval_inbox, approvals, decisions, events
from models.store.database import Database
from models.store.runtime import claims, workflows
from tests.examples import examples
from tests.fakes.barrier import Barrier
from tests.fakes.graphs import plan
from tests.integration.runtime.claims.claiming import claim, lease
from tests.integration.runtime.deciding import EDITOR, editors, waiting, yes
from tests.integration.workflows import begin, ended, running

Configure = Callable[..., Config]


async def test_an_approved_workflow_acts_and_a_rejected_one_does_not(
    database: Database, configure: Configure
) -> None:
    with Barrier() as barrier:
        async with running(database, configure()):
            agreed, refused = [await begin(database, barrier, "gated") for _ in range(2)]
            first, second = [await waiting(database, w.id) for w in (agreed, refused)]
            assert first.digest == content_digest({"plan": ["send the letter", "pay the bill"]})
            assert barrier.runs(agreed.id, "act") == 0
            await decisions.decide(
                database, approval_id=first.id, answer=yes(first), decided_by="bob", scopes=EDITOR
            )
            no = {"decision": "reject", "digest": second.digest, "notes": "too dear"}
            for unseen in (None, " ", "\u3164", "\u2800\u00a0", "\ufe0f", "\u0301"):
                with pytest.raises(DecisionInvalid, match="needs its reason"):
                    await decisions.decide(
                        database,
                        approval_id=second.id,
                        answer=no | {"notes": unseen},
                        decided_by="bob",
                        scopes=EDITOR,
                    )
            await decisions.decide(
                database, approval_id=second.id, answer=no, decided_by="bob", scopes=EDITOR
            )
            done = await ended(database, agreed.id)
            assert done.result is not None
            assert done.result["done"] == ["prepare", "act", "close"]
            assert done.result["decision"]["decided_by"] == "bob"
            done = await ended(database, refused.id)
            assert done.result is not None
            assert done.result["done"] == ["prepare", "close"]
            assert done.result["decision"]["notes"] == "too dear"
        assert barrier.runs(agreed.id, "prepare") == 1
    async with database.connection() as connection:
        told = [e.type for e in await events.read(connection, after=0, workflow_ids=[agreed.id])]
    assert told == [
        "workflow.queued",
        "workflow.running",
        "step.done",
        "approval.requested",
        "approval.approved",
        "workflow.running",
        "step.done",
        "step.done",
        "workflow.succeeded",
    ]


async def test_a_gate_decided_while_its_workflow_reaches_it_lets_it_act_once(
    database: Database, configure: Configure
) -> None:
    """The same runner claims it again while it still lets go of the first claim."""
    config = configure({"runners.lease_seconds": 1, "runners.poll_seconds": 0.05})
    with Barrier() as barrier:
        made = [await begin(database, barrier, "gated") for _ in range(40)]
        gates = []
        for workflow in made:
            async with database.transaction() as connection:
                request = plan("send the letter", "pay the bill")
                gates.append(
                    await approvals.ask(connection, workflow.id, "plan", request, requested_by="ann")
                )

        async def decide(number: int) -> None:
            # Some before their workflows begin, some while they run, some while they wait.
            await asyncio.to_thread(barrier.until, lambda: len(barrier.arrivals) >= number // 2)
            await decisions.decide(
                database,
                approval_id=gates[number].id,
                answer=yes(gates[number]),
                decided_by="bob",
                scopes=EDITOR,
            )

        async with running(database, config) as runner, asyncio.TaskGroup() as group:
            reconciling = group.create_task(_reconcile_again_and_again(runner))
            await asyncio.gather(*(decide(number) for number in range(40)))
            for workflow in made:
                done = await ended(database, workflow.id, timeout=60)
                assert done.result is not None
                assert done.result["done"] == ["prepare", "act", "close"]
            reconciling.cancel()
        assert {barrier.runs(w.id, step) for w in made for step in ("prepare", "act", "close")} == {1}


async def _reconcile_again_and_again(runner: Runner) -> None:
    while True:
        runner._heard("anything")
        await asyncio.sleep(0.01)


async def test_of_two_decisions_at_once_one_wins_and_the_other_conflicts(
    database: Database, configure: Configure
) -> None:
    with Barrier() as barrier:
        async with running(database, configure()):
            workflow = await begin(database, barrier, "gated")
            approval = await waiting(database, workflow.id)
            no = {"decision": "reject", "digest": approval.digest, "notes": "no"}
            answers = [yes(approval), no] * 4
            outcomes = await asyncio.gather(
                *(
                    decisions.decide(
                        database, approval_id=approval.id, answer=a, decided_by=f"u{n}", scopes=EDITOR
                    )
                    for n, a in enumerate(answers)
                ),
                return_exceptions=True,
            )
            won = [outcome for outcome in outcomes if isinstance(outcome, Approval)]
            assert len(won) == 1
            assert sum(isinstance(outcome, ApprovalConflict) for outcome in outcomes) == len(answers) - 1
            done = await ended(database, workflow.id)
            assert done.result is not None
            assert done.result["decision"]["status"] == won[0].status


async def refused_unchanged(
    database: Database, approval: Approval, error: type[SignoffError], **how: Any
) -> None:
    """A decision that is refused, and changes nothing."""
    with pytest.raises(error):
        await decisions.decide(
            database,
            **{
                "approval_id": approval.id,
                "answer": yes(approval),
                "decided_by": "bob",
                "scopes": EDITOR,
                **how,
            },
        )
    async with database.connection() as connection:
        assert await approval_inbox.get(connection, approval.id) == approval
        assert (await workflows.get(connection, approval.workflow_id)).status == "waiting"


async def test_what_is_not_a_clear_and_permitted_yes_to_what_was_shown_changes_nothing(
    database: Database, configure: Configure
) -> None:
    with Barrier() as barrier:
        async with running(database, configure()):
            workflow = await begin(database, barrier, "gated")
            approval = await waiting(database, workflow.id)
            other = content_digest({"plan": ["send the letter", "pay the bills"]})
            await refused_unchanged(database, approval, ApprovalConflict, answer=yes(approval, digest=other))
            await refused_unchanged(database, approval, PermissionMissing, scopes=())
            await refused_unchanged(
                database, approval, PermissionMissing, scopes=read_scopes(["global:reader", "macro:admin"])
            )
            await refused_unchanged(database, approval, PermissionMissing, decided_by="ann")
            await refused_unchanged(database, approval, ApprovalNotFound, approval_id="nobody")
            silent = {"decision": "reject", "digest": approval.digest}
            await refused_unchanged(database, approval, DecisionInvalid, answer=silent)
            assert barrier.runs(workflow.id, "act") == 0

            @examples(40, suppress_health_check=list(HealthCheck))
            @given(answer=UNCLEAR)
            def unclear(answer: Any) -> None:
                answers.append(answer)

            answers: list[Any] = []
            unclear()
            for answer in answers:
                await refused_unchanged(database, approval, DecisionInvalid, answer=answer)


UNCLEAR = st.one_of(
    st.none(),
    st.booleans(),
    st.text(),
    st.lists(st.text()),
    st.dictionaries(st.text(), st.text()),
    st.fixed_dictionaries(
        {
            "decision": st.text().filter(lambda t: t not in ("approve", "reject"))
            | st.sampled_from(["yes", "Approve", "approve ", "add notes on the economy", ""])
            | st.booleans(),
            "digest": st.text(),
        }
    ),
    st.fixed_dictionaries({"decision": st.just("approve"), "digest": st.integers() | st.none()}),
    st.fixed_dictionaries({"decision": st.just("approve"), "digest": st.text(), "surprise": st.text()}),
)


async def test_a_vote_of_who_may_not_approve_counts_for_nothing_however_it_came_there(
    database: Database,
) -> None:
    with Barrier() as barrier:
        workflow = await begin(database, barrier, "gated")
        async with database.transaction() as connection:
            request = plan("send the letter").model_copy(update={"quorum": 2})
            approval = await approvals.ask(connection, workflow.id, "plan", request, requested_by="ann")
            await connection.execute(
                "INSERT INTO approval_votes (approval_id, voter, decision) VALUES (%s, 'ann', 'approve')",
                (approval.id,),
            )
    await editors(database, "ann", "bob", "carl")
    for voter, status in (("bob", "pending"), ("carl", "approved")):
        decided = await decisions.decide(
            database, approval_id=approval.id, answer=yes(approval), decided_by=voter, scopes=EDITOR
        )
        assert decided.status == status


async def test_an_approval_past_its_time_expires_and_can_no_longer_be_decided(
    database: Database, configure: Configure
) -> None:
    with Barrier() as barrier:
        workflow = await begin(database, barrier, "gated")
        async with running(database, configure()):
            approval = await waiting(database, workflow.id)
        # No runner is there to expire it: the deadline itself refuses the decision.
        async with database.connection() as connection:
            await connection.execute("UPDATE approvals SET expires_at = now() - interval '1 second'")
            approval = await approval_inbox.get(connection, approval.id)
        await refused_unchanged(database, approval, ApprovalConflict)
        async with running(database, configure()):
            done = await ended(database, workflow.id)
        assert done.result is not None
        assert done.result["done"] == ["prepare", "close"]
        assert done.result["decision"]["status"] == "expired"


async def test_cancelling_a_waiting_workflow_voids_its_approval(
    database: Database, configure: Configure
) -> None:
    with Barrier() as barrier:
        async with running(database, configure()):
            workflow = await begin(database, barrier, "gated")
            approval = await waiting(database, workflow.id)
            async with database.transaction() as connection:
                await workflows.cancel(connection, workflow.id, reason="not needed")
            with pytest.raises(ApprovalConflict, match="already void"):
                await decisions.decide(
                    database, approval_id=approval.id, answer=yes(approval), decided_by="bob", scopes=EDITOR
                )
            assert barrier.runs(workflow.id, "act") == 0


async def test_a_workflow_that_failed_waits_for_no_decision_any_more(database: Database) -> None:
    with Barrier() as barrier:
        workflow = await begin(database, barrier, "gated")
    async with database.transaction() as connection:
        request = plan("send the letter")
        approval = await approvals.ask(connection, workflow.id, "plan", request, requested_by="ann")
    await lease(database, "r")
    [held] = await claim(database, "r")
    await claims.fail(database, held, error="no", project=False)
    with pytest.raises(ApprovalConflict, match="already void"):
        await decisions.decide(
            database, approval_id=approval.id, answer=yes(approval), decided_by="bob", scopes=EDITOR
        )
    async with database.connection() as connection:
        assert (await workflows.get(connection, workflow.id)).status == "failed"
        told = [event.type for event in await events.read(connection, after=0, workflow_ids=[workflow.id])]
    assert told[-2:] == ["workflow.failed", "approval.void"]


async def test_deciding_and_cancelling_at_once_never_deadlock(
    database: Database, configure: Configure
) -> None:
    with Barrier() as barrier:
        async with running(database, configure()):
            made = [await begin(database, barrier, "gated") for _ in range(8)]
            gates = [await waiting(database, workflow.id) for workflow in made]

            async def cancel(workflow_id: str) -> None:
                async with database.transaction() as connection:
                    await workflows.cancel(connection, workflow_id, reason="race")

            outcomes = await asyncio.gather(
                *(
                    decisions.decide(
                        database, approval_id=g.id, answer=yes(g), decided_by="bob", scopes=EDITOR
                    )
                    for g in gates
                ),
                *(cancel(workflow.id) for workflow in made),
                *(approvals.expire_due(database) for _ in range(4)),
                return_exceptions=True,
            )
            strange = [
                o for o in outcomes if isinstance(o, BaseException) and not isinstance(o, SignoffError)
            ]
            assert strange == []
            for workflow in made:
                await ended(database, workflow.id)
