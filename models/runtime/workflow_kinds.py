"""A kind of workflow as one row: what it is called, what it holds, and what happens beside its graph.

A row stands in the `system.py` of the system whose kind it is; `actors.systems.kinds()` is all of them, and
whoever needs them below is given them. What the runner runs is at `graph`, with what the kind's releases kept
differently.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from models.config import Config
from models.runtime.gated_kinds import GatedKind
from models.runtime.workflows import Workflow, WorkflowStatus

if TYPE_CHECKING:
    from models.store.database import Connection

# In the transaction that stops it: the workflow's id, and why.
Stopped = Callable[["Connection", str, str, Config], Awaitable[None]]
# Raises WorkflowConflict where the failed workflow is not to be begun again.
CheckRetry = Callable[["Connection", Workflow], Awaitable[None]]


@dataclass(frozen=True)
class Ending:
    """Where a result says what its workflow came to: in `field`, `reached` where it did what was asked for.

    Anything else there is how it ended without that: a no, nobody's decision, too little to work on.
    """

    field: str
    reached: str


@dataclass(frozen=True)
class WorkflowKind:
    """A kind of workflow.

    `graph` is where its `actors.platform.runtime.workflow_graph.WorkflowGraph` is, as `module:NAME`. `word`
    is what people call it; those with none are no tasks that people see. `input` and `result` are the records
    of what it is given and what it comes to; `gated` is what doors know of one at which people decide.
    Clients read results and what gates show in the OpenAPI description.

    `ending` says where a result tells that it did not come to what was asked for.
    `stopped` does what goes with its being stopped from outside; `check_retry` says which of those that
    failed may not be begun again: without it, all may. `complex`: models work in rounds, so it takes longer.
    """

    name: str
    graph: str
    word: str | None
    input: type[BaseModel] | None = None
    result: type[BaseModel] | None = None
    gated: GatedKind | None = None
    ending: Ending | None = None
    stopped: Stopped | None = None
    check_retry: CheckRetry | None = None
    complex: bool = False

    def outcome(self, status: WorkflowStatus, result: Mapping[str, Any] | None) -> str:
        """The workflow's status; of one that came to its end without what was asked for, how it ended."""
        if self.ending is None or status != "succeeded" or result is None:
            return status
        told = result.get(self.ending.field, self.ending.reached)
        return status if told == self.ending.reached else str(told)

    @property
    def approvals(self) -> Mapping[str, type[BaseModel]]:
        """The records of what is decided on, by the approval's kind."""
        gates = {} if self.gated is None else self.gated.gates
        return {name: gate.content for name, gate in gates.items()}

    @property
    def budget_seconds(self) -> float:
        """Below which 95 of 100 should stay, without the time that people take to decide. Seed 002 §12.1."""
        return 20 * 60.0 if self.complex else 5 * 60.0


Kinds = Mapping[str, WorkflowKind]
