"""Where a benchmark runs: processor, memory, disk, system, versions. Figures mean nothing without it."""

import os
import platform
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import psutil
import psycopg

from benchmarks.harness.figures import median

_FSYNCS = 100


def describe(*, postgres_url: str, folder: Path, packages: Sequence[str], repetitions: int) -> list[str]:
    """The machine in a few lines. Refuses a Postgres that does not wait for its disk.

    Raises:
        RuntimeError: `synchronous_commit` or `fsync` is not on.
    """
    with psycopg.connect(postgres_url) as connection:
        facts = {name: _setting(connection, name) for name in ("synchronous_commit", "fsync")}
        server = _setting(connection, "server_version")
    if set(facts.values()) != {"on"}:
        raise RuntimeError(f"Postgres would not wait for its disk: {facts}")
    disk = _fsync_seconds(folder) * 1000
    postgres = (
        f"PostgreSQL {server} with synchronous_commit=on, fsync=on; an fsync of 8 kB takes {disk:.2f} ms"
    )
    return [*describe_host(repetitions=repetitions), postgres, describe_packages(packages)]


def describe_host(*, repetitions: int) -> list[str]:
    """When, on what, and how busy it was."""
    memory = psutil.virtual_memory()
    load = os.getloadavg()[0]
    return [
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {repetitions} repetition{'s' * (repetitions != 1)}",
        f"{_processor()}, {os.cpu_count()} cores, {memory.total / 2**30:.0f} GiB of memory "
        f"({memory.available / 2**30:.0f} GiB free), {_system()}",
        f"load average before the run: {load:.1f}"
        + (" (the machine was busy: read the figures with care)" if load > 1 else ""),
    ]


def describe_packages(packages: Sequence[str]) -> str:
    """The versions of what matters."""
    libraries = ", ".join(f"{name} {version(name)}" for name in packages)
    return f"Python {platform.python_version()}, {libraries}"


def _setting(connection: "psycopg.Connection[tuple[object, ...]]", name: str) -> str:
    row = connection.execute(f"SHOW {name}".encode()).fetchone()
    assert row is not None
    return str(row[0])


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _system() -> str:
    try:
        name = platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        name = platform.system()
    return f"{name}, Linux {platform.release()}" if platform.system() == "Linux" else name


def _fsync_seconds(folder: Path) -> float:
    """The median time of writing 8 kB into a file there and waiting for the disk."""
    taken = []
    with open(folder / "fsync", "wb", buffering=0) as file:
        for _ in range(_FSYNCS):
            started = time.perf_counter()
            file.write(bytes(8192))
            os.fsync(file.fileno())
            taken.append(time.perf_counter() - started)
    (folder / "fsync").unlink()
    return median(taken)
