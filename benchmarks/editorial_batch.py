"""editorial_batch: what the house adds to the model's own time. 16 topics at once through all real parts.

The shipped runners and agents on Ray, the driver as it is submitted (`pipelines.edit_articles`), and a
scripted model server that takes the same time for every call (see desk_script: two rounds a topic).
Ideal: the critical path, 8 calls × latency, as all topics run at once. Measured: from the batch's
begin to the last workflow's end, by Postgres' clock (the article's file is written before that); the
whole job's wall time, with Python, Ray and Ray Data coming up, stands beside it.
In place of a peer: the seed's strict order, topics and specialists one after another, computed from
its calls × latency with nothing added. Agents are warm: a batch of other topics went before.
Aim: at most 1.15 × the ideal at 16 topics.
"""

import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg

from benchmarks.contestants.desk_script import (
    AGENTS,
    PATH_CALLS,
    ROUNDS,
    SEQUENTIAL_CALLS,
    rules,
    write_topics,
)
from benchmarks.harness.bench import ROOT, Bench, ray_here
from benchmarks.harness.figures import median, times
from benchmarks.harness.report import Aim, Report, Table
from models.content.editorial import SPECIALISTS
from tests.fakes.model.model_server import ModelServer, most_at_once

_AIM = 1.15
_WARMUP_LATENCY = 0.02
_JOB_SECONDS = 300


@dataclass(frozen=True)
class _Batch:
    """One batch, in seconds: from its begin to its last topic's end, and what of that came before the
    first call and after the last; the whole job; and how many calls were under way at once, at most.
    """

    seconds: float
    before: float
    after: float
    job: float
    at_once: int


def measure(bench: Bench) -> Report:
    """Edit the topics again and again, each time new ones, at each latency."""
    machine = bench.machine("ray", "langgraph", "openai")
    topics, latencies = (4, (0.3,)) if bench.quick else (16, (0.5, 2.0))
    found: dict[float, list[_Batch]] = {latency: [] for latency in latencies}
    with ModelServer() as server, ray_here() as address, _newsroom(bench, server, topics) as room:
        room.edit("warmup", address=address, topics=topics, latency=_WARMUP_LATENCY)
        for number in range(bench.repetitions):
            for latency, batches in found.items():
                channel = f"run{number}-{latency * 1000:.0f}ms"
                batches.append(room.edit(channel, address=address, topics=topics, latency=latency))
                print(f"latency {latency:g} s: {batches[-1].seconds:.2f} s", flush=True)
    return Report(
        name="editorial_batch",
        measured=f"{topics} topics at once, {ROUNDS} rounds, {len(AGENTS)} concerns a round; "
        f"{PATH_CALLS} calls on the critical path of a topic, {SEQUENTIAL_CALLS} in all.",
        machine=machine,
        tables=[_table(found, topics)],
        aims=list(_aims(found, topics)),
        notes=[
            "The scripted model server and Postgres share the machine's cores with everything else.",
            "Added per call is (measured − ideal) / calls on the critical path.",
        ],
    )


class _Newsroom:
    """A site that is up, and the scripted model it asks."""

    def __init__(self, *, config: Path, url: str, folder: Path, server: ModelServer) -> None:
        self._config, self._url, self._folder, self._server = config, url, folder, server

    def edit(self, channel: str, *, address: str, topics: int, latency: float) -> _Batch:
        """Submit a batch of new topics, wait for its end, and see that it went by the script."""
        folder = self._folder / "topics" / channel
        write_topics(folder, channel=channel, count=topics)
        self._server.reset()
        self._server.script(*rules(), latency=latency)
        command = [sys.executable, "-m", "pipelines.edit_articles", "--config", str(self._config)]
        started = time.monotonic()
        ended = subprocess.run(
            [*command, "--topics", str(folder), "--at-once", str(topics)],
            cwd=ROOT,
            env={**os.environ, "RAY_ADDRESS": address},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_JOB_SECONDS,
            check=False,
        )
        job = time.monotonic() - started
        if ended.returncode != 0:
            raise RuntimeError(f"the batch failed:\n{ended.stdout}")
        calls = [call for call in self._server.calls() if call.kind != "embeddings"]
        wanted = topics * SEQUENTIAL_CALLS
        if len(calls) != wanted:
            raise RuntimeError(f"{len(calls)} calls, not {wanted}: {Counter(call.kind for call in calls)}")
        begun, done = self._span(channel)
        return _Batch(
            seconds=done - begun,
            before=min(call.started for call in calls) - begun,
            after=done - max(call.finished or 0.0 for call in calls),
            job=job,
            at_once=most_at_once(calls),
        )

    def _span(self, channel: str) -> tuple[float, float]:
        """When the batch began and when its last workflow ended, as `time.monotonic()` seconds."""
        with psycopg.connect(self._url) as connection:
            row = connection.execute(
                """SELECT extract(epoch FROM min(b.created_at)), extract(epoch FROM max(w.finished_at))
                   FROM workflows w JOIN batch_workflows bw ON bw.workflow_id = w.id
                   JOIN batches b ON b.id = bw.batch_id
                   WHERE w.input->'source_metadata'->>'channel_name' = %s""",
                (channel,),
            ).fetchone()
        assert row is not None
        boot = time.time() - time.monotonic()  # Postgres goes by the machine's clock
        return float(row[0]) - boot, float(row[1]) - boot


@contextmanager
def _newsroom(bench: Bench, server: ModelServer, topics: int) -> Iterator[_Newsroom]:
    from actors.platform import systems
    from actors.platform.runtime import site
    from actors.platform.runtime.directory import stop_agents
    from actors.platform.runtime.pool import start_runners, stop_runners

    models = [f"agents.{agent}_llm" for agent in ("writer", "article_review", "concern_mapping")]
    models += [f"agents.specialists.{specialist}_llm" for specialist in SPECIALISTS]
    path, config = bench.configure(
        {
            **{f"article_generation.{model}.api_base": server.base_url for model in models},
            "embedding.api_base": server.base_url,
            "article_generation.knowledge_base.data_dir": str(ROOT / "configs/samples/knowledgebase"),
            "article_generation.batch.max_topics_at_once": topics,
        }
    )
    with bench.database() as url:
        try:
            start_runners(config, url, roles="actors.platform.systems:roles", kinds=systems.graphs())
            site.publish(config, root=bench.folder, database_url=url)
            yield _Newsroom(config=path, url=url, folder=bench.folder, server=server)
        finally:
            stop_runners(timeout_seconds=10)
            stop_agents()


def _table(found: dict[float, list[_Batch]], topics: int) -> Table:
    rows = []
    for latency, batches in found.items():
        ideal = PATH_CALLS * latency
        seconds = median(batch.seconds for batch in batches)
        sequential = SEQUENTIAL_CALLS * latency * topics
        shown = (
            f"{latency:g}",
            f"{ideal:.1f}",
            f"{seconds:.2f}",
            times(seconds / ideal),
            f"{(seconds - ideal) / PATH_CALLS * 1000:.0f}",
            *(f"{median(getattr(batch, part) for batch in batches):.2f}" for part in ("before", "after")),
            f"{median(batch.at_once for batch in batches):.0f}",
            f"{sequential:.0f} ({times(sequential / seconds)})",
            f"{median(batch.job for batch in batches):.1f}",
        )
        rows.append(shown)
    columns = (
        *("latency, s", "ideal, s", "measured, s", "of the ideal", "added per call, ms"),
        *("before the first call, s", "after the last, s", "calls at once", "the seed's order, s"),
        "whole job, s",
    )
    return Table(title=f"{topics} topics", columns=columns, rows=rows)


def _aims(found: dict[float, list[_Batch]], topics: int) -> Iterator[Aim]:
    for latency, batches in found.items():
        ratio = median(batch.seconds for batch in batches) / (PATH_CALLS * latency)
        what = f"{topics} topics at {latency:g} s a call in at most {_AIM:g} × the ideal"
        yield Aim(what, ratio <= _AIM, times(ratio))
