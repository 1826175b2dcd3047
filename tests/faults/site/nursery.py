"""A process that has imported everything and forks the others, so that one is up in a moment.

It reads one order a line, and answers with a process id. Its children end with it.
"""

import ctypes
import dataclasses
import faulthandler
import json
import os
import signal
import subprocess
import sys
import traceback
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.faults.site.roles import Order, live

_ROOT = Path(__file__).resolve().parents[3]
_PR_SET_PDEATHSIG = 1


class Nursery:
    """The process, as the campaign has it. Use as a context manager."""

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.site.nursery"],
            cwd=_ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(30)

    def start(self, order: Order) -> int:
        """Fork a process; its id."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(dataclasses.asdict(order)) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


def main() -> None:
    """Fork until standard input closes."""
    import serve.api  # noqa: F401  # so that the children need not
    from actors.platform.runtime.workflow_graph import load_graph
    from tests.faults.site.kinds import kinds

    for path in kinds(2).values():
        load_graph(path)
    # Only ids are answers: what else is printed here, by whatever was imported, is no id.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends when its input does
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them: they are gone when they end
    for line in sys.stdin:
        order = Order(**json.loads(line))
        pid = os.fork()
        if pid == 0:
            _be(order)
        answers.write(f"{pid}\n")
        answers.flush()


def _be(order: Order) -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    log = os.open(order.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    null = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((null, 0), (log, 1), (log, 2)):
        os.dup2(source, target)
    faulthandler.enable()
    code = 1
    try:
        live(order)
        code = 0
    except BaseException:  # noqa: BLE001  # told in its log, as its last words
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main()
