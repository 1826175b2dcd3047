"""Defects, put back on purpose: a campaign must find each of them, some in tests, all in a whole one.

Whoever adds something that must hold adds its check to the campaign, and here the defect that breaks it.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

from actors.platform import sending
from actors.platform.runtime import execution, outbox, runner
from actors.platform.runtime.group_commit import JournalWriter
from actors.platform.runtime.run import Run
from actors.systems.knowledge.index import segment_files
from actors.systems.operations import agent_rounds, answers, approved_writes
from actors.systems.operations import graph as operation
from actors.systems.research import admission as research
from actors.systems.research.discovery import pages
from models.files import write_atomically
from models.knowledge.reach import PageReach
from models.runtime.workflows import Workflow, WorkflowStatus
from models.store import approvals, decisions, pool
from models.store.knowledge import sources
from models.store.runtime import claims, documents
from pipelines import indexing_stages
from tests.faults.defect import Defect, change


def put_back(number: int) -> None:
    """Put a defect back, by its number."""
    DEFECTS[number].put_back()


def _settled_work_is_run_again() -> None:
    """Settling does not raise the epoch, and `let_go` takes any status."""
    assert "runner_id = NULL, epoch = w.epoch + 1," in claims._FINISH
    claims._FINISH = claims._FINISH.replace("epoch = w.epoch + 1,", "")
    change(claims, "fail", ("epoch = epoch + 1,", ""))
    change(
        claims,
        "let_go",
        ("runner_id = NULL, epoch = epoch + 1", "runner_id = NULL"),
        (" AND status = 'running' AND runner_id = %s", ""),
        ("(holding.workflow_id, holding.epoch, runner_id)", "(holding.workflow_id, holding.epoch)"),
    )
    # Reconciling waited for a claim then; now it is passed over, which alone hides most of this.
    change(runner.Runner, "_reconcile", ("if self._turn.locked():", "if False:"))


def _one_runner_runs_a_workflow_twice() -> None:
    """What is under way is kept by workflow id, and popped by whoever ends."""
    of = runner.Runner
    change(of, "_begin", ("self._active[claim.workflow_id, claim.epoch]", "self._active[claim.workflow_id]"))
    change(
        of,
        "_carry",
        ("del self._active[claim.workflow_id, claim.epoch]", "self._active.pop(claim.workflow_id, None)"),
    )
    change(
        of,
        "_end",
        ("(h.workflow_id, h.epoch): h", "h.workflow_id: h"),
        ("if holding is None:", "if holding is None or holding.epoch != execution.claim.epoch:"),
    )


def _a_run_writes_files_before_its_fence() -> None:
    """Files are written from what a run believes, and settled afterwards."""

    async def write(self: Any, status: WorkflowStatus, error: str | None) -> None:
        if self.run is None or self.compiled.declared.project is None:
            return
        claim, now = self.claim, datetime.now(UTC)
        believed = Workflow(
            **claim.model_dump(
                include={"kind", "input", "requested_by", "epoch", "permission", "created_at"}
            ),
            id=claim.workflow_id,
            key=None,
            input_digest="",
            status=status,
            runner_id=None,
            result=None,
            error=error,
            parked_for=None,
            parked_since=None,
            projection_due=False,
            updated_at=now,
            started_at=now,
            finished_at=now,
        )
        files = await self.compiled.declared.project(self.config, believed, self.run._kept)
        for path, text in files.items():
            write_atomically(path, text)

    fail, settle = execution.Execution._fail, execution.Execution._settle

    async def failing(self: Any, reason: str) -> None:
        await write(self, "failed", reason)
        await fail(self, reason)

    async def settling(self: Any, stop: Any) -> None:
        if not isinstance(stop, list):
            await write(self, "succeeded", None)
        await settle(self, stop)

    execution.Execution._fail = failing  # type: ignore[method-assign]
    execution.Execution._settle = settling  # type: ignore[method-assign]


def _a_locked_row_holds_up_the_others() -> None:
    """The group commit waits for locks, and there is one at a time."""
    assert "FOR SHARE SKIP LOCKED" in documents._PUT
    documents._PUT = documents._PUT.replace("FOR SHARE SKIP LOCKED", "FOR SHARE")
    defaults = JournalWriter.__init__.__kwdefaults__
    assert "lanes" in defaults
    defaults["lanes"] = 1


def _a_research_reads_what_was_shown() -> None:
    """What a research may read is what its gate showed, and not what somebody made of it."""
    change(
        research.UrlAdmission,
        "admit",
        ("approved = UrlList.model_validate(approval.subject)", "approved = shown"),
    )


def _a_page_that_was_left_out_is_led_to() -> None:
    """What was left out is read where another page leads to it."""
    change(PageReach, "was_left_out", ("if not self.left_out_keys or", "if True or"))


def _a_host_is_read_that_never_is() -> None:
    """What the site never reads is rated like all else."""
    change(pages.Ratings, "of_host", ("if nearest is not None else", "if False else"))


def _a_plan_runs_that_was_rejected() -> None:
    """A no to a plan is taken as a yes."""
    rejected = 'return "plan" if decision.status == "rejected"'
    change(operation, "after_plan_settled", (rejected, rejected.replace('"plan"', '"work"', 1)))


def _an_agent_reads_again_what_it_has_read() -> None:
    """A result that stands is made again."""
    change(
        agent_rounds.AgentRounds,
        "round",
        ("before is not None and before.task_digest == task.digest", "False"),
    )


def _a_write_is_noted_after_it_was_sent() -> None:
    """Whoever dies between the two leaves no trace of what was sent, and it is sent again."""
    note = 'await self._run.effect(f"write_sent/{number}", WriteSent, begin)'
    send = 'answer: Answer[WriteOutcome] = await remote.call_once("write", write)'
    change(approved_writes.ApprovedWrites, "_sent", (note, "pass"), (send, f"{send}; {note}"))


def _a_fence_does_not_lock() -> None:
    """What ends the claim between an effect's fence and its commit goes unnoticed."""
    change(claims, "fence", (" FOR UPDATE NOWAIT", ""))


def _a_lapsed_runner_claims() -> None:
    """A runner whose own lease has run out still takes workflows."""
    held = "r.id = %(runner)s AND r.lease_until > now()"
    assert held in claims._CLAIM
    claims._CLAIM = claims._CLAIM.replace(held, "r.id = %(runner)s")


def _a_write_goes_out_that_was_refused() -> None:
    """Whatever was decided, it is sent."""
    change(approved_writes.ApprovedWrites, "settle", ('if decision.status == "approved":', "if True:"))


def _answers_are_lost() -> None:
    """Whatever a person gives to a server that asks, it is told that he declined."""
    change(answers, "with_answer", ("given = None if said is None else said.given", "given = None"))
    operation.with_answer = answers.with_answer  # type: ignore[attr-defined]


def _a_decision_is_taken_for_what_was_not_shown() -> None:
    """The digest of what a person was shown is not compared."""
    change(decisions, "check_open", ("if digest != approval.digest:", "if False:"))


def _two_decisions_are_taken() -> None:
    """An approval is decided by all who decide at once."""
    change(
        approvals,
        "lock",
        ("SELECT 1 FROM workflows WHERE id = %s FOR UPDATE", "SELECT %s"),
        ("SELECT 1 FROM approvals WHERE id = %s FOR UPDATE", "SELECT %s"),
    )


def _whoever_asked_approves() -> None:
    """Four eyes are as good as two."""
    change(decisions, "_check_may_decide", ("if approval.bars(decided_by):", "if False:"))


def _a_message_counts_as_delivered_that_nobody_took() -> None:
    """A try that failed is the last."""
    change(
        outbox.Dispatcher,
        "_settle",
        ("if answer.is_success and answer.status is not None:", "if True:"),
        ("response_status=answer.status)", "response_status=answer.status or 200)"),
    )


def _an_outage_is_a_verdict() -> None:
    """What is away fails the work."""
    change(execution.Execution, "_park_or_fail", ("if waiting is None:", "if True:"))


def _what_was_kept_is_made_again() -> None:
    """A run begins without the documents of the runs before it."""
    change(Run, "open", ("if claim.epoch > 1:", "if False:"))


def _kept_pages_are_read_again() -> None:
    """Whoever comes next claims what was read before."""
    change(sources, "claim", ("AND (%(again)s OR", "AND (%(again)s OR TRUE OR"))


def _passages_are_lost() -> None:
    """What says that it is indexed is committed before its passages are."""
    change(indexing_stages.PassageEmbedding, "_keep", ("_database.transaction()", "_database.connection()"))


def _an_index_is_cut_short() -> None:
    """Where there is no room, what fits of a segment is its file."""
    change(
        segment_files.SegmentFiles,
        "write",
        ("""raise OSError(f"{draft} can't be written: {error}") from error""", "del error"),
    )


def _a_pool_loses_connections() -> None:
    """It is psycopg_pool's own: its waits lose cancellations, and cancelled callers its connections."""

    @asynccontextmanager
    async def connection(self: pool.Pool) -> AsyncIterator[pool.Connection]:
        async with self._lending.pool.connection() as one:
            yield one

    pool.Pool.connection = connection  # type: ignore[method-assign]
    pool.Pool.look = lambda self: 0  # type: ignore[method-assign]


def _a_sender_asks_nobody() -> None:
    """What is sent under a claim goes out whether that stands or not."""
    change(sending.Clearance, "take", ("if self._sender.claim is not None:", "if False:"))


# By their numbers in the list of what was found; one that was never in a release has a hundred.
DEFECTS: dict[int, Defect] = {
    1: Defect(
        _settled_work_is_run_again,
        "settling does not raise the epoch",
        holds=2,
        seed=6,
        only=("slow_link", "decided_early"),
    ),
    2: Defect(
        _one_runner_runs_a_workflow_twice,
        "one runner runs a workflow twice",
        holds=2,
        seed=4,
        only=("slow_link", "decided_early"),
    ),
    4: Defect(
        _a_run_writes_files_before_its_fence,
        "files are written before the fence",
        holds=2,
        seed=5,
        only=("stop_in_a_call",),
    ),
    7: Defect(
        _a_locked_row_holds_up_the_others,
        "a locked row holds up the others",
        holds=11,
        seed=3,
        only=("locked_rows",),
        in_tests=True,
    ),
    101: Defect(
        _a_research_reads_what_was_shown,
        "a research reads what was shown",
        holds=9,
        seed=2,
        only=("kill",),
        in_tests=True,
    ),
    102: Defect(_a_plan_runs_that_was_rejected, "a plan runs that was rejected", holds=3),
    103: Defect(_an_agent_reads_again_what_it_has_read, "an agent reads again what it has read", holds=1),
    104: Defect(
        _a_write_is_noted_after_it_was_sent,
        "a write is noted after it was sent",
        holds=1,
        seed=7,
        only=("kill_in_an_operation",),
        in_tests=True,
    ),
    105: Defect(
        _a_fence_does_not_lock,
        "a fence does not lock",
        holds=2,
        seed=8,
        only=("cancel_in_an_effect",),
        in_tests=True,
    ),
    106: Defect(
        _a_lapsed_runner_claims,
        "a lapsed runner claims",
        holds=2,
        seed=9,
        only=("locked_lease",),
    ),
    107: Defect(
        _a_pool_loses_connections, "a pool loses connections", holds=11, seed=1, only=("many_stopped",)
    ),
    108: Defect(
        _a_sender_asks_nobody,
        "a sender asks nobody whether it may",
        holds=3,
        seed=71,
        only=("stop_before_a_write",),
    ),
    109: Defect(
        _a_write_goes_out_that_was_refused,
        "a write goes out that was refused",
        holds=3,
        seed=10,
        only=("kill_in_an_operation",),
    ),
    110: Defect(
        _a_decision_is_taken_for_what_was_not_shown,
        "a decision is taken for what was not shown",
        holds=4,
        seed=11,
        only=("decisions",),
    ),
    111: Defect(_two_decisions_are_taken, "two decisions are taken", holds=4, seed=12, only=("decisions",)),
    115: Defect(_whoever_asked_approves, "whoever asked approves", holds=6, seed=17, only=("decisions",)),
    112: Defect(
        _a_message_counts_as_delivered_that_nobody_took,
        "a message counts as delivered that nobody took",
        holds=8,
        seed=13,
        only=("target_away",),
    ),
    113: Defect(_an_outage_is_a_verdict, "an outage is a verdict", holds=1, seed=14, only=("model_down",)),
    116: Defect(
        _kept_pages_are_read_again, "kept pages are read again", holds=1, seed=18, only=("knowledge_cut_off",)
    ),
    117: Defect(_passages_are_lost, "passages are lost", holds=1, seed=19, only=("kill_before_passages",)),
    118: Defect(
        _an_index_is_cut_short, "an index is cut short", holds=1, seed=20, only=("disk_full_at_knowledge",)
    ),
    119: Defect(
        _answers_are_lost, "answers to servers are lost", holds=4, seed=21, only=("kill_at_a_question",)
    ),
    120: Defect(
        _a_page_that_was_left_out_is_led_to,
        "a page that was left out is led to",
        holds=9,
        seed=22,
        only=("kill",),
    ),
    121: Defect(
        _a_host_is_read_that_never_is, "a host is read that never is", holds=9, seed=23, only=("kill",)
    ),
    114: Defect(
        _what_was_kept_is_made_again, "what was kept is made again", holds=1, seed=15, only=("kill",)
    ),
}
FOUND_BY = {number: defect for number, defect in DEFECTS.items() if defect.seed is not None}
