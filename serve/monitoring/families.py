"""What `/metrics` tells, by Prometheus' names: every family there is, with its labels.

The three names of seed 002 §12.2 stand as they are there; all others begin with `signoff_`. Alert rules and
dashboards (`configs/deploy`) are held to this list and to what a scrape says. A family is told of even while
there is nothing to count, so that a rule never waits for a name.
"""

from typing import Literal, NamedTuple

Type = Literal["counter", "gauge", "histogram"]


class Family(NamedTuple):
    """A family of metrics. `measure` is what it is counted from, where that is an observation.

    `of` says which side of an observation a counter counts: how often, or the sum.
    """

    name: str
    type: Type
    help: str
    labels: tuple[str, ...] = ()
    measure: str | None = None
    of: Literal["times", "total"] = "times"

    @property
    def samples(self) -> tuple[str, ...]:
        """The names that its samples have, in the text format."""
        if self.type == "histogram":
            return tuple(f"{self.name}{suffix}" for suffix in ("_bucket", "_count", "_sum"))
        return (f"{self.name}_total" if self.type == "counter" else self.name,)


WORKFLOWS = Family(
    "workflow_duration_seconds",
    "histogram",
    "How long workflows took that ended, without the time that people took to decide.",
    ("task_type", "status"),
    "workflow",
)
TOOL_CALLS = Family("tool_calls", "counter", "Tool calls.", ("tool_name", "status"))
TOOL_SECONDS = Family(
    "signoff_tool_call_seconds",
    "histogram",
    "How long tool calls took, by the door that they came by.",
    ("tool_name", "door", "status"),
    "tool_call",
)
ACTIVE = Family("active_workflows", "gauge", "Workflows that have not ended.")
OPEN = Family(
    "signoff_open_workflows",
    "gauge",
    "Workflows that have not ended, by what they do now.",
    ("task_type", "status"),
)
BUDGET = Family(
    "signoff_workflow_budget_seconds",
    "gauge",
    "Below which 95 of 100 workflows of a kind should stay.",
    ("task_type",),
)
STEPS = Family("signoff_step_seconds", "histogram", "How long steps took.", ("task_type",), "step")
MODEL_CALLS = Family(
    "signoff_model_call_seconds",
    "histogram",
    "How long model calls took, of steps and answers that were kept.",
    ("model", "agent", "status"),
    "model_call",
)
MODEL_TOKENS = Family(
    "signoff_model_tokens",
    "counter",
    "Tokens of those model calls, of prompts and completions.",
    ("model", "agent", "kind"),
    "model_tokens",
    "total",
)
SCRAPED = Family(
    "signoff_scraped_pages",
    "counter",
    "Pages that were fetched, by the engine that fetched them; the outcome is `read`, or the fault.",
    ("engine", "outcome"),
    "scraped_page",
)
APPROVALS = Family("signoff_approvals_waiting", "gauge", "Approvals that wait for a decision.", ("kind",))
OLDEST_APPROVAL = Family(
    "signoff_oldest_approval_seconds",
    "gauge",
    "For how long the oldest approval waits for a decision.",
    ("kind",),
)
APPROVAL_SECONDS = Family(
    "signoff_approval_seconds",
    "histogram",
    "How long approvals waited until they were decided, expired or void.",
    ("kind", "status"),
    "approval",
)
PENDING = Family("signoff_deliveries_pending", "gauge", "Messages to webhooks that are not sent yet.")
OUTBOX_LAG = Family(
    "signoff_outbox_lag_seconds", "gauge", "For how long the oldest message to a webhook is due."
)
DELIVERIES = Family(
    "signoff_delivery_seconds",
    "histogram",
    "How long messages to webhooks took from the change they tell of until they were sent or given up.",
    ("event", "status"),
    "delivery",
)
RUNNER_LAG = Family(
    "signoff_runner_lag_seconds", "gauge", "For how long the oldest workflow that may run waits for a runner."
)
RUNNERS = Family(
    "signoff_runners", "gauge", "Runners whose lease lives, and those that lost theirs.", ("state",)
)
RENEWED = Family("signoff_lease_renewal_age_seconds", "gauge", "How long ago any runner renewed its lease.")
WAITED_FOR = Family(
    "signoff_parked_workflows", "gauge", "Workflows that wait for something that is away.", ("waits_for",)
)
PARKED_SECONDS = Family(
    "signoff_parked_seconds", "gauge", "For how long work waits for something that is away.", ("waits_for",)
)
LOST = Family(
    "signoff_lost_connections",
    "counter",
    "Connections to Postgres that a process' pool counted and could not give; it was replaced.",
    ("process",),
    "lost_connection",
)
READY = Family("signoff_ready", "gauge", "Whether a thing that the site needs is there: 1, or 0.", ("thing",))
REQUESTS = Family(
    "signoff_http_request_seconds",
    "histogram",
    "How long HTTP requests waited until their answer began.",
    ("method", "route", "status"),
    "request",
)
OLD_TRANSACTIONS = Family(
    "signoff_old_transaction_seconds",
    "gauge",
    "Transactions that have been open for long on the database's server.",
    ("pid", "application", "database"),
)

FAMILIES: tuple[Family, ...] = (
    WORKFLOWS,
    TOOL_CALLS,
    ACTIVE,
    OPEN,
    BUDGET,
    TOOL_SECONDS,
    STEPS,
    MODEL_CALLS,
    MODEL_TOKENS,
    SCRAPED,
    APPROVALS,
    OLDEST_APPROVAL,
    APPROVAL_SECONDS,
    PENDING,
    OUTBOX_LAG,
    DELIVERIES,
    RUNNER_LAG,
    RUNNERS,
    RENEWED,
    WAITED_FOR,
    PARKED_SECONDS,
    LOST,
    READY,
    REQUESTS,
    OLD_TRANSACTIONS,
)
