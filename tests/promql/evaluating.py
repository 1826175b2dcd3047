"""What a parsed expression comes to on made-up series, as Prometheus says that it does.

Of https://prometheus.io/docs/prometheus/latest/querying/functions/: instant vectors look back five minutes,
`rate` and `increase` forgive resets and extrapolate to the ends of their range, `histogram_quantile` goes
linearly through a bucket. Prometheus' own arithmetic in corners beyond that is not claimed.
"""

import itertools
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tests.promql.parsing import Aggregation, Binary, Call, Expression, Matcher, Number, Selector

LOOK_BACK_SECONDS = 300.0
Labels = frozenset[tuple[str, str]]
Vector = dict[Labels, float]


@dataclass(frozen=True)
class Series:
    """A series: its name, its labels, and samples of (seconds, value), in order."""

    name: str
    labels: Mapping[str, str]
    samples: tuple[tuple[float, float], ...]


def evaluate(expression: Expression, series: Iterable[Series], at: float) -> Vector:
    """The vector at a moment; a scalar is one without labels."""
    return _Evaluation(list(series), at).of(expression)


class _Evaluation:
    def __init__(self, series: list[Series], at: float) -> None:
        self._series = series
        self._at = at

    def of(self, expression: Expression) -> Vector:
        match expression:
            case Number(value=value):
                return {frozenset(): value}
            case Selector():
                return {
                    frozenset(each.labels.items()): samples[-1][1]
                    for each, samples in self._found(expression, LOOK_BACK_SECONDS)
                }
            case Call():
                return self._call(expression)
            case Aggregation():
                return self._aggregate(expression)
            case Binary():
                return self._operate(expression)

    def _found(
        self, selector: Selector, seconds: float
    ) -> list[tuple[Series, tuple[tuple[float, float], ...]]]:
        found = []
        for each in self._series:
            if each.name == selector.name and all(_matches(m, each.labels) for m in selector.matchers):
                samples = tuple(s for s in each.samples if self._at - seconds < s[0] <= self._at)
                if samples:
                    found.append((each, samples))
        return found

    def _call(self, call: Call) -> Vector:
        if call.function in ("rate", "increase"):
            [selector] = call.arguments
            assert isinstance(selector, Selector)
            assert selector.seconds is not None
            grown = {}
            for each, samples in self._found(selector, selector.seconds):
                increase = _increase(samples, self._at - selector.seconds, self._at)
                if increase is not None:
                    rate = increase / selector.seconds if call.function == "rate" else increase
                    grown[frozenset(each.labels.items())] = rate
            return grown
        if call.function == "histogram_quantile":
            [quantile] = self.of(call.arguments[0]).values()
            return _quantiles(quantile, self.of(call.arguments[1]))
        if call.function == "absent":
            return {} if self.of(call.arguments[0]) else {frozenset(): 1.0}
        if call.function == "clamp_min":
            [least] = self.of(call.arguments[1]).values()
            return {labels: max(value, least) for labels, value in self.of(call.arguments[0]).items()}
        if call.function == "time":
            return {frozenset(): self._at}
        return self.of(call.arguments[0])

    def _aggregate(self, aggregation: Aggregation) -> Vector:
        groups: defaultdict[Labels, list[float]] = defaultdict(list)
        found = self.of(aggregation.argument)
        for labels, value in found.items():
            if aggregation.without is not None:
                kept = frozenset(pair for pair in labels if pair[0] not in aggregation.without)
            else:
                kept = frozenset(pair for pair in labels if pair[0] in (aggregation.by or ()))
            groups[kept].append(value)
        if aggregation.op == "topk":
            assert aggregation.parameter is not None
            [most] = self.of(aggregation.parameter).values()
            return dict(sorted(found.items(), key=lambda pair: -pair[1])[: int(most)])
        how = {"sum": sum, "max": max, "min": min, "count": len, "avg": lambda v: sum(v) / len(v)}
        return {labels: float(how[aggregation.op](values)) for labels, values in groups.items()}

    def _operate(self, binary: Binary) -> Vector:
        left, right = self.of(binary.left), self.of(binary.right)
        if isinstance(binary.right, Number):
            [value] = right.values()
            return _kept(binary.op, {labels: (each, value) for labels, each in left.items()})
        if isinstance(binary.left, Number):
            raise NotImplementedError("a number on the left")

        def key(labels: Labels) -> Labels:
            if binary.on is not None:
                return frozenset(pair for pair in labels if pair[0] in binary.on)
            return frozenset(pair for pair in labels if pair[0] not in (binary.ignoring or ()))

        others = {key(labels): (labels, value) for labels, value in right.items()}
        if binary.op == "or":
            mine = {key(labels) for labels in left}
            return left | {labels: value for labels, value in right.items() if key(labels) not in mine}
        if binary.op in ("and", "unless"):
            wanted = binary.op == "and"
            return {labels: value for labels, value in left.items() if (key(labels) in others) == wanted}
        assert len(others) == len(right), "many on the right"
        pairs = {}
        for labels, value in left.items():
            if key(labels) in others:
                theirs, other = others[key(labels)]
                taken = {pair for pair in theirs if pair[0] in (binary.group_left or ())}
                result = labels | taken if binary.group_left is not None else key(labels)
                assert result not in pairs, "many on the left"
                pairs[result] = (value, other)
        return _kept(binary.op, pairs)


def _matches(matcher: Matcher, labels: Mapping[str, str]) -> bool:
    value = labels.get(matcher.label, "")
    if matcher.op in ("=", "!="):
        return (value == matcher.value) == (matcher.op == "=")
    return (re.fullmatch(matcher.value, value) is not None) == (matcher.op == "=~")


def _kept(op: str, pairs: Mapping[Labels, tuple[float, float]]) -> Vector:
    compared = {
        "==": lambda a, b: a == b,
        "!=": lambda a, b: a != b,
        "<": lambda a, b: a < b,
        "<=": lambda a, b: a <= b,
        ">": lambda a, b: a > b,
        ">=": lambda a, b: a >= b,
    }
    if op in compared:
        return {labels: a for labels, (a, b) in pairs.items() if compared[op](a, b)}
    counted = {
        "+": lambda a, b: a + b,
        "-": lambda a, b: a - b,
        "*": lambda a, b: a * b,
        "/": lambda a, b: a / b if b else math.nan,
    }
    return {labels: counted[op](a, b) for labels, (a, b) in pairs.items()}


def _increase(samples: tuple[tuple[float, float], ...], begin: float, end: float) -> float | None:
    """Prometheus' extrapolated increase: to an end that is near, and never below zero."""
    if len(samples) < 2:
        return None
    grown = sum(
        max(after - before, 0) if after >= before else after
        for (_, before), (_, after) in itertools.pairwise(samples)
    )
    (first_at, first), (last_at, _) = samples[0], samples[-1]
    seen = last_at - first_at
    every = seen / (len(samples) - 1)
    before, after = first_at - begin, end - last_at
    if grown > 0 and first >= 0:
        before = min(before, seen * first / grown)
    reach = seen
    for gap in (before, after):
        reach += gap if gap < every * 1.1 else every / 2
    return grown * reach / seen


def _quantiles(quantile: float, found: Vector) -> Vector:
    groups: defaultdict[Labels, list[tuple[float, float]]] = defaultdict(list)
    for labels, value in found.items():
        [le] = [text for name, text in labels if name == "le"]
        groups[frozenset(pair for pair in labels if pair[0] != "le")].append((float(le), value))
    return {labels: _quantile(quantile, sorted(buckets)) for labels, buckets in groups.items()}


def _quantile(quantile: float, buckets: list[tuple[float, float]]) -> float:
    total = buckets[-1][1]
    if not math.isinf(buckets[-1][0]) or total == 0:
        return math.nan
    rank = quantile * total
    place = next(n for n, (_, count) in enumerate(buckets) if count >= rank)
    if place == len(buckets) - 1:
        return buckets[-2][0]
    below, under = (0.0, 0.0) if place == 0 else buckets[place - 1]
    upper, count = buckets[place]
    return below + (upper - below) * (rank - under) / (count - under)
