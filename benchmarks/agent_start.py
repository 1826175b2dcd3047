"""agent_start: how long until a new agent answers, and what its process weighs. The writer, as shipped.

From asking the directory (`directory.agent("writer")`, the class, role table and settings that the
runners use) until its first answer: a whole draft from a scripted model that answers at once, since
the writer has no smaller verb; so the first HTTP connection and what `openai` imports late are in it.
Also until `__init__` is done. Each start is a fresh actor, the one before it killed. Ray keeps idle
worker processes and gives one to an actor, so both are measured: with none idle (a process is
started; this is what the aim is held to) and with one idle (the class's imports remain).

Memory is RSS and USS of the process after its answer. What it is made of: a bare actor (Ray alone),
then imports one after another in one process. In place of a peer: the bare actor, started likewise.
Aim: ≤ 2.5 s, ≤ 150 MB.
"""

import asyncio
import contextlib
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import ray

from actors.platform import systems
from actors.platform.runtime.directory import Directory
from actors.systems.editorial.briefs import WritingBrief
from benchmarks.contestants.bare import Bare, Importer, memory
from benchmarks.contestants.desk_script import write_topics
from benchmarks.harness.bench import Bench, ray_here
from benchmarks.harness.cpu import process_seconds
from benchmarks.harness.figures import median
from benchmarks.harness.report import Aim, Report, Table
from models.config import Config
from models.content.editorial import TopicInput
from tests.fakes.model.model_server import ModelServer

_AIM_SECONDS, _AIM_MB = 2.5, 150.0
_ROLE = "writer"
_PATIENCE_SECONDS = 60
_WRITER, _BARE = "writer", "bare actor"
_NONE, _ONE = "no worker idle", "a worker idle"
# In the order in which starting a writer comes upon them.
_IMPORTS = ("models.config", "actors.platform.llm.client", "actors.systems.editorial.agents.writer", "openai")


@dataclass(frozen=True)
class _Start:
    """One start: seconds until `__init__` was done and until the first answer, and what it weighs.

    `cpu` is the processor seconds of its process, which an idle worker has spent in part beforehand;
    `rss` and `uss` are MB.
    """

    ready: float
    answer: float
    cpu: float
    rss: float
    uss: float


def measure(bench: Bench) -> Report:
    """Start writers and bare actors, with and without an idle worker process to take over."""
    machine = bench.machine("ray", "openai", "pydantic")
    starts: dict[tuple[str, str], list[_Start]] = {}
    with ModelServer() as server, ray_here():
        _, config = bench.configure({"article_generation.agents.writer_llm.api_base": server.base_url})
        topic = _topic(bench.folder)
        for _ in range(bench.repetitions):
            for idle in (_NONE, _ONE):
                for what, start in ((_WRITER, _start_writer), (_BARE, _start_bare)):
                    _prepare(idle)
                    starts.setdefault((what, idle), []).append(start(config, topic))
                    print(f"{what}, {idle}: {starts[what, idle][-1].answer:.2f} s", flush=True)
        cold = starts[_WRITER, _NONE]
        made_of = _made_of(cold)
    seconds, rss = median(start.answer for start in cold), median(start.rss for start in cold)
    return Report(
        name="agent_start",
        measured=f"The {_ROLE} of configs/local.yaml, from asking the directory to its first answer.",
        machine=machine,
        tables=[_table(starts), made_of],
        aims=[
            Aim(
                f"first answer within {_AIM_SECONDS:g} s, {_NONE}",
                seconds <= _AIM_SECONDS,
                f"{seconds:.2f} s",
            ),
            Aim(f"at most {_AIM_MB:g} MB (RSS)", rss <= _AIM_MB, f"{rss:.0f} MB"),
        ],
        notes=[
            "RSS counts pages that processes share, such as the code of Ray's libraries; USS does not.",
            "Between a bare actor's first call and its second, Ray has imported what it takes to send any "
            "answer: pyarrow, numpy, pydantic, starlette.",
        ],
    )


def _topic(folder: Path) -> TopicInput:
    topics = folder / "start"
    write_topics(topics, channel="start", count=1)
    [path] = topics.iterdir()
    return TopicInput.model_validate_json(path.read_text(encoding="utf-8"))


def _prepare(idle: str) -> None:
    """See to it that Ray has no idle worker process, or at least one."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    if idle == _ONE and not _workers("IDLE"):
        ray.get(ray.remote(num_cpus=0)(lambda: None).remote())
    while bool(found := _workers("IDLE")) != (idle == _ONE):
        if time.monotonic() > deadline:
            raise RuntimeError(f"{len(found)} worker processes stay idle: wanted is {idle}")
        for process in found if idle == _NONE else ():
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        time.sleep(0.1)


def _workers(what: str) -> list[psutil.Process]:
    """Our Ray's worker processes of a class, or those that are IDLE. Ray is a child of this process."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            if process.name().startswith(f"ray::{what}") and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def _start_writer(config: Config, topic: TopicInput) -> _Start:
    started = time.perf_counter()
    directory = Directory(config=config, roles="actors.platform.systems:roles")
    handle = directory.handle(_ROLE, 0)
    ray.get(handle.__ray_ready__.remote())
    ready = time.perf_counter() - started
    asyncio.run(directory.agent(_ROLE).generate(WritingBrief(topic=topic)))
    answer = time.perf_counter() - started
    [process] = _workers(systems.roles()[_ROLE][0].rpartition(":")[2])
    return _weighed(handle, process.pid, ready, answer)


def _start_bare(config: Config, topic: TopicInput) -> _Start:
    started = time.perf_counter()
    handle: Any = ray.remote(Bare).options(num_cpus=config.agents[_ROLE].num_cpus).remote()
    ray.get(handle.__ray_ready__.remote())
    ready = time.perf_counter() - started
    pid = ray.get(handle.pid.remote())
    return _weighed(handle, pid, ready, time.perf_counter() - started)


def _weighed(handle: Any, pid: int, ready: float, answer: float) -> _Start:
    """The start with the memory of its process, which is then killed."""
    (rss, uss), cpu = memory(pid), process_seconds(pid)
    process = psutil.Process(pid)
    ray.kill(handle, no_restart=True)
    process.wait(_PATIENCE_SECONDS)
    return _Start(ready=ready, answer=answer, cpu=cpu, rss=rss, uss=uss)


def _table(starts: dict[tuple[str, str], list[_Start]]) -> Table:
    rows = [
        (
            f"{what}, {idle}",
            *(
                f"{median(getattr(start, part) for start in found):.2f}"
                for part in ("ready", "answer", "cpu")
            ),
            *(f"{median(getattr(start, part) for start in found):.0f}" for part in ("rss", "uss")),
        )
        for (what, idle), found in sorted(starts.items(), reverse=True)
    ]
    columns = ("start", "made, s", "first answer, s", "CPU, s", "RSS, MB", "USS, MB")
    return Table(title="a fresh actor each time", columns=columns, rows=rows)


def _made_of(cold: list[_Start]) -> Table:
    """What each import adds to a bare actor's memory and time, in one process."""
    _prepare(_NONE)
    importer: Any = ray.remote(Importer).options(num_cpus=0).remote()
    rss, uss = ray.get(importer.memory.remote())
    rows = [("a bare actor, in its first call", "", f"{rss:.0f}", f"{uss:.0f}", "")]
    # To send its first answer, Ray imports pyarrow, numpy, pydantic and starlette where they are installed.
    rss, more = ray.get(importer.memory.remote())
    rows.append(("a bare actor, in its second call", "", f"{rss:.0f}", f"{more:.0f}", f"{more - uss:+.0f}"))
    uss = more
    for module in _IMPORTS:
        seconds, rss, more = ray.get(importer.after_import.remote(module))
        rows.append((f"+ {module}", f"{seconds:.2f}", f"{rss:.0f}", f"{more:.0f}", f"{more - uss:+.0f}"))
        uss = more
    ray.kill(importer, no_restart=True)
    rss, more = median(start.rss for start in cold), median(start.uss for start in cold)
    rows.append(("the writer after its answer", "", f"{rss:.0f}", f"{more:.0f}", f"{more - uss:+.0f}"))
    columns = ("import", "import, s", "RSS, MB", "USS, MB", "added USS, MB")
    return Table(title="what a writer's memory is made of (once)", columns=columns, rows=rows)
