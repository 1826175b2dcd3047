"""The alert rules ask for metrics and labels that there are; each fires on its breach and on nothing else.

They are evaluated by `tests.promql` on made-up series of what `/metrics` has; promtool is not to be had here.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from models.store.people import tool_calls
from models.store.upkeep.observations import BOUNDS
from tests.promql.evaluating import Series, evaluate
from tests.promql.naming import check, there_are
from tests.promql.parsing import parse, seconds_of

FILE = Path(__file__).resolve().parents[3] / "configs/deploy/alerts.yaml"
GROUPS = yaml.safe_load(FILE.read_text(encoding="utf-8"))["groups"]
RULES: list[dict[str, Any]] = [rule for group in GROUPS for rule in group["rules"]]
NAMES = [rule["alert"] for rule in RULES]
# Of text/template, as far as annotations use it.
TEMPLATE = re.compile(
    r"\{\{\s*(?:\$labels\.(\w+)|\$value \| (?:humanize|humanizeDuration|humanizePercentage))\s*\}\}"
)
SCRAPED_EVERY = 15.0
HOURS = 7
rules = pytest.mark.parametrize("rule", RULES, ids=NAMES)


def test_names_are_unique_and_the_file_has_only_what_prometheus_reads() -> None:
    assert len(set(NAMES)) == len(NAMES)
    assert len({group["name"] for group in GROUPS}) == len(GROUPS)
    for group in GROUPS:
        assert group.keys() <= {"name", "interval", "rules"}
    for rule in RULES:
        assert rule.keys() <= {"alert", "expr", "for", "labels", "annotations"}
        assert rule["alert"].startswith("Signoff")
        assert seconds_of(rule.get("for", "0s")) <= 3600
        assert rule["labels"].keys() == {"severity"}
        assert rule["labels"]["severity"] in ("info", "warning", "critical")


@rules
def test_a_rule_asks_for_what_there_is_and_names_labels_that_its_result_has(rule: dict[str, Any]) -> None:
    labels = check(parse(rule["expr"]), there_are())
    assert rule["annotations"].keys() == {"summary", "description"}
    for text in rule["annotations"].values():
        assert {name for name in TEMPLATE.findall(text) if name} <= labels
        assert "{{" not in TEMPLATE.sub("", text)
        assert "\n" not in text


def test_the_designs_budgets_are_kept_as_rules() -> None:
    """Seed 002 §12.1: a tool call 10 s, a step 60 s, an API response 1 s; workflows by kind."""
    text = {rule["alert"]: " ".join(rule["expr"].split()) for rule in RULES}
    for name, limit in (("ToolCallsSlow", "10"), ("StepsSlow", "60"), ("ApiSlow", "1")):
        quantile, _, rest = text[f"Signoff{name}"].partition("[")
        assert quantile.startswith("histogram_quantile(0.95")
        assert re.match(rf"\w+\]\)\)\) > {limit} and ", rest)
    assert (
        "> on (task_type) max by (task_type) (signoff_workflow_budget_seconds)"
        in text["SignoffWorkflowsSlow"]
    )


# --- made-up series -------------------------------------------------------------------------------------


def counter(name: str, per_second: float, labels: Mapping[str, str]) -> Series:
    steps = range(int(HOURS * 3600 / SCRAPED_EVERY) + 1)
    return Series(name, labels, tuple((n * SCRAPED_EVERY, n * SCRAPED_EVERY * per_second) for n in steps))


def gauge(name: str, value: float, **labels: str) -> Series:
    steps = range(int(HOURS * 3600 / SCRAPED_EVERY) + 1)
    return Series(name, labels, tuple((n * SCRAPED_EVERY, value) for n in steps))


def histogram(
    name: str, bounds: tuple[float, ...], per_second: Mapping[float, float], **labels: str
) -> Iterator[Series]:
    """`per_second` observations of so many seconds each."""
    for bound in (*bounds, float("inf")):
        rate = sum(rate for seconds, rate in per_second.items() if seconds <= bound)
        le = "+Inf" if bound == float("inf") else str(float(bound))
        yield counter(f"{name}_bucket", rate, {**labels, "le": le})
    yield counter(f"{name}_count", sum(per_second.values()), labels)


def tools(seconds: float = 0.2, per_second: float = 1.0) -> list[Series]:
    bounds = tuple(tool_calls.BOUNDS)
    return [
        *histogram("signoff_tool_call_seconds", bounds, {0.2: 1.0}, tool_name="a", door="rest", status="ok"),
        *histogram(
            "signoff_tool_call_seconds", bounds, {seconds: per_second}, tool_name="b", door="mcp", status="ok"
        ),
    ]


def steps(seconds: float = 5.0, per_second: float = 0.1) -> list[Series]:
    return [*histogram("signoff_step_seconds", BOUNDS["step"], {seconds: per_second}, task_type="editorial")]


def workflows(
    seconds: float = 100.0, per_second: float = 0.01, failed: float = 0.0001, kind: str = "publish"
) -> list[Series]:
    name, bounds = "workflow_duration_seconds", BOUNDS["workflow"]
    return [
        *histogram(name, bounds, {seconds: per_second}, task_type=kind, status="succeeded"),
        *histogram(name, bounds, {seconds: failed}, task_type=kind, status="failed"),
        gauge("signoff_workflow_budget_seconds", 300.0, task_type="publish"),
        gauge("signoff_workflow_budget_seconds", 1200.0, task_type="editorial"),
    ]


def requests(
    seconds: float = 0.05, per_second: float = 5.0, route: str = "/api/me", broken: float = 0.01
) -> list[Series]:
    name, bounds = "signoff_http_request_seconds", BOUNDS["request"]
    return [
        *histogram(name, bounds, {0.05: 5.0}, method="GET", route="/api/tasks", status="2xx"),
        *histogram(name, bounds, {seconds: per_second}, method="GET", route=route, status="2xx"),
        *histogram(name, bounds, {0.05: broken}, method="GET", route="/api/tasks", status="5xx"),
    ]


def deliveries(dead: float = 0.0) -> list[Series]:
    name, bounds = "signoff_delivery_seconds", BOUNDS["delivery"]
    return [
        *histogram(name, bounds, {0.3: 0.1}, event="content.published", status="delivered"),
        *histogram(name, bounds, {900.0: dead}, event="content.published", status="dead"),
    ]


def model_calls(failing: float = 0.01) -> list[Series]:
    name, bounds = "signoff_model_call_seconds", BOUNDS["model_call"]
    return [
        *histogram(name, bounds, {2.0: 1.0}, model="m", agent="writer", status="ok"),
        *histogram(name, bounds, {2.0: failing}, model="m", agent="writer", status="error"),
    ]


def pages(unreachable: float = 0.1) -> list[Series]:
    name = "signoff_scraped_pages_total"
    return [
        counter(name, 1.0, {"engine": "http", "outcome": "read"}),
        counter(name, unreachable, {"engine": "http", "outcome": "unreachable"}),
    ]


# Each part of a site that is well; a breach replaces one of them.
QUIET: dict[str, list[Series]] = {
    "tools": tools(),
    "steps": steps(),
    "workflows": workflows(),
    "requests": requests(),
    "deliveries": deliveries(),
    "model calls": model_calls(),
    "pages": pages(),
    "active": [gauge("active_workflows", 3.0)],
    "approvals": [gauge("signoff_oldest_approval_seconds", 3600.0, kind="publish_article")],
    "outbox": [gauge("signoff_outbox_lag_seconds", 1.0)],
    "lag": [gauge("signoff_runner_lag_seconds", 2.0)],
    "runners": [gauge("signoff_runners", 2.0, state="alive"), gauge("signoff_runners", 0.0, state="lost")],
    "leases": [gauge("signoff_lease_renewal_age_seconds", 1.0)],
    "ready": [gauge("signoff_ready", 1.0, thing="database"), gauge("signoff_ready", 1.0, thing="model m")],
    "parked": [gauge("signoff_parked_seconds", 30.0, waits_for="model m at http://m")],
    "transactions": [],
}
BREACHES: dict[str, tuple[str, list[Series]]] = {
    "SignoffToolCallsSlow": ("tools", tools(20.0)),
    "SignoffStepsSlow": ("steps", steps(90.0)),
    "SignoffWorkflowsSlow": ("workflows", workflows(500.0)),
    "SignoffApiSlow": ("requests", requests(2.0)),
    "SignoffApprovalWaitsLong": (
        "approvals",
        [gauge("signoff_oldest_approval_seconds", 90_000.0, kind="publish_article")],
    ),
    "SignoffOutboxLags": ("outbox", [gauge("signoff_outbox_lag_seconds", 400.0)]),
    "SignoffDeliveriesGivenUp": ("deliveries", deliveries(0.001)),
    "SignoffRunnersLag": ("lag", [gauge("signoff_runner_lag_seconds", 500.0)]),
    "SignoffNoRunner": ("runners", [gauge("signoff_runners", 0.0, state="alive")]),
    "SignoffLeasesNotRenewed": ("leases", [gauge("signoff_lease_renewal_age_seconds", 100.0)]),
    "SignoffThingAway": ("ready", [gauge("signoff_ready", 0.0, thing="model m")]),
    "SignoffWorkParked": ("parked", [gauge("signoff_parked_seconds", 1000.0, waits_for="model m")]),
    "SignoffModelCallsFail": ("model calls", model_calls(0.5)),
    "SignoffErrors": ("requests", requests(broken=2.0)),
    "SignoffWorkflowsFail": ("workflows", workflows(failed=0.005)),
    "SignoffScrapingFails": ("pages", pages(3.0)),
    "SignoffNotScraped": ("active", []),
    "SignoffOldTransaction": (
        "transactions",
        [gauge("signoff_old_transaction_seconds", 700.0, pid="1", application="psql", database="d")],
    ),
}  # fmt: skip


def firing(breach: tuple[str, list[Series]] | None = None) -> set[str]:
    """The alerts that fire at the end of hours in which all stayed as it is."""
    parts = QUIET if breach is None else QUIET | dict([breach])
    series = [each for part in parts.values() for each in part]
    end = HOURS * 3600.0
    fired = set()
    for rule in RULES:
        expression, held = parse(rule["expr"]), seconds_of(rule.get("for", "0s"))
        # A rule whose `for` has passed was true all the while.
        if evaluate(expression, series, end) and evaluate(expression, series, end - held):
            fired.add(rule["alert"])
    return fired


def test_nothing_fires_while_all_is_well() -> None:
    assert firing() == set()


@pytest.mark.parametrize("name", NAMES)
def test_an_alert_fires_on_its_breach_and_no_other_does(name: str) -> None:
    assert firing(BREACHES[name]) == {name}


@pytest.mark.parametrize(
    ("part", "series"),
    [
        ("tools", tools(20.0, per_second=0.01)),  # nine calls in a quarter of an hour
        ("steps", steps(90.0, per_second=0.005)),
        ("workflows", workflows(500.0, kind="editorial")),  # complex ones have 20 minutes
        ("workflows", workflows(500.0, per_second=0.0001)),
        ("workflows", workflows(per_second=0.0001, failed=0.0005)),  # two failed, of few
        ("requests", requests(20.0, route="/api/tools/research/web-search")),
        ("requests", requests(20.0, route="/v1/chat/completions")),
        ("pages", [counter("signoff_scraped_pages_total", 0.01, {"engine": "http", "outcome": "timeout"})]),
        ("active", [gauge("active_workflows", 0.0)]),
    ],
)
def test_a_handful_breaks_no_budget_and_other_budgets_are_not_mixed_up(
    part: str, series: list[Series]
) -> None:
    assert firing((part, series)) == set()
