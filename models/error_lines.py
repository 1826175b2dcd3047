"""Errors in words for people: one line, without secrets, ANSI codes, control characters or traces.

Used wherever an error is shown or kept: workflows, summaries, status, problem details, the chat. The trace
goes to the log under a short id that the line names.
"""

import logging
import re
import secrets
import sys
import threading
import traceback

from models.errors import SignoffError
from models.redaction import redacted
from models.text import cut, printable, without_escapes

MOST = 300
# What is read of a text at most: a trace may have any length.
_MOST_READ = 100_000
_LINES = re.compile(r"[\r\n]+")
_TRACE = re.compile(r'^(?:Traceback \(most recent call last\):|[ \t]+File "[^"\n]*", line \d+)', re.MULTILINE)


def error_line(error: BaseException | str, most: int = MOST) -> str:
    """An error in one line of at most `most` characters: what an error of Signoff's says, or kind and words.

    Of a text with a trace in it, what the trace ends with; of any other, its first line.
    """
    error = _inmost(error)
    if isinstance(error, str):
        return _line(error, most)
    line = _line(str(error), most)
    if isinstance(error, SignoffError):
        return line or type(error).__name__
    return cut(f"{type(error).__name__}: {line}" if line else type(error).__name__, most)


def logged(error: BaseException, logger: logging.Logger, what: str = "") -> str:
    """The line for people. What was not raised on purpose goes to the log with its trace, under an id.

    Args:
        what: what failed, such as `workflow 3f…`; only the log says it.
    """
    line = error_line(error)
    told = f"{what}: {line}" if what else line
    if isinstance(error, SignoffError):
        logger.warning("%s", told)
        return line
    trace_id = secrets.token_hex(3)
    logger.error("%s (trace %s)", told, trace_id, exc_info=error)
    named = f" (trace {trace_id})"
    return cut(line, MOST - len(named)) + named


def trace_of(error: BaseException, logger: logging.Logger, what: str) -> str:
    """Log an error as `logged` does; the trace's id alone, for whoever is told nothing else of it."""
    return logged(error, logger, what).rpartition(" (trace ")[2].removesuffix(")")


def print_trace(_: object, error: BaseException, __: object) -> None:
    """For `sys.excepthook`: the trace of what nobody caught, without secrets."""
    sys.stderr.write(redacted("".join(traceback.format_exception(error))))


def print_thread_trace(what: threading.ExceptHookArgs) -> None:
    """For `threading.excepthook`: the same."""
    if what.exc_value is not None and not isinstance(what.exc_value, SystemExit):
        print_trace(what.exc_type, what.exc_value, what.exc_traceback)


def _inmost(error: BaseException | str) -> BaseException | str:
    """What Ray or a task group only carries."""
    for _ in range(10):
        if isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        elif isinstance(cause := getattr(error, "cause", None), Exception):
            error = cause
        else:
            break
    return error


def _line(text: str, most: int) -> str:
    read = text[-_MOST_READ:] if _TRACE.search(text[:_MOST_READ]) else text[:_MOST_READ]
    bare = without_escapes(redacted(read))
    lines = [line for line in _LINES.split(bare) if line.strip()]
    if not lines:
        return ""
    return cut(" ".join(printable(lines[-1] if _TRACE.search(bare) else lines[0]).split()), most)
