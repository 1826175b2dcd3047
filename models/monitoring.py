"""What `/metrics` tells: observations that are counted, and how things stand. Times are in seconds.

An observation is of a measure, with values for its labels in the measure's own order. Which measures there
are, with the bounds of their buckets, is in `models.store.upkeep.observations`; what Prometheus calls them,
in `serve.monitoring.families`.
"""

from typing import NamedTuple

from models.record import Record


class Observed(Record):
    """Something that happened `times` times. `value` finds the bucket; `total` is the sum of all of them."""

    measure: str
    labels: tuple[str, ...]
    value: float
    times: int = 1
    total: float


class ObservationCount(NamedTuple):
    """How often a measure was seen between the bound before `up_to` and that one; `total` is their sum.

    There are thousands in a scrape, so it is no record that is validated.
    """

    measure: str
    labels: tuple[str, ...]
    up_to: float
    times: int
    total: float


class OpenWorkflows(Record):
    """How many workflows of a kind have a status and have not ended."""

    kind: str
    status: str
    workflows: int


class WaitingApprovals(Record):
    """How many approvals of a kind wait for a decision, and for how long the oldest."""

    kind: str
    approvals: int
    oldest_seconds: float


class WaitedFor(Record):
    """What parked workflows wait for: how many, and for how long the one that is parked longest."""

    waits_for: str
    workflows: int
    oldest_seconds: float


class SiteStanding(Record):
    """How things stand at a moment. A lag is 0 where nothing is due.

    `runner_lag_seconds` is how long the oldest workflow that may run waits for a runner, `outbox_lag_seconds`
    how long the oldest delivery that is due is not sent. `renewed_seconds_ago` tells when any runner renewed
    its lease last.
    """

    open_workflows: tuple[OpenWorkflows, ...]
    waiting_approvals: tuple[WaitingApprovals, ...]
    waited_for: tuple[WaitedFor, ...]
    runner_lag_seconds: float
    runners_alive: int
    runners_lost: int
    renewed_seconds_ago: float
    deliveries_pending: int
    outbox_lag_seconds: float
