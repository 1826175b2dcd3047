"""Prometheus metrics, from counters in Postgres: every replica tells the same, whoever is asked.

A scrape adds the calls since the last one, as sweeps do; see `models.store.people.tool_calls.add`.
"""

import asyncio
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

from models.store import approval_inbox, outbox
from models.store.database import Database
from models.store.people import tool_calls
from models.store.runtime import workflows
from models.store.upkeep import activity

_Key = tuple[str, str, str]


class Metrics(Collector):
    """What `/metrics` says. One per replica."""

    def __init__(self, database: Database, *, old_transaction_seconds: float) -> None:
        self._database = database
        self._old_seconds = old_transaction_seconds
        self._old: list[activity.OldTransaction] = []
        self._calls: defaultdict[_Key, list[int]] = defaultdict(lambda: [0] * (len(tool_calls.BOUNDS) + 1))
        self._seconds: defaultdict[_Key, float] = defaultdict(float)
        self._gauges: dict[str, dict[str, int]] = {}
        self._turn = asyncio.Lock()

    async def scrape(self) -> bytes:
        """The text format (Prometheus exposition 0.0.4)."""
        async with self._turn:
            async with self._database.connection() as connection:
                rows = await tool_calls.count(connection, tool_calls.BOUNDS)
                self._old = await activity.old_transactions(connection, older_than_seconds=self._old_seconds)
                self._gauges = {
                    "workflows": await workflows.counts(connection),
                    "deliveries": await outbox.counts(connection),
                    "approvals": await approval_inbox.counts(connection),
                }
            self._calls.clear()
            self._seconds.clear()
            for row in rows:
                key = (row["tool"], row["door"], row["status"])
                self._calls[key][bisect_left(tool_calls.BOUNDS, row["up_to_seconds"])] += row["calls"]
                self._seconds[key] += row["seconds"]
            registry = CollectorRegistry(auto_describe=False)
            registry.register(self)
            return generate_latest(registry)

    def collect(self) -> Iterator[CounterMetricFamily | HistogramMetricFamily | GaugeMetricFamily]:
        """The metric families; prometheus_client calls it."""
        calls = CounterMetricFamily("signoff_tool_calls", "Tool calls.", labels=["tool", "door", "status"])
        duration = HistogramMetricFamily(
            "signoff_tool_call_seconds", "How long tool calls took.", labels=["tool", "door", "status"]
        )
        for key, buckets in sorted(self._calls.items()):
            calls.add_metric(list(key), sum(buckets))
            total, cumulative = 0, []
            for bound, count in zip([*map(str, tool_calls.BOUNDS), "+Inf"], buckets, strict=True):
                total += count
                cumulative.append((bound, total))
            duration.add_metric(list(key), cumulative, sum_value=self._seconds[key])
        yield calls
        yield duration
        for name, counts in self._gauges.items():
            gauge = GaugeMetricFamily(f"signoff_{name}", f"How many {name} there are.", labels=["status"])
            for status, count in sorted(counts.items()):
                gauge.add_metric([status], count)
            yield gauge
        old = GaugeMetricFamily(
            "signoff_old_transaction_seconds",
            "Transactions that have been open for long on the database's server.",
            labels=["pid", "application", "database"],
        )
        for held in self._old:
            old.add_metric([str(held.pid), held.application, held.database], held.seconds)
        yield old
