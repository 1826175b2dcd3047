"""Amending: what is approved is what somebody made of it, and no yes covers what was not shown."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from models.config import Config
from models.errors import ApprovalConflict, ApprovalNotFound, PermissionMissing
from models.people.scopes import read_scopes
from models.runtime.approvals import Approval, content_digest
from models.store import approval_inbox, approvals, decisions, events
from models.store.database import Database
from tests.fakes.barrier import Barrier
from tests.fakes.graphs import plan
from tests.integration.runtime.deciding import EDITOR, editors, waiting, yes
from tests.integration.workflows import begin, ended, running

Configure = Callable[..., Config]
ASKED = {"plan": ["send the letter", "pay the bill"]}
LESS = {"plan": ["send the letter"]}


async def asked(database: Database, barrier: Barrier, **how: Any) -> Approval:
    """A workflow whose approval is there before it reaches its gate."""
    workflow = await begin(database, barrier, "gated")
    async with database.transaction() as connection:
        request = plan(*ASKED["plan"]).model_copy(update=how)
        return await approvals.ask(connection, workflow.id, "plan", request, requested_by="ann")


async def amend(
    database: Database, approval: Approval, content: dict[str, Any], by: str = "bob", **more: Any
) -> Approval:
    """Amend what was shown."""
    given: dict[str, Any] = {"digest": approval.digest, "notes": None, "scopes": EDITOR} | more
    async with database.transaction() as connection:
        return await decisions.amend_in(
            connection, approval_id=approval.id, content=content, amended_by=by, **given
        )


async def look(database: Database, approval: Approval) -> Approval:
    """The approval as it is now."""
    async with database.connection() as connection:
        return await approval_inbox.get(connection, approval.id)


async def test_what_was_made_of_it_is_what_is_approved_and_what_the_gate_gets(
    database: Database, configure: Configure
) -> None:
    with Barrier() as barrier:
        approval = await asked(database, barrier, four_eyes=False)
        amended = await amend(database, approval, LESS, notes="the bill is not due")
        assert (amended.status, amended.decided_by, amended.amended_by) == ("approved", "bob", "bob")
        assert (amended.content, amended.asked) == (LESS, ASKED)
        assert amended.digest == content_digest(LESS)
        async with running(database, configure()):
            done = await ended(database, approval.workflow_id)
        assert done.result is not None
        assert done.result["decision"]["amended"] == LESS
        assert done.result["decision"]["notes"] == "the bill is not due"
        assert done.result["done"] == ["prepare", "act", "close"]


async def test_a_gate_that_is_reached_again_finds_its_amended_approval(
    database: Database, configure: Configure
) -> None:
    """It asks for what it asked for at first; the approval shows something else by now."""
    with Barrier() as barrier:
        async with running(database, configure()):
            workflow = await begin(database, barrier, "gated")
            approval = await waiting(database, workflow.id)
            await amend(database, approval, LESS, by="ann")  # four eyes: she asked for it, so it waits
            changed = await look(database, approval)
            assert (changed.status, changed.votes) == ("pending", ())
            await decisions.decide(
                database, approval_id=approval.id, answer=yes(changed), decided_by="bob", scopes=EDITOR
            )
            done = await ended(database, workflow.id)
    assert (done.status, done.error) == ("succeeded", None)
    assert done.result is not None
    assert done.result["decision"]["amended"]["plan"] == LESS["plan"]


async def test_under_four_eyes_who_amends_does_not_approve_what_he_made(database: Database) -> None:
    with Barrier() as barrier:
        approval = await asked(database, barrier)
        amended = await amend(database, approval, LESS)
        assert amended.status == "pending"
        assert amended.content == {**LESS, "involved": ["ann", "bob"]}
        for person in ("ann", "bob"):
            with pytest.raises(PermissionMissing, match="someone else must approve it"):
                await decisions.decide(
                    database, approval_id=approval.id, answer=yes(amended), decided_by=person, scopes=EDITOR
                )
        done = await decisions.decide(
            database, approval_id=approval.id, answer=yes(amended), decided_by="eve", scopes=EDITOR
        )
        assert (done.status, done.decided_by) == ("approved", "eve")


async def test_true_is_no_yes_to_one(database: Database) -> None:
    with Barrier() as barrier:
        approval = await asked(database, barrier)
        one = await amend(database, approval, {"plan": ["pay"], "amount": 1})
        other = await amend(database, one, {"plan": ["pay"], "amount": True}, by="carol")
        assert (other.status, other.amended_by) == ("pending", "carol")
        same = await amend(database, other, {"plan": ["pay"], "amount": True}, by="dora")
        assert (same.status, same.decided_by) == ("approved", "dora")


async def test_a_yes_to_what_was_shown_before_is_no_yes_to_what_was_made_of_it(database: Database) -> None:
    with Barrier() as barrier:
        await editors(database, "bob", "eve")
        approval = await asked(database, barrier, four_eyes=False, quorum=2)
        await decisions.decide(
            database, approval_id=approval.id, answer=yes(approval), decided_by="eve", scopes=EDITOR
        )
        amended = await amend(database, approval, LESS)
        assert amended.status == "pending"
        assert [vote.voter for vote in amended.votes] == ["bob"]
        with pytest.raises(ApprovalConflict, match="other content than was shown"):
            await decisions.decide(
                database, approval_id=approval.id, answer=yes(approval), decided_by="eve", scopes=EDITOR
            )
        done = await decisions.decide(
            database, approval_id=approval.id, answer=yes(amended), decided_by="eve", scopes=EDITOR
        )
        assert done.status == "approved"


async def test_amending_twice_keeps_what_the_gate_asked_for(database: Database) -> None:
    with Barrier() as barrier:
        approval = await asked(database, barrier, four_eyes=False, quorum=2)
        once = await amend(database, approval, LESS)
        twice = await amend(database, once, {"plan": []}, by="eve")
        assert (twice.asked, twice.content, twice.amended_by) == (ASKED, {"plan": []}, "eve")


async def test_amending_into_what_was_asked_for_is_a_plain_yes(database: Database) -> None:
    with Barrier() as barrier:
        approval = await asked(database, barrier, four_eyes=False)
        done = await amend(database, approval, ASKED)
        assert (done.status, done.asked, done.amended_by) == ("approved", None, None)


async def test_amending_is_refused_like_a_decision_and_then_changes_nothing(database: Database) -> None:
    with Barrier() as barrier:
        approval = await asked(database, barrier, four_eyes=False)
        with pytest.raises(PermissionMissing, match="global:editor"):
            await amend(database, approval, LESS, scopes=read_scopes(["macro:editor", "global:reader"]))
        with pytest.raises(ApprovalConflict, match="other content than was shown"):
            await amend(database, approval, LESS, digest="0" * 64)
        with pytest.raises(ApprovalNotFound):
            await amend(database, approval.model_copy(update={"id": "0"}), LESS)
        assert await look(database, approval) == approval
        await amend(database, approval, LESS)
        before = await look(database, approval)
        with pytest.raises(ApprovalConflict, match="already approved"):
            await amend(database, before, ASKED)
        assert await look(database, approval) == before


async def test_of_an_amendment_and_a_decision_at_once_one_wins(database: Database) -> None:
    with Barrier() as barrier:
        for _ in range(10):
            approval = await asked(database, barrier, four_eyes=False)
            outcomes = await asyncio.gather(
                amend(database, approval, LESS),
                decisions.decide(
                    database, approval_id=approval.id, answer=yes(approval), decided_by="eve", scopes=EDITOR
                ),
                return_exceptions=True,
            )
            won = [outcome for outcome in outcomes if isinstance(outcome, Approval)]
            lost = [outcome for outcome in outcomes if isinstance(outcome, ApprovalConflict)]
            assert (len(won), len(lost)) == (1, 1)
            assert won[0].content == (LESS if won[0].decided_by == "bob" else ASKED)


async def test_who_amended_is_told_as_an_event(database: Database) -> None:
    with Barrier() as barrier:
        approval = await asked(database, barrier, four_eyes=False)
        await amend(database, approval, LESS)
        async with database.connection() as connection:
            told = await events.read(connection, after=0, workflow_ids=[approval.workflow_id])
    assert [(e.type, e.data.get("by")) for e in told if e.type.startswith("approval")] == [
        ("approval.requested", "ann"),
        ("approval.amended", "bob"),
        ("approval.approved", "bob"),
    ]
