"""The class of an agent's actor: the plain class, whose process logs, and whose verbs are told whom for.

`actors.platform.runtime.directory` makes it of the plain class; neither that class nor the calls of its verbs
know of it. It is pickled by value, under the plain class's name, which is what Ray shows.
"""

import functools
import inspect
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from types import FunctionType
from typing import Any, TypeAlias

from actors.platform import logs, sending
from models import log_ids
from models.log_ids import LogIds
from models.runtime.workflows import ClaimMark

# What a call of a verb carries besides its arguments: whom for, and under which claim.
IDS, CLAIM = "log_ids", "claim"
Ids: TypeAlias = LogIds | None
Mark: TypeAlias = ClaimMark | None
_log = logging.getLogger(__name__)


def agent_class(plain: type, *, role: str, style: logs.LogStyle, database_url: str | None = None) -> type:
    """The class that Ray makes an actor of.

    Args:
        style: how its process logs: `monitoring.logs`.
        database_url: where its process looks whether a claim stands that it sends something under.
    """

    own: Callable[..., None] = plain.__init__  # type: ignore[misc]  # of this very class

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        logs.begin(style, process=f"agent {role}")
        own(self, *args, **kwargs)

    verbs = {
        name: _told_whom_for(verb, _Called(role, verb.__name__, database_url))
        for name, verb in inspect.getmembers(plain, inspect.isfunction)
        if not name.startswith("_") and isinstance(inspect.getattr_static(plain, name), FunctionType)
    }
    named = {"__module__": plain.__module__, "__qualname__": plain.__qualname__, "__doc__": plain.__doc__}
    return type(
        plain.__name__, (plain,), {**named, **verbs, "__init__": _like(own, __init__, inspect.signature(own))}
    )


def _told_whom_for(verb: Callable[..., Any], called: "_Called") -> Callable[..., Any]:
    """The verb, which takes the ids and the claim of the call too, and logs how long it took."""
    made: Callable[..., Any]
    if inspect.isasyncgenfunction(verb):

        async def stream(
            *args: Any, log_ids: Ids = None, claim: Mark = None, **kwargs: Any
        ) -> AsyncIterator[Any]:
            with called.by(log_ids, claim):
                async with aclosing(verb(*args, **kwargs)) as pieces:
                    async for piece in pieces:
                        yield piece

        made = stream
    elif inspect.iscoroutinefunction(verb):

        async def answer(*args: Any, log_ids: Ids = None, claim: Mark = None, **kwargs: Any) -> Any:
            with called.by(log_ids, claim):
                return await verb(*args, **kwargs)

        made = answer
    else:

        def work(*args: Any, log_ids: Ids = None, claim: Mark = None, **kwargs: Any) -> Any:
            with called.by(log_ids, claim):
                return verb(*args, **kwargs)

        made = work
    return _like(verb, made, _signature(verb))


def _like(
    of: Callable[..., Any], made: Callable[..., Any], signature: inspect.Signature
) -> Callable[..., Any]:
    """`made` under the name of what it stands for. Ray refuses arguments that the signature has not."""
    made = functools.update_wrapper(made, of)
    del made.__wrapped__  # there, Ray would look
    made.__signature__ = signature  # type: ignore[attr-defined]  # PEP 362
    return made


def _signature(verb: Callable[..., Any]) -> inspect.Signature:
    of = inspect.signature(verb)
    parameters = list(of.parameters.values())
    place = len(parameters)
    if parameters and parameters[-1].kind is inspect.Parameter.VAR_KEYWORD:
        place -= 1
    parameters[place:place] = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in (IDS, CLAIM)
    ]
    return of.replace(parameters=parameters)


@dataclass(frozen=True)
class _Called:
    """A verb of an agent."""

    role: str
    verb: str
    database_url: str | None

    @contextmanager
    def by(self, ids: Ids, claim: Mark) -> Iterator[None]:
        """A call of it."""
        if ids is None:
            # The agent's own, or of the last release.
            yield
            return
        # Not reset: each call is a task of its own, and a stream may be closed in another.
        log_ids.take(ids)
        sending.take(sending.Sender(claim=claim, database_url=self.database_url))
        facts: dict[str, str | float] = {"agent": self.role, "verb": self.verb}
        begun = time.monotonic()
        try:
            yield
        except BaseException as error:
            facts["error"] = type(error).__name__
            raise
        finally:
            facts["seconds"] = round(time.monotonic() - begun, 3)
            _log.info("called", extra=facts)
