"""A reader of pages: requests on stdin, answers as JSON on stdout, one at a time. `reading_pool` starts it.

A request is a pickled function with its arguments, from the process that started this one. What a page makes
of the libraries is bounded here: time by an alarm that nothing can catch, memory by the kernel.
"""

import gc
import json
import logging
import os
import pickle
import resource
import signal
import struct
import sys
from pathlib import Path
from typing import BinaryIO

# Read before anything is: a reader says that it is there once it can begin at once.
from actors.systems.knowledge.parsing.main_text import read_html
from actors.systems.knowledge.parsing.page_reading import names_of
from models.record import Record

_LENGTH = struct.Struct(">Q")
# On top of the page's seconds: whoever asked gives it up first. This is for when he is gone.
_SLACK_SECONDS = 5.0
_FIRST = (
    b"<html lang=pl><body><article><p>Strona, na kt\xf3rej nie ma nic, "
    b"pr\xf3cz kilku s\xb3\xf3w.</p></article></body></html>"
)


def main(seconds: float, megabytes: int, names_model: str | None = None) -> None:
    """Answer until stdin ends.

    Args:
        seconds: of one page.
        megabytes: that a page may take, on top of what is loaded before the first.
        names_model: the folder of a model of names, which is loaded then, too.

    Raises:
        ConfigInvalid: that model can't be loaded.
    """
    # Answers go where stdout was; whatever a library prints does not get among them.
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    logging.disable()
    read_html(_FIRST, url="http://localhost/", content_type=None)  # loads what is loaded late
    if names_model is not None:
        names_of(Path(names_model))
    gc.freeze()
    limit = _memory() + megabytes * 1024**2
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    _tell(out, b"=", b"")
    while request := _next(sys.stdin.buffer):
        signal.setitimer(signal.ITIMER_REAL, seconds + _SLACK_SECONDS)
        mark, answer = _answer(request)
        signal.setitimer(signal.ITIMER_REAL, 0)
        _tell(out, mark, answer)


def _answer(request: bytes) -> tuple[bytes, bytes]:
    try:
        work, arguments = pickle.loads(request)
        found: Record = work(*arguments)
        return b"=", found.model_dump_json().encode()
    except Exception as error:  # noqa: BLE001  # a page breaks its reading in any way; it is told what it was
        fault = getattr(error, "fault", None)
        told = str(error) if fault is not None or _ours(error) else f"{type(error).__name__}: {error}"
        if isinstance(error, MemoryError):
            told = "it takes more memory than a page may"
        return b"!", json.dumps({"message": told, "fault": fault}).encode()


def _ours(error: Exception) -> bool:
    return type(error).__module__.startswith(("models.", "actors."))


def _memory() -> int:
    """Bytes of address space that this process has by now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    return pages * resource.getpagesize()


def _next(source: BinaryIO) -> bytes | None:
    """The next request; None where there will be no more."""
    header = source.read(_LENGTH.size)
    if len(header) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(header)
    request = source.read(length)
    return request if len(request) == length else None


def _tell(out: BinaryIO, mark: bytes, answer: bytes) -> None:
    try:
        out.write(mark + _LENGTH.pack(len(answer)) + answer)
        out.flush()
    except BrokenPipeError:  # whoever asked is gone
        os._exit(0)
