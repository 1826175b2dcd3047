"""Defects, most of them of an earlier release, put back on purpose: the campaign must find each of them.

Each is a change of the product's source text, made in a process of the campaign. A change whose text is not
there any more fails loudly, so that none of them is lost when the product is rewritten.
"""

import inspect
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from actors.operations import graph as operation
from actors.operations import working
from actors.research import admission as research
from actors.runtime import execution, runner
from actors.runtime.group_commit import JournalWriter
from models.runtime.workflows import Workflow, WorkflowStatus
from models.store.runtime import claims, documents


def put_back(number: int) -> None:
    """Put a defect back, by its number."""
    DEFECTS[number]()


def _settled_work_is_run_again() -> None:
    """Settling does not raise the epoch, and `let_go` takes any status."""
    assert "runner_id = NULL, epoch = w.epoch + 1," in claims._FINISH
    claims._FINISH = claims._FINISH.replace("epoch = w.epoch + 1,", "")
    _change(claims, "fail", ("epoch = epoch + 1,", ""))
    _change(
        claims,
        "let_go",
        ("runner_id = NULL, epoch = epoch + 1", "runner_id = NULL"),
        (" AND status = 'running' AND runner_id = %s", ""),
        ("(holding.workflow_id, holding.epoch, runner_id)", "(holding.workflow_id, holding.epoch)"),
    )
    # Reconciling waited for a claim then; now it is passed over, which alone hides most of this.
    _change(runner.Runner, "_reconcile", ("if self._turn.locked():", "if False:"))


def _one_runner_runs_a_workflow_twice() -> None:
    """What is under way is kept by workflow id, and popped by whoever ends."""
    of = runner.Runner
    _change(of, "_begin", ("self._active[claim.workflow_id, claim.epoch]", "self._active[claim.workflow_id]"))
    _change(
        of,
        "_carry",
        ("del self._active[claim.workflow_id, claim.epoch]", "self._active.pop(claim.workflow_id, None)"),
    )
    _change(
        of,
        "_reconcile",
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
        await self.compiled.declared.project(self.config, believed, self.run._kept)

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
    _change(
        research.UrlAdmission,
        "admit",
        ("approved = UrlList.model_validate(approval.subject)", "approved = shown"),
    )


def _a_plan_runs_that_was_rejected() -> None:
    """A no to a plan is taken as a yes."""
    rejected = 'return "plan" if decision.status == "rejected"'
    _change(operation, "after_plan_settled", (rejected, rejected.replace('"plan"', '"work"', 1)))


def _an_agent_reads_again_what_it_has_read() -> None:
    """A result that stands is made again."""
    _change(working.Working, "round", ("before is not None and before.task_digest == task.digest", "False"))


# By their numbers in the list of what was found; one that was never in a release has a hundred.
DEFECTS: dict[int, Callable[[], None]] = {
    1: _settled_work_is_run_again,
    2: _one_runner_runs_a_workflow_twice,
    4: _a_run_writes_files_before_its_fence,
    7: _a_locked_row_holds_up_the_others,
    101: _a_research_reads_what_was_shown,
    102: _a_plan_runs_that_was_rejected,
    103: _an_agent_reads_again_what_it_has_read,
}


@dataclass(frozen=True)
class Search:
    """What finds a defect by itself: a seed, and the faults that are drawn."""

    what: str
    seed: int
    only: tuple[str, ...]


FOUND_BY = {
    1: Search("settling does not raise the epoch", 6, ("slow_link", "decided_early")),
    2: Search("one runner runs a workflow twice", 4, ("slow_link", "decided_early")),
    4: Search("files written before the fence", 5, ("stop_in_a_call",)),
    7: Search("a locked row holds up the others", 3, ("locked_rows",)),
    101: Search("a research reads what was shown", 2, ("kill",)),
}


def _change(owner: Any, name: str, *changes: tuple[str, str]) -> None:
    """Replace a function or method by itself with changes of its text."""
    text = textwrap.dedent(inspect.getsource(getattr(owner, name)))
    for old, new in changes:
        assert old in text, f"{name} has no {old!r} any more: put the defect back in another way"
        text = text.replace(old, new)
    module = sys.modules[owner.__module__] if inspect.isclass(owner) else owner
    made: dict[str, Any] = {}
    exec(compile(text, f"<defect in {name}>", "exec"), vars(module), made)
    setattr(owner, name, made[name])
