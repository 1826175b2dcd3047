"""Prometheus metrics, from Postgres: every replica tells the same, whoever is asked.

What is counted only grows: a scrape adds what happened since the last one, as sweeps do (see
`models.store.upkeep.observations` and `models.store.people.tool_calls`). Only `signoff_ready` is as this
replica finds it. Which families there are is in `serve.monitoring.families`.
"""

import asyncio
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

from models.monitoring import ObservationCount, SiteStanding
from models.runtime.outages import Needed
from models.runtime.workflow_kinds import Kinds
from models.store.database import Database
from models.store.people import tool_calls
from models.store.upkeep import activity, observations, standing
from serve.monitoring import families
from serve.monitoring.families import Family
from serve.monitoring.readiness import Readiness
from serve.monitoring.request_times import RequestTimes

# Of what happened since the last scrape; what is left is counted by the next, or by a sweep.
_MOST_ADDED = 10_000

# By measure; see `serve.monitoring.families`.
_BOUNDS = {**observations.BOUNDS, "tool_call": tool_calls.BOUNDS}

_AnyFamily = CounterMetricFamily | GaugeMetricFamily | HistogramMetricFamily
_Values = Iterable[tuple[tuple[str, ...], float]]


class Metrics:
    """What `/metrics` says. One per replica."""

    def __init__(
        self,
        database: Database,
        *,
        kinds: Kinds,
        readiness: Readiness,
        requests: RequestTimes,
        old_transaction_seconds: float,
    ) -> None:
        self._database = database
        self._kinds = kinds
        self._readiness = readiness
        self._requests = requests
        self._old_seconds = old_transaction_seconds
        self._turn = asyncio.Lock()

    async def scrape(self) -> bytes:
        """The text format (Prometheus exposition 0.0.4)."""
        async with self._turn:
            needs = await self._readiness.look()
            await self._requests.write(self._database)
            # Thousands of lines take a tenth of a second: others are answered meanwhile.
            return await asyncio.to_thread(written, await self._found(needs))

    async def _found(self, needs: Sequence[Needed]) -> "Scrape":
        async with self._database.transaction() as connection:
            calls = await tool_calls.count(connection, tool_calls.BOUNDS)
            await observations.add(connection, limit=_MOST_ADDED)
            return Scrape(
                counts=[*calls, *await observations.read(connection)],
                standing=await standing.read(connection),
                old=await activity.old_transactions(connection, older_than_seconds=self._old_seconds),
                needs=needs,
                budgets={kind.name: kind.budget_seconds for kind in self._kinds.values()},
            )


@dataclass(frozen=True, eq=False)
class Scrape(Collector):
    """What one scrape found."""

    counts: Sequence[ObservationCount]
    standing: SiteStanding
    old: Sequence[activity.OldTransaction]
    needs: Sequence[Needed]
    budgets: Mapping[str, float]

    def collect(self) -> Iterator[_AnyFamily]:
        """The families; prometheus_client calls it."""
        counts: dict[str, list[ObservationCount]] = {}
        for count in self.counts:
            counts.setdefault(count.measure, []).append(count)
        for family in families.FAMILIES:
            if family.measure is not None:
                found = counts.get(family.measure, ())
                yield _histogram(family, found) if family.type == "histogram" else _counter(family, found)
        yield _counter(families.TOOL_CALLS, [_by_tool(count) for count in counts.get("tool_call", ())])
        for family, values in self._gauges():
            gauge = GaugeMetricFamily(family.name, family.help, labels=family.labels)
            for labels, value in values:
                gauge.add_metric(labels, value)
            yield gauge

    def _gauges(self) -> Iterator[tuple[Family, _Values]]:
        now = self.standing
        opened, asked, parked = now.open_workflows, now.waiting_approvals, now.waited_for
        yield families.ACTIVE, [((), sum(each.workflows for each in opened))]
        yield families.OPEN, [((each.kind, each.status), each.workflows) for each in opened]
        yield families.BUDGET, [((kind,), seconds) for kind, seconds in self.budgets.items()]
        yield families.APPROVALS, [((each.kind,), each.approvals) for each in asked]
        yield families.OLDEST_APPROVAL, [((each.kind,), each.oldest_seconds) for each in asked]
        yield families.PENDING, [((), now.deliveries_pending)]
        yield families.OUTBOX_LAG, [((), now.outbox_lag_seconds)]
        yield families.RUNNER_LAG, [((), now.runner_lag_seconds)]
        yield families.RUNNERS, [(("alive",), now.runners_alive), (("lost",), now.runners_lost)]
        yield families.RENEWED, [((), now.renewed_seconds_ago)]
        yield families.WAITED_FOR, [((each.waits_for,), each.workflows) for each in parked]
        yield families.PARKED_SECONDS, [((each.waits_for,), each.oldest_seconds) for each in parked]
        yield families.READY, [((need.name,), float(need.ready)) for need in self.needs]
        yield (
            families.OLD_TRANSACTIONS,
            [((str(held.pid), held.application, held.database), held.seconds) for held in self.old],
        )


def _histogram(family: Family, counts: Iterable[ObservationCount]) -> HistogramMetricFamily:
    assert family.measure is not None
    bounds = _BOUNDS[family.measure]
    buckets: defaultdict[tuple[str, ...], list[int]] = defaultdict(lambda: [0] * (len(bounds) + 1))
    totals: defaultdict[tuple[str, ...], float] = defaultdict(float)
    for count in counts:
        # A bound of another release's is counted below the next one of ours.
        buckets[count.labels][bisect_left(bounds, count.up_to)] += count.times
        totals[count.labels] += count.total
    metric = HistogramMetricFamily(family.name, family.help, labels=family.labels)
    for labels, times in sorted(buckets.items()):
        ups = [*(str(float(bound)) for bound in bounds), "+Inf"]
        metric.add_metric(labels, list(zip(ups, accumulate(times), strict=True)), totals[labels])
    return metric


def _counter(family: Family, counts: Iterable[ObservationCount]) -> CounterMetricFamily:
    found: defaultdict[tuple[str, ...], float] = defaultdict(float)
    for count in counts:
        found[count.labels] += count.times if family.of == "times" else count.total
    metric = CounterMetricFamily(family.name, family.help, labels=family.labels)
    for labels, value in sorted(found.items()):
        metric.add_metric(labels, value)
    return metric


def _by_tool(count: ObservationCount) -> ObservationCount:
    """Without the door: the seed's counter knows none."""
    tool, _, status = count.labels
    return count._replace(labels=(tool, status))


def written(scrape: Scrape) -> bytes:
    """A scrape in the text format."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(scrape)
    return generate_latest(registry)
