"""A load beside a campaign: processes that want a processor for drawn spells, as much other work does."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[3]
_BUSY_SECONDS, _IDLE_SECONDS = (0.3, 4.0), (0.0, 2.0)


@contextlib.contextmanager
def load(processes: int, seed: int) -> Iterator[None]:
    """So many of them, for as long as the block."""
    with contextlib.ExitStack() as stack:
        for number in range(processes):
            command = [sys.executable, "-m", "tests.faults.site.load", f"{seed}/{number}", str(os.getpid())]
            stack.callback(_end, subprocess.Popen(command, cwd=_ROOT))
        yield


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()


def burn(rng: random.Random, parent: int) -> None:
    """Burn and rest by turns, until whoever began it is gone."""
    while os.getppid() == parent:
        until = time.monotonic() + rng.uniform(*_BUSY_SECONDS)
        while time.monotonic() < until:
            pass
        time.sleep(rng.uniform(*_IDLE_SECONDS))


if __name__ == "__main__":
    burn(random.Random(sys.argv[1]), int(sys.argv[2]))
