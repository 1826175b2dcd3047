"""A process of a campaign tells in its log where its tasks and threads stand, when it gets `TELLS`."""

import asyncio
import faulthandler
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from types import FrameType
from typing import Any

TELLS = signal.SIGUSR1
TOLD = "all tasks were told of"


def tell_when_asked() -> None:
    """Have this process tell where it stands when it gets the signal."""
    signal.signal(TELLS, _tell)


def _tell(number: int, at: FrameType | None) -> None:
    faulthandler.dump_traceback(all_threads=True)
    with suppress(RuntimeError):  # no loop runs here
        for task in asyncio.all_tasks():
            sys.stderr.write("\n".join([f"task {task.get_name()}", *_stands(task.get_coro())]) + "\n")
    sys.stderr.write(f"{TOLD}\n")
    sys.stderr.flush()


def _stands(awaited: Any) -> Iterator[str]:
    """Where a coroutine stands, and what it awaits there, to the innermost."""
    while awaited is not None:
        for kind in ("cr", "gi", "ag"):
            if (frame := getattr(awaited, f"{kind}_frame", None)) is not None:
                yield f"  {frame.f_code.co_filename}:{frame.f_lineno} {frame.f_code.co_qualname}"
                awaited = getattr(awaited, "gi_yieldfrom" if kind == "gi" else f"{kind}_await")
                break
        else:
            yield f"  {awaited!r}"
            return
