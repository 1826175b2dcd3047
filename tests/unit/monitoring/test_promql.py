"""The reader of PromQL refuses what it does not know; its evaluator does what Prometheus' pages say."""

import math

import pytest

from tests.promql.evaluating import Series, evaluate
from tests.promql.naming import Misnamed, check
from tests.promql.parsing import Binary, NotUnderstood, Number, parse, seconds_of

KNOWN = {
    "seen_total": frozenset({"kind", "status"}),
    "took_bucket": frozenset({"kind", "le"}),
    "limit": frozenset({"kind"}),
}


def line(name: str, per_second: float, until: float = 3600.0, **labels: str) -> Series:
    """A counter that grows evenly, a sample each 15 s."""
    steps = range(int(until // 15) + 1)
    return Series(name, labels, tuple((step * 15.0, step * 15.0 * per_second) for step in steps))


def flat(name: str, value: float, until: float = 3600.0, **labels: str) -> Series:
    return Series(name, labels, tuple((step * 15.0, value) for step in range(int(until // 15) + 1)))


@pytest.mark.parametrize(
    "text",
    [
        "", "sum(", "sum by kind (x)", "rate(x[5])", "x{kind}", "x{kind=5}", "x[5m] offset 1h", "x @ 5",
        "quantile_over_time(0.5, x[5m])", "x y", "sum(x, y)", "topk(x)", "x{kind='a'}", 'x{kind=~"("}', "1 +",
    ],
)  # fmt: skip
def test_what_is_not_known_is_refused(text: str) -> None:
    with pytest.raises((NotUnderstood, Exception)) as refused:
        parse(text)
    assert not isinstance(refused.value, AssertionError)


def test_operators_bind_as_they_do_in_prometheus() -> None:
    assert parse("1 + 2 * 3 > 4 and 5 or 6") == Binary(
        "or",
        Binary(
            "and",
            Binary(">", Binary("+", Number(1), Binary("*", Number(2), Number(3))), Number(4)),
            Number(5),
        ),
        Number(6),
    )
    assert parse("8 - 2 - 1") == Binary("-", Binary("-", Number(8), Number(2)), Number(1))
    assert seconds_of("1h30m") == 5400


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("sum by (kind) (rate(seen_total[5m]))", {"kind"}),
        ("sum(seen_total)", set()),
        ("histogram_quantile(0.9, sum by (le, kind) (rate(took_bucket[5m])))", {"kind"}),
        ("max by (kind) (limit) > on (kind) max by (kind) (limit)", {"kind"}),
        ("sum without (status) (seen_total)", {"kind", "job", "instance"}),
        ("limit > 5", {"kind", "job", "instance"}),
        ("absent(limit)", set()),
    ],
)
def test_what_an_expression_comes_to_has_labels(text: str, labels: set[str]) -> None:
    assert check(parse(text), KNOWN) == labels


@pytest.mark.parametrize(
    "text",
    [
        "unseen_total",
        'seen_total{king="a"}',
        "sum by (le) (seen_total)",
        "rate(limit[5m])",
        "rate(seen_total)",
        "sum(seen_total[5m])",
        "histogram_quantile(0.9, sum by (kind) (rate(took_bucket[5m])))",
        "sum by (kind) (seen_total) > sum(seen_total)",
        "sum by (kind) (seen_total) > on (status) sum by (status) (seen_total)",
    ],
)
def test_what_there_is_not_is_told(text: str) -> None:
    with pytest.raises(Misnamed):
        check(parse(text), KNOWN)


def result(text: str, *series: Series, at: float = 3600.0) -> dict[str, float]:
    """What it comes to, by the label `kind`."""
    found = evaluate(parse(text), series, at)
    return {dict(labels).get("kind", ""): value for labels, value in found.items()}


def test_an_even_counter_has_its_rate_and_its_increase() -> None:
    counter = line("seen_total", 2.0, kind="a")
    assert result("rate(seen_total[5m])", counter)["a"] == pytest.approx(2)
    assert result("increase(seen_total[5m])", counter)["a"] == pytest.approx(600)


def test_a_reset_takes_nothing_away() -> None:
    samples = tuple((n * 15.0, float(n % 10) * 30) for n in range(41))
    rate = result("rate(seen_total[10m])", Series("seen_total", {"kind": "a"}, samples), at=600.0)["a"]
    assert 1.7 < rate <= 2.0


def test_a_quantile_goes_linearly_through_its_bucket() -> None:
    buckets = [
        line("took_bucket", n, kind="a", le=le) for le, n in (("1", 0.5), ("10", 0.9), ("30", 1), ("+Inf", 1))
    ]
    for quantile, seconds in ((0.5, 1.0), (0.7, 5.5), (0.95, 20.0), (1.0, 30.0)):
        text = f"histogram_quantile({quantile}, sum by (le, kind) (rate(took_bucket[5m])))"
        assert result(text, *buckets)["a"] == pytest.approx(seconds)
    late = [line("took_bucket", n, kind="a", le=le) for le, n in (("1", 0.1), ("+Inf", 1))]
    assert result("histogram_quantile(0.9, rate(took_bucket[5m]))", *late)["a"] == 1.0
    nothing = [line("took_bucket", 0, kind="a", le=le) for le in ("1", "+Inf")]
    assert math.isnan(result("histogram_quantile(0.9, rate(took_bucket[5m]))", *nothing)["a"])


def test_operators_match_by_labels_and_comparisons_filter() -> None:
    series = [
        flat("limit", 5.0, kind="a"),
        flat("limit", 7.0, kind="b"),
        flat("seen_total", 6.0, kind="a", status="x"),
        flat("seen_total", 6.0, kind="b", status="x"),
    ]
    assert result("sum by (kind) (seen_total) > on (kind) limit", *series) == {"a": 6.0}
    assert result("sum by (kind) (seen_total) - on (kind) limit", *series) == {"a": 1.0, "b": -1.0}
    assert result("limit > 6 or limit < 6", *series) == {"a": 5.0, "b": 7.0}
    assert result("limit and on (kind) (seen_total > 6)", *series) == {}
    assert result('limit{kind=~"a|c"}', *series) == {"a": 5.0}
    assert result('limit{kind!~"a|c"}', *series) == {"b": 7.0}


def test_what_ended_five_minutes_ago_is_absent() -> None:
    gone = flat("limit", 1.0, until=600.0, kind="a")
    assert result("absent(limit)", gone, at=600.0) == {}
    assert result("absent(limit)", gone, at=901.0) == {"": 1.0}
