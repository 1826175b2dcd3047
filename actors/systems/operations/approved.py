"""Which results of an operation people have approved, and who: for reading and for exports. Pure.

An approval counts from the moment of the decision on, whether or not a runner has taken that up yet.
"""

from collections.abc import Iterable, Sequence

from models.runtime.approvals import Approval, Vote

_RESULTS = "operation_results"


def asked_about_results(approvals: Iterable[Approval]) -> list[Approval]:
    """Those by which results are approved."""
    return [one for one in approvals if one.kind == _RESULTS]


def approval_of_results(approvals: Sequence[Approval], iteration: int | None = None) -> Approval | None:
    """The approval of an iteration's results, among an operation's, which come oldest first.

    Without an iteration, of the last that were approved; None where none were. It takes no contents.
    """
    gate = None if iteration is None else f"results/{iteration}"
    return next(
        (
            one
            for one in reversed(asked_about_results(approvals))
            if one.status == "approved" and gate in (None, one.gate)
        ),
        None,
    )


def approving_votes(approval: Approval) -> tuple[Vote, ...]:
    """Each person's yes, oldest first."""
    votes = tuple(vote for vote in approval.votes if vote.decision == "approve")
    assert votes or approval.status != "approved", "an approval is approved by somebody"
    return votes
