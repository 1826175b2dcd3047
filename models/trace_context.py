"""The trace that whatever is done now is part of, as W3C Trace Context writes it: what goes from process to
process, and through the rows of workflows.

Spans are made above (`actors.platform.tracing`); here it is only known what they would continue. Off: there
is none.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

# Version 00, the trace, the span, and flags: https://www.w3.org/TR/trace-context/#traceparent-header
_TRACEPARENT = re.compile(r"00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")
_current: ContextVar[str | None] = ContextVar("traceparent", default=None)


def current() -> str | None:
    """The `traceparent` of what is done now; None where nothing is traced."""
    return _current.get()


@contextmanager
def within(traceparent: str | None) -> Iterator[None]:
    """What is done inside is part of that trace."""
    before = _current.set(traceparent)
    try:
        yield
    finally:
        _current.reset(before)


def checked(traceparent: str | None) -> str | None:
    """A `traceparent` that somebody sent, where it is one."""
    return traceparent if traceparent is not None and _TRACEPARENT.fullmatch(traceparent) else None
