"""Which process this is, in a way that proves to others on the same machine whether it is still alive.

Asked by runners: a lease ends before its time only for a process that is proven dead. A process id alone
proves nothing, as it is given again; nor does a host's name, which containers share.
"""

import os
import socket
from pathlib import Path

from models.store.runtime.runners import RunnerProcess


def this_process() -> RunnerProcess:
    """This process, with what it takes to prove its death later where the system tells that (Linux)."""
    pid = os.getpid()
    return RunnerProcess(node=socket.gethostname(), pid=pid, machine=_machine(), started=_started(pid))


def is_dead(process: RunnerProcess, *, seen_from: RunnerProcess) -> bool:
    """Whether `process` is proven dead, seen from another. False where that can't be told from there."""
    known = process.machine is not None and process.started is not None and seen_from.started is not None
    if not known or process.machine != seen_from.machine:
        return False
    started = _started(process.pid)
    return started != process.started if started is not None else _gone(process.pid)


def _gone(pid: int) -> bool:
    """Whether there is no such process, also where the processes of others are hidden; a zombie is gone."""
    if Path(f"/proc/{pid}/stat").exists():
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass
    return False


def _machine() -> str | None:
    """This boot of this kernel, and the namespace in which process ids are counted."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot}/{os.stat('/proc/self/ns/pid').st_ino}"
    except OSError:
        return None


def _started(pid: int) -> int | None:
    """When a process was started, in ticks since boot; None where there is none (a zombie is none)."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    # The name in the second field may hold anything, brackets and blanks too.
    fields = stat.rpartition(b")")[2].split()
    return None if fields[0] in (b"Z", b"X") else int(fields[19])
