"""Checks in a process apart: what an outsider's schema makes of it ends that process, and no more.

A pattern is looked for without ever giving way to others, and no time limit of ours ends that; the kernel's
does. The seconds are the processor's: a busy machine does not turn a good answer into a bad one. A process is
begun for each check, which takes a few tenths of a second; little checks are done without (`schemas`).
"""

import asyncio
import json
import os
import pickle
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

SECONDS = 3.0
# Until it is given up whatever it does, with its start and on a busy machine.
_MOST_WAITED = 30.0
_MEGABYTES = 512
# Side by side. Those that wait take no thread from anybody else.
_PLACES = ThreadPoolExecutor(max_workers=2, thread_name_prefix="checking")
# Our modules are found where the caller finds them, and nothing of his is imported.
_START = (
    "import sys; sys.path[:] = {path!r}; "
    "from actors.platform.mcp.checking_apart import main; main({seconds!r})"
)


@dataclass(frozen=True)
class Checked:
    """What a check came to. `passes`: another time it may be otherwise."""

    fault: str | None
    passes: bool = False


async def apart(work: Callable[..., str | None], *arguments: Any, seconds: float = SECONDS) -> Checked:
    """What `work(*arguments)` comes to, in a process of its own. What was not checked is a fault.

    Args:
        work: a function of a module.
    """
    return await asyncio.get_running_loop().run_in_executor(_PLACES, _apart, work, arguments, seconds)


def _apart(work: Callable[..., str | None], arguments: tuple[Any, ...], seconds: float) -> Checked:
    start = _START.format(path=[part or os.getcwd() for part in sys.path], seconds=seconds)
    try:
        request = pickle.dumps((work, arguments), protocol=pickle.HIGHEST_PROTOCOL)
    except RecursionError:
        return Checked("it can't be checked: it is nested too deep")
    try:
        ended = subprocess.run(
            (sys.executable, "-P", "-c", start),
            input=request,
            stdout=subprocess.PIPE,
            timeout=_MOST_WAITED,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Checked(f"checking it was not done within {_MOST_WAITED:g} s", passes=True)
    if ended.returncode == -signal.SIGPROF:
        return Checked(f"checking it takes more than {seconds:g} s", passes=True)
    if ended.returncode != 0:
        return Checked("checking it ended its process: it is broken, or takes too much memory", passes=True)
    fault = json.loads(ended.stdout)
    return Checked(None if fault is None else str(fault))


def main(seconds: float) -> None:
    """Do the check that comes on stdin, and tell what it comes to on stdout."""
    work, arguments = pickle.load(sys.stdin.buffer)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    limit = _MEGABYTES * 1024**2
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    # What nothing can catch: the process is ended, whatever it is at.
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGPROF})
    signal.setitimer(signal.ITIMER_PROF, seconds)
    fault: str | None = work(*arguments)
    sys.stdout.write(json.dumps(fault))
