"""What a line of the log is told with: the request, the workflow and the person that work is done for.

They go from process to process with the calls of agents (`actors.platform.runtime.directory`); a workflow's
own come from its row. `actors.platform.logs` puts them into lines. They are ids alone, never what anybody
says.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from models.record import Record


class LogIds(Record):
    """The ids; what is not known is absent. `user_id` is the subject of the person's token."""

    request_id: str | None = None
    workflow_id: str | None = None
    user_id: str | None = None


_NONE = LogIds()
_current: ContextVar[LogIds] = ContextVar("log_ids", default=_NONE)


def current() -> LogIds:
    """The ids of what is done now."""
    return _current.get()


def take(ids: LogIds) -> None:
    """From here on, this task works under those ids."""
    _current.set(ids)


def is_for(person: str) -> None:
    """From here on, this task works for that person."""
    _current.set(_current.get().model_copy(update={"user_id": person}))


@contextmanager
def within(ids: LogIds) -> Iterator[None]:
    """What is done inside is done under those ids."""
    before = _current.set(ids)
    try:
        yield
    finally:
        _current.reset(before)
