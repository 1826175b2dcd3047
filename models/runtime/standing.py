"""How a workflow stands, for people: what it came to, and why it stands still where it does."""

from models.runtime.workflows import Workflow


class WorkflowStanding(Workflow):
    """A workflow in a list.

    `outcome` is its status or, where it ended without what was asked for, how (`WorkflowKind.outcome`): its
    `reason` says why. `stands_still` is why nothing happens with it though it is not over, and what to do.
    """

    outcome: str
    reason: str | None = None
    stands_still: str | None = None
