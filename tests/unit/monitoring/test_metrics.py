"""What a scrape says of what was found: the seed's names, counts that add up, every family at all times."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from actors.platform import systems
from models.monitoring import ObservationCount, OpenWorkflows, SiteStanding, WaitedFor, WaitingApprovals
from models.runtime.outages import Needed
from models.store.upkeep.activity import OldTransaction
from models.store.upkeep.observations import BOUNDS
from serve.monitoring.families import FAMILIES
from serve.monitoring.metrics import Scrape, written

INFINITY = float("inf")
NOTHING = SiteStanding(
    open_workflows=(),
    waiting_approvals=(),
    waited_for=(),
    runner_lag_seconds=0,
    runners_alive=0,
    runners_lost=0,
    renewed_seconds_ago=0,
    deliveries_pending=0,
    outbox_lag_seconds=0,
)


def count(measure: str, *labels: str, up_to: float, times: int = 1, total: float = 0.5) -> ObservationCount:
    return ObservationCount(measure=measure, labels=labels, up_to=up_to, times=times, total=total)


def told(
    counts: Iterable[ObservationCount] = (),
    standing: SiteStanding = NOTHING,
    old: Iterable[OldTransaction] = (),
    needs: Iterable[Needed] = (),
) -> str:
    """The text of a scrape that found these."""
    return written(
        Scrape(counts=[*counts], standing=standing, old=[*old], needs=[*needs], budgets={"publish": 300.0})
    ).decode()


def samples(text: str) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """Each sample by its name and its labels."""
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def value(text: str, name: str, **labels: str) -> float:
    return samples(text)[name, frozenset(labels.items())]


def test_the_seeds_three_names_are_there_with_their_labels() -> None:
    text = told(
        [
            count("workflow", "publish", "succeeded", up_to=60, times=3, total=90.0),
            count("tool_call", "search", "rest", "ok", up_to=0.1, times=2),
            count("tool_call", "search", "mcp", "ok", up_to=30.0, times=5),
        ],
        NOTHING.model_copy(
            update={
                "open_workflows": (
                    OpenWorkflows(kind="publish", status="waiting", workflows=4),
                    OpenWorkflows(kind="editorial", status="running", workflows=2),
                )
            }
        ),
    )
    ended = {"task_type": "publish", "status": "succeeded"}
    assert value(text, "workflow_duration_seconds_bucket", **ended, le="30.0") == 0
    assert value(text, "workflow_duration_seconds_bucket", **ended, le="60.0") == 3
    assert value(text, "workflow_duration_seconds_count", **ended) == 3
    assert value(text, "workflow_duration_seconds_sum", **ended) == 90
    assert value(text, "tool_calls_total", tool_name="search", status="ok") == 7
    assert value(text, "active_workflows") == 6
    assert value(text, "signoff_open_workflows", task_type="publish", status="waiting") == 4


def test_tokens_are_summed_and_calls_are_counted() -> None:
    text = told(
        [
            count("model_tokens", "m", "writer", "prompt", up_to=INFINITY, times=2, total=300.0),
            count("model_call", "m", "writer", "ok", up_to=0.5, times=2, total=0.8),
        ]
    )
    assert value(text, "signoff_model_tokens_total", model="m", agent="writer", kind="prompt") == 300
    assert value(text, "signoff_model_call_seconds_count", model="m", agent="writer", status="ok") == 2


def test_how_things_stand_is_told() -> None:
    standing = NOTHING.model_copy(
        update={
            "waiting_approvals": (WaitingApprovals(kind="publish", approvals=2, oldest_seconds=90.0),),
            "waited_for": (WaitedFor(waits_for='model "m"\n', workflows=3, oldest_seconds=7.0),),
            "runner_lag_seconds": 1.5,
            "runners_alive": 2,
            "runners_lost": 1,
            "outbox_lag_seconds": 2.5,
        }
    )
    held = OldTransaction(pid=7, database="d", role="r", application="psql", state="idle", seconds=70.0)
    away = Needed(name="runners", ready=False, since=datetime.now(UTC), reason="none is alive")
    text = told(standing=standing, old=[held], needs=[Needed(name="database", ready=True), away])
    assert value(text, "signoff_approvals_waiting", kind="publish") == 2
    assert value(text, "signoff_oldest_approval_seconds", kind="publish") == 90
    assert value(text, "signoff_parked_workflows", waits_for='model "m"\n') == 3
    assert value(text, "signoff_runner_lag_seconds") == 1.5
    assert value(text, "signoff_runners", state="lost") == 1
    assert value(text, "signoff_outbox_lag_seconds") == 2.5
    assert value(text, "signoff_ready", thing="database") == 1
    assert value(text, "signoff_ready", thing="runners") == 0
    assert value(text, "signoff_old_transaction_seconds", pid="7", application="psql", database="d") == 70


def test_every_family_is_told_of_once_even_while_there_is_nothing() -> None:
    found = [(family.name, family.type) for family in text_string_to_metric_families(told())]
    assert sorted(found) == sorted((family.name, family.type) for family in FAMILIES)


def test_a_family_begins_with_our_name_or_is_the_seeds() -> None:
    others = [family.name for family in FAMILIES if not family.name.startswith("signoff_")]
    assert others == ["workflow_duration_seconds", "tool_calls", "active_workflows"]


@given(
    st.lists(
        st.tuples(st.sampled_from([*BOUNDS["step"], INFINITY, 0.3]), st.integers(1, 1000), st.floats(0, 1e6)),
        min_size=1,
    )
)
def test_buckets_add_up_whatever_bounds_they_were_counted_by(rows: list[tuple[float, int, float]]) -> None:
    text = told([count("step", "k", up_to=up, times=times, total=total) for up, times, total in rows])
    found = samples(text)
    buckets = [found["signoff_step_seconds_bucket", frozenset({("task_type", "k"), ("le", le)})]
               for le in [*(str(float(up)) for up in BOUNDS["step"]), "+Inf"]]  # fmt: skip
    assert buckets == sorted(buckets)
    assert buckets[-1] == value(text, "signoff_step_seconds_count", task_type="k")
    assert buckets[-1] == sum(times for _, times, _ in rows)
    assert value(text, "signoff_step_seconds_sum", task_type="k") == pytest.approx(
        sum(total for _, _, total in rows)
    )
    assert buckets[2] == sum(times for up, times, _ in rows if up <= 1)


def test_the_designs_budgets_are_upper_ends_of_buckets() -> None:
    """So that a rule about one of them tells exactly how many stayed below."""
    assert {120, 300, 600, 1200} <= set(BOUNDS["workflow"])
    assert {30, 60} <= set(BOUNDS["step"])
    assert {0.5, 1} <= set(BOUNDS["request"])


def test_every_kind_has_a_budget() -> None:
    budgets = {name: kind.budget_seconds for name, kind in systems.kinds().items()}
    assert budgets["publish_article"] == 300
    assert budgets["editorial"] == 1200


def test_operations_tells_of_every_family_with_its_labels() -> None:
    page = (Path(__file__).resolve().parents[3] / "docs/running.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`[^|]+) \|([^|]*)\| [^|]+ \|$", page.partition("### Metrics")[2], re.MULTILINE)
    told = {
        name: set(re.findall(r"`(\w+)`", labels))
        for names, labels in rows
        for name in re.findall(r"`(\w+)`", names)
    }
    there = {
        (family.samples[0] if family.type == "counter" else family.name): set(family.labels)
        for family in FAMILIES
    }
    assert told == there
