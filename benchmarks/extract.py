"""extract: what the house adds to the model's own time where a project's sources are read.

The shipped runners and agent on Ray, the driver as it is submitted (`pipelines.extract_knowledge`), and a
scripted model server that takes the same time for every call (see extract_script: prose in English, Polish
and Chinese, answers with exact quotes, and some that must be dropped). It takes as many calls as come, so
what the configuration permits is the limit: slots = the agent's `replicas` × `max_concurrency`, or
sources at once × `chunks_at_once`, if that is less.

Ideal: max(⌈chunks / slots⌉, ⌈chunks of the longest source / chunks_at_once⌉) × latency. No order of calls
takes less. Beside it, what the configured order takes at best: sources in turn, each in ⌈its chunks /
chunks_at_once⌉ × latency, the next one as soon as a place is free. Measured: from the batch's begin until
its entities are compared. Embedding is answered at once, and is no part of the ideal; what it costs with the
bundled model is measured by itself, with the names that were asked for.
The agent is warm: a batch of another project went before. Each chunk is asked for once, or it is an error.
Aim: at most 1.2 × the ideal.
"""

import asyncio
import contextlib
import heapq
import itertools
import math
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import psycopg

from benchmarks.contestants.extract_script import ASKED, ScriptedSource, reading, sources
from benchmarks.harness.bench import ROOT, Bench, ray_here
from benchmarks.harness.cpu import postmaster_pid, process_seconds, server_seconds
from benchmarks.harness.figures import median, times
from benchmarks.harness.report import Aim, Report, Table
from models.config import Config
from models.store.database import Database
from models.store.knowledge import projects
from models.store.knowledge import sources as stored
from models.store.runtime import batches
from tests.fakes.model.model_server import ModelServer, Rule, most_at_once

_AIM = 1.2
_WARMUP_LATENCY = 0.02
_JOB_SECONDS = 300
_OUTCOMES = b"""
SELECT why, sum(number::int)::int FROM knowledge_chunks JOIN sources s ON s.id = source_id,
    jsonb_each_text(dropped) AS said(why, number) WHERE project_id = %(project)s GROUP BY 1
UNION ALL SELECT 'kept', count(*) FROM knowledge_points WHERE project_id = %(project)s"""
_PACE = "latency, sources × chunks at once"
_WORKERS = {"ray::RunnerActor": "runners", "ray::KnowledgeExtractor": "agent"}
_USERS = ("runners", "agent", "driver", "ours", "postgres", "ray", "model", "embedding")


@dataclass(frozen=True)
class _Pace:
    """How long the model takes for a call, in seconds, and what may be under way at once."""

    latency: float
    sources: int
    chunks: int
    slots: int

    def __str__(self) -> str:
        return f"{self.latency:g} s, {self.sources} × {self.chunks}, {self.slots} calls"

    def ideal(self, chunks_of: Sequence[int]) -> float:
        """The least that so many chunks of each source take, in seconds."""
        in_slots = math.ceil(sum(chunks_of) / self.slots)
        return max(in_slots, math.ceil(max(chunks_of) / self.chunks)) * self.latency

    def in_turn(self, chunks_of: Sequence[int]) -> float:
        """What they take at best with the sources in turn, so many at once."""
        free = [0] * self.sources
        for chunks in chunks_of:
            heapq.heapreplace(free, free[0] + math.ceil(chunks / self.chunks))
        return max(max(free) * self.latency, self.ideal(chunks_of))


@dataclass(frozen=True)
class _Read:
    """One batch, in seconds: from its begin to its end, and what of that came before the first call and
    after the last; the whole job; how many calls were under way at once, at most; processor seconds by whom;
    and the names that were embedded.
    """

    seconds: float
    before: float
    after: float
    job: float
    at_once: int
    cpu: dict[str, float]
    names: tuple[str, ...]


def measure(bench: Bench) -> Report:
    """Read the same texts again and again, each time as a new project, at each pace."""
    machine = bench.machine("ray", "langgraph", "openai", "psycopg", "sentence-transformers")
    texts = sources(12 if bench.quick else 40)
    found: dict[_Pace, list[_Read]] = {}
    with ModelServer() as server, ray_here() as address:
        for times_more, latencies in ((1, (0.5,)), (4, (0.5, 2.0)[: 1 if bench.quick else None])):
            with _library(bench, server, texts, times_more) as library:
                library.read("warm", library.pace(_WARMUP_LATENCY), address)
                for latency, number in itertools.product(latencies, range(bench.repetitions)):
                    pace = library.pace(latency)
                    read = library.read(f"{latency} s, {number}", pace, address)
                    found.setdefault(pace, []).append(read)
                    print(f"{pace}: {read.seconds:.2f} s", flush=True)
    chunks_of, names = library.said.chunks_of, next(iter(found.values()))[-1].names
    return Report(
        name="extract",
        measured=f"{len(texts)} sources of {min(chunks_of)} to {max(chunks_of)} chunks, {sum(chunks_of)} in "
        f"all; {library.said.offered} items answered, {len(names)} names embedded.",
        machine=machine,
        tables=[_wall(found, chunks_of), _cpu(found, sum(chunks_of), _embedding_seconds(names))],
        aims=list(_aims(found, chunks_of)),
        notes=[
            "The scripted model server and Postgres share the machine's cores with everything else.",
            "`ours` is the runners, the agent and the driver; Ray's own processes stand beside it. Embedding "
            "is the bundled model's in one thread; its share is of that, ours and Postgres' together.",
        ],
    )


class _Library:
    """A site that is up, the texts its projects are of, and the scripted model it asks."""

    def __init__(
        self, *, file: Path, config: Config, url: str, server: ModelServer, texts: Sequence[ScriptedSource]
    ) -> None:
        self.config, self.said = config, reading(texts, config.knowledge.extraction)
        self._file, self._url, self._server, self._texts = file, url, server, texts
        self._postmaster = postmaster_pid(url)

    def pace(self, latency: float) -> _Pace:
        """What the configuration permits, with a model that takes so long."""
        settings, agent = self.config.knowledge.extraction, self.config.agent("extractor")
        sources, chunks = settings.sources_at_once, settings.chunks_at_once
        slots = min(agent.replicas * agent.max_concurrency, sources * chunks)
        return _Pace(latency=latency, sources=sources, chunks=chunks, slots=slots)

    def read(self, name: str, pace: _Pace, address: str) -> _Read:
        """Submit a batch over a new project, wait for its end, and see that it went by the script."""
        project = asyncio.run(self._fill(name))
        self._server.reset()
        self._server.script(*self.said.rules, Rule(kind="embeddings", delay=0.0), latency=pace.latency)
        command = [sys.executable, "-m", "pipelines.extract_knowledge", "--config", str(self._file)]
        started = time.monotonic()
        job = subprocess.Popen(
            [*command, "--project", str(project), "--at-once", str(pace.sources)],
            cwd=ROOT,
            env={**os.environ, "RAY_ADDRESS": address},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        too_long = threading.Timer(_JOB_SECONDS, job.kill)
        too_long.start()
        told, seen = list[str](), list[tuple[float, dict[str, float]]]()
        try:
            for line in job.stdout or ():
                told.append(line)
                if line.startswith(("batch ", "entities: ")):
                    seen.append((time.monotonic(), self._processor_seconds(job.pid)))
            if job.wait() != 0 or len(seen) != 2:
                raise RuntimeError(f"the batch failed:\n{''.join(told)}")
        finally:
            too_long.cancel()
            job.kill()
        taken = time.monotonic() - started
        (begun, before), (ended, after) = seen
        calls = self._server.calls(ASKED)
        self._check(project, [call.prompt for call in calls])
        embedded = (call.body["input"] for call in self._server.calls("embeddings"))
        return _Read(
            seconds=ended - begun,
            before=min(call.started for call in calls) - begun,
            after=ended - max(call.finished or 0.0 for call in calls),
            job=taken,
            at_once=most_at_once(calls),
            cpu={who: after[who] - before.get(who, 0.0) for who in after},
            names=tuple(name for names in embedded for name in names),
        )

    async def _fill(self, name: str) -> int:
        """A new project that holds the texts."""
        pages = [text.page() for text in self._texts]
        async with Database(url=self._url, pool_size=2) as database:
            batch = await batches.begin(database, requested_by="ann", lease_seconds=60)
            async with database.transaction() as connection:
                made, _ = await projects.find_or_create(connection, topic="macro", name=name, by="ann")
                urls = [page.url for page in pages]
                await stored.claim(connection, project_id=made.id, urls=urls, batch_id=batch)
                await stored.settle(connection, project_id=made.id, batch_id=batch, pages=pages)
            await batches.end(database, batch_id=batch)
        return made.id

    def _check(self, project: int, prompts: Sequence[str]) -> None:
        """See that the batch went by the script."""
        with psycopg.connect(self._url) as connection:
            outcomes: dict[str, int] = dict(connection.execute(_OUTCOMES, {"project": project}).fetchall())
        self.said.check(prompts, outcomes.pop("kept"), outcomes)

    def _processor_seconds(self, driver: int) -> dict[str, float]:
        """What each has used so far, those that live."""
        used = dict.fromkeys([*_WORKERS.values(), "ray"], 0.0)
        used |= {"driver": process_seconds(driver), "model": process_seconds(self._server.pid)}
        used["postgres"] = server_seconds(self._postmaster)
        for process in psutil.Process().children(recursive=True):
            if process.pid not in (driver, self._server.pid):
                with contextlib.suppress(psutil.NoSuchProcess):
                    worker = process.name().partition(".")[0]
                    used[_WORKERS.get(worker, "ray")] += process_seconds(process.pid)
        return used


@contextmanager
def _library(
    bench: Bench, server: ModelServer, texts: Sequence[ScriptedSource], times_more: int
) -> Iterator[_Library]:
    """A site with `times_more` under way at once than is shipped."""
    from actors.platform import systems
    from actors.platform.runtime import site
    from actors.platform.runtime.directory import stop_agents
    from actors.platform.runtime.pool import start_runners, stop_runners

    llm, shipped = "knowledge.extraction.llm", bench.configure()[1]
    file, config = bench.configure(
        {
            "knowledge.extraction.prompts_dir": str(ROOT / "configs/prompts/knowledge"),
            # Answers as long as those of a model that can write: the bundled one is held to an item or two.
            f"{llm}.max_tokens": 2000,
            f"{llm}.schema_limits": {},
            f"{llm}.api_base": server.base_url,
            "embedding.api_base": server.base_url,
            "knowledge.extraction.sources_at_once": times_more * shipped.knowledge.extraction.sources_at_once,
            "agents.extractor.max_concurrency": times_more * shipped.agent("extractor").max_concurrency,
        }
    )
    with bench.database() as url:
        try:
            start_runners(config, url, roles="actors.platform.systems:roles", kinds=systems.graphs())
            site.publish(config, root=bench.folder, database_url=url)
            yield _Library(file=file, config=config, url=url, server=server, texts=texts)
        finally:
            stop_runners(timeout_seconds=10)
            stop_agents()


def _embedding_seconds(names: Sequence[str]) -> float:
    """Processor seconds in which the bundled model embeds the names."""
    from actors.platform.search.encoder import SentenceEncoder, embeddings_folder

    encoder = SentenceEncoder(embeddings_folder("bundled"), threads=1)
    encoder.encode(names[:1])
    begun = time.process_time()
    encoder.encode(names)
    return time.process_time() - begun


def _wall(found: dict[_Pace, list[_Read]], chunks_of: Sequence[int]) -> Table:
    rows = []
    for pace, reads in found.items():
        ideal, seconds = pace.ideal(chunks_of), median(read.seconds for read in reads)
        rows.append(
            (
                str(pace),
                f"{ideal:.1f}",
                f"{pace.in_turn(chunks_of):.1f}",
                f"{seconds:.2f}",
                times(seconds / ideal),
                *(f"{median(getattr(read, part) for read in reads):.2f}" for part in ("before", "after")),
                f"{median(read.at_once for read in reads):.0f}",
                f"{median(read.job for read in reads):.1f}",
            )
        )
    columns = (
        *(_PACE, "ideal, s", "in turn at best, s", "measured, s"),
        *("of the ideal", "before the first call, s", "after the last, s", "calls at once", "whole job, s"),
    )
    return Table(title=f"{sum(chunks_of)} chunks", columns=columns, rows=rows)


def _cpu(found: dict[_Pace, list[_Read]], chunks: int, embedding: float) -> Table:
    rows = []
    for pace, reads in found.items():
        used = {who: median(read.cpu[who] for read in reads) for who in reads[0].cpu}
        used["ours"] = used["runners"] + used["agent"] + used["driver"]
        used["embedding"] = embedding
        share = embedding / (used["ours"] + used["postgres"] + embedding)
        rows.append((str(pace), *(f"{used[who] / chunks * 1000:.1f}" for who in _USERS), f"{share:.0%}"))
    columns = (_PACE, *_USERS, "embedding's share")
    return Table(title="processor time per chunk, ms", columns=columns, rows=rows)


def _aims(found: dict[_Pace, list[_Read]], chunks_of: Sequence[int]) -> Iterator[Aim]:
    for pace, reads in found.items():
        ratio = median(read.seconds for read in reads) / pace.ideal(chunks_of)
        what = f"{pace.slots} calls at once of {pace.latency:g} s in at most {_AIM:g} × the ideal"
        yield Aim(what, ratio <= _AIM, times(ratio))
