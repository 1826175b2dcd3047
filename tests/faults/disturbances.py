"""What was done to the processes of a campaign, and what of it can cost a runner its claim."""

from collections.abc import Iterable
from dataclasses import dataclass

# Of one process: it was dead, stood still, was cut off, or renewed its lease late while a fault hindered it.
_OF_A_RUNNER = {"kill", "stop", "partition", "late lease"}
# Of all: leases were ended by their clock, or the machine itself stood still.
_OF_ALL = {"clock step", "stall"}
# Postgres lost its connections, or whoever had one was cut off: nothing is locked any more.
_OF_POSTGRES = {"away", "restart", "fail over", "partition"}
# Something was under way that hinders renewing: excuses a lease that has run out, and nothing else.
HINDERED = "hindered"
# The faults that do so, by their names.
HINDERS = {
    *(
        "stop",
        "stop_in_a_call",
        "stop_before_a_write",
        "stop_in_an_effect",
        "locked_lease",
        "partition",
        "slow_link",
        "away",
        "restart",
        "fail_over",
    ),
    *("cut", "lost_answers", "clock_step", "locked_rows"),
}


@dataclass(frozen=True)
class Disturbance:
    """Something that was done, from when to when (`time.time()`), and to which process; None: to all."""

    kind: str
    start: float
    end: float
    pid: int | None


def lost_its_claim(
    done: Iterable[Disturbance], pid: int, start: float, end: float, *, lease_left: float | None
) -> bool:
    """Whether a runner's process may have lost a claim between two moments by what was done.

    Args:
        lease_left: for how long it had its lease at the end; see `ledger.Move`.
    """
    ran_out = lease_left is not None and lease_left <= 0
    return any(
        d.start <= end
        and d.end >= start
        and (
            (d.kind in _OF_A_RUNNER and d.pid == pid) or d.kind in _OF_ALL or (d.kind == HINDERED and ran_out)
        )
        for d in done
    )


def had_an_outage(done: Iterable[Disturbance], start: float, end: float) -> bool:
    """Whether the model was away between two moments."""
    return any(d.start <= end and d.end >= start and d.kind == "model" for d in done)


def lost_looks(done: Iterable[Disturbance], start: float, end: float) -> bool:
    """Whether Postgres may have let go of what a connection had locked, between two moments."""
    return any(d.start <= end and d.end >= start and d.kind in _OF_POSTGRES for d in done)
