"""How a process logs: a line of JSON for each record, with the ids of the request, workflow and person.

Who owns a process begins: replicas of the API and of embeddings, runners, the dispatcher, agents, batches and
`signoff up`. All use `logging` as ever; structlog renders what it records (`ProcessorFormatter`). On a
terminal a line is for people.

A line holds no more of what people or models say than the record does: of `extra`, only `FACTS` are told, and
a trace shows no variables. No secret is in it (`models.redaction`).
"""

import logging
import sys
import threading
from collections.abc import Iterable
from typing import Literal

import structlog
from structlog.types import EventDict, Processor, WrappedLogger

from models import log_ids
from models.error_lines import print_thread_trace, print_trace
from models.redaction import redacted

LogStyle = Literal["auto", "json", "text"]
# What a record may carry besides its words. `request_id` is Ray Serve's, in its own lines.
FACTS = ("request_id", "agent", "verb", "method", "route", "status", "seconds", "error")
# Ours tell of what happens, and Ray where it logs with us; of other packages only warnings are logged.
_OURS = ("signoff", "actors", "cluster", "models", "pipelines", "serve")
# What this process logs with, once it has begun.
_HANDLERS: list[logging.Handler] = []


def begin(style: LogStyle, *, process: str, handlers: Iterable[logging.Handler] | None = None) -> None:
    """Log what this process does. Once: a second call changes nothing.

    Args:
        style: `monitoring.logs`; by `auto` a terminal gets text, and all else JSON.
        process: what it is, such as `runner` or `agent writer`.
        handlers: where lines go; absent: standard error.
    """
    if _HANDLERS:
        return
    # What can't be logged, on a full disk or a closed pipe, fails no work that it tells of.
    logging.raiseExceptions = False
    _HANDLERS.extend([logging.StreamHandler()] if handlers is None else handlers)
    as_text = style == "text" or (style == "auto" and handlers is None and sys.stderr.isatty())
    root = logging.getLogger()
    for handler in _HANDLERS:
        handler.setFormatter(formatter(process=process, as_text=as_text))
        handler.addFilter(_wanted)
        root.addHandler(handler)
    sys.excepthook = print_trace
    threading.excepthook = print_thread_trace
    for name in _OURS:
        logging.getLogger(name).setLevel(logging.INFO)


def _wanted(record: logging.LogRecord) -> bool:
    """Whatever level others set: `httpx2` tells the whole address of each request, and some hold a key."""
    return record.levelno >= logging.WARNING or record.name.partition(".")[0] in (*_OURS, "ray")


def formatter(*, process: str, as_text: bool) -> logging.Formatter:
    """What makes a line of a record: `timestamp` (ISO 8601, UTC), `level`, `logger`, `process`, `event` (its
    words), `exception` (the trace), the ids that are known, and `FACTS`."""
    told: list[Processor] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.stdlib.ExtraAdder(allow=FACTS),
    ]

    def with_ids(_: WrappedLogger, __: str, line: EventDict) -> EventDict:
        return {**line, "process": process, **log_ids.current().model_dump(exclude_none=True)}

    def without_secrets(_: WrappedLogger, __: str, line: EventDict) -> EventDict:
        # What is neither text nor figure would be written out by the renderer, after this.
        return {
            name: told if isinstance(told, bool | int | float | None) else redacted(str(told))
            for name, told in line.items()
        }

    plain = structlog.dev.plain_traceback  # the other one shows the values of variables
    render: list[Processor] = [
        structlog.processors.format_exc_info,
        without_secrets,
        structlog.dev.ConsoleRenderer(exception_formatter=plain)
        if as_text
        else structlog.processors.JSONRenderer(),
    ]
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[*told, with_ids],
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *render],
    )
