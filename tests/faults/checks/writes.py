"""What an operation writes outside comes once for each yes, while that yes stands, and as it is told.

Pure functions over what people decided, what was kept, and the log of the server that is written to. No time
is allowed for the way: what ends a yes waits in Postgres until what is being sent has come to the kernel.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from actors.platform import sending
from tests.faults.disturbances import Disturbance, lost_looks
from tests.faults.ledger import Keep, Move
from tests.faults.site.books import BookCall

WRITE = "operation_write"
# The kernel counts by ticks, of 10 ms at most.
_TICKS_SECONDS = 0.02
_DONE = "write_done/"


@dataclass(frozen=True)
class Yes:
    """A yes to one call: from when it stands, until when; and what is told of it in the end, if anything."""

    arguments: Mapping[str, Any]
    since: float
    until: float
    told: str | None


def yeses(
    approvals: Sequence[Mapping[str, Any]],
    history: Sequence[Mapping[str, Any]],
    keeps: Sequence[Keep],
    moves: Sequence[Move],
    done: Sequence[Disturbance],
) -> list[Yes]:
    """Those of an operation, in order. One stands until its outcome is kept, or the operation is cancelled.

    Args:
        approvals: id, kind, status, content and `at`, when it was decided.
        history: its entries, in order.
        keeps: what was done to its documents.
        moves: of its workflow.
        done: what was done to the site. A look that Postgres has lost holds up no cancellation.
    """
    over = min((move.at for move in moves if move.after == "cancelled"), default=float("inf"))
    if lost_looks(done, over - sending.SECONDS, over):
        over += sending.SECONDS
    kept = {keep.key: keep.at for keep in keeps if keep.did == "INSERT"}
    told = {
        entry["result"]["write"]["approval_id"]: entry["result"]["write"]["status"]
        for entry in history
        if "write" in entry["result"]
    }
    return [
        Yes(
            arguments=one["content"]["write"]["arguments"],
            since=one["at"],
            until=min(over, kept.get(f"{_DONE}{one['content']['number']}", float("inf"))),
            told=told.get(one["id"]),
        )
        for one in approvals
        if (one["kind"], one["status"]) == (WRITE, "approved")
    ]


def came_once_for_each(name: str, said: Sequence[Yes], came: Sequence[BookCall]) -> Iterator[str]:
    """What is wrong with the writes of an operation.

    Args:
        name: how it is told of.
        said: every yes, in order.
        came: the writes that its server took, by the server's own log.
    """
    left = sorted(came, key=lambda call: call.at)
    # One that is told as done has come: what may be of it or of another is of it.
    for yes in sorted(said, key=lambda yes: yes.told != "done"):
        its = next((call for call in left if _is_of(call, yes)), None)
        if its is not None:
            left.remove(its)
        if yes.told == "done" and its is None:
            yield f"{name} tells that {yes.arguments} was written, and it never came"
        if yes.told in ("not_sent", "failed") and its is not None:
            yield f"{name} tells that {yes.arguments} was {yes.told}, and it came"
    for call in left:
        yield f"{name}: {call.book} was told to write {call.arguments}, and no yes stood for that any more"


def _is_of(call: BookCall, yes: Yes) -> bool:
    in_time = yes.since <= call.at <= yes.until + _TICKS_SECONDS
    return in_time and dict(call.arguments) == dict(yes.arguments)
