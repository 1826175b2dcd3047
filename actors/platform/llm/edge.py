"""The edge to an endpoint that speaks OpenAI's API: what goes wrong there, told apart and named.

An outage is the site's or the service's: nobody answers, 408, 429, 5xx, a wrong key or path, no such model
(401, 403, 404: asking again changes nothing, but it is no topic's fault), a reply that is not of this API.
A failure is the request's own: 400, 413, 422 and the like, and twice no answer in time where others got
theirs: once may be an endpoint that began to hang while many were under way.
"""

import contextlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from actors.platform.llm.breaker import Attempt, Breaker, BreakerOpen
from models.error_lines import error_line
from models.errors import SignoffError
from models.retry_after import retry_after

if TYPE_CHECKING:
    import openai

# What the endpoint holds against this one request: it may answer the next.
_OF_THE_REQUEST = frozenset({400, 413, 414, 422, 431})
# Of what went wrong, beside who asked and the remedy.
_WHAT = 170
# A pause that an endpoint asks for, at most; in seconds.
_LONGEST_WAIT = 24 * 3600.0
# What may pass by itself, at once; the OpenAI package's own choice.
_PASSING = frozenset({408, 409, 429})


class NotOfThisApi(Exception):
    """A reply came that is not of this API: a login page, another service's answer."""


class BrokenOff(Exception):
    """A reply ended before it was whole."""


class EdgeFault(Exception):
    """A call failed. `error` is what it comes to in the end; `passing`: another try may help.

    `retry_after_seconds` is the pause that the endpoint asked for.
    """

    def __init__(self, error: SignoffError, *, passing: bool, retry_after_seconds: float | None) -> None:
        super().__init__(str(error))
        self.error = error
        self.passing = passing
        self.retry_after_seconds = retry_after_seconds


@dataclass(frozen=True)
class FaultNames:
    """What the faults of an endpoint are called: `away` is an outage, the others are failures."""

    away: type[SignoffError]
    refused: type[SignoffError]
    timed_out: type[SignoffError]


class Edge:
    """One client's edge; the breaker is shared by all clients of the endpoint.

    Args:
        waits_for: the short name of what parked work waits for.
        explain: what went wrong, as a whole message that names who asked and the remedy.
        timeout: how no answer in time is told; it names the setting.
    """

    def __init__(
        self,
        *,
        waits_for: str,
        names: FaultNames,
        breaker: Breaker,
        explain: Callable[[str], str],
        timeout: str,
    ) -> None:
        self._waits_for = waits_for
        self._names = names
        self._breaker = breaker
        self._explain = explain
        self._timeout = timeout

    @contextlib.contextmanager
    def call(self, request: str) -> Iterator[Callable[[], None]]:
        """One call, whole; what it yields may be called as soon as the endpoint has begun to answer.

        Args:
            request: tells this request from others, however often it is tried.

        Raises:
            EdgeFault, for whatever goes wrong inside.
        """
        import openai

        started = self._breaker.now()
        attempt = self._enter()
        try:
            yield attempt.answered
        except (openai.APITimeoutError, TimeoutError) as error:
            # Others got their answers meanwhile, and so they did the last time; or this one was on its way.
            others = self._breaker.answered_since(started)
            alone = attempt.begun or (others and self._breaker.late_before(request))
            attempt.silent(request)
            fault = self._failure(self._names.timed_out, self._timeout) if alone else self.away(self._timeout)
            raise EdgeFault(fault, passing=True, retry_after_seconds=None) from error
        except openai.APIStatusError as error:
            raise self._status_fault(attempt, error) from error
        except (openai.OpenAIError, BrokenOff) as error:
            # No connection, or the endpoint broke off a stream and perhaps said why in it.
            attempt.failed()
            raise EdgeFault(self.away(_words(error)), passing=True, retry_after_seconds=None) from error
        except (NotOfThisApi, json.JSONDecodeError, UnicodeDecodeError) as error:
            attempt.failed()
            what = str(error) if isinstance(error, NotOfThisApi) else f"the reply is not JSON: {error}"
            raise EdgeFault(self.away(what), passing=False, retry_after_seconds=None) from error
        else:
            attempt.answered()
            self._breaker.forget(request)
        finally:
            attempt.left()

    def away(
        self, what: str, *, retry_after: float | None = None, since: datetime | None = None
    ) -> SignoffError:
        """The outage, with what is known of it."""
        pauses = [each for each in (retry_after, self._breaker.retry_after_seconds) if each is not None]
        retry_after, since = max(pauses, default=None), since or self._breaker.since
        facts: dict[str, object] = {"waits_for": self._waits_for}
        if retry_after is not None:
            facts["retry_after_seconds"] = round(retry_after, 1)
        if since is not None:
            facts["away_since"] = since.isoformat(timespec="seconds")
        return self._names.away(error_line(self._explain(error_line(what, _WHAT))), **facts)

    def _enter(self) -> Attempt:
        try:
            return self._breaker.enter()
        except BreakerOpen as error:
            what = f"it is away since {error.since:%H:%M:%S} UTC and is not asked for now"
            away = self.away(what, retry_after=error.retry_after_seconds, since=error.since)
            raise EdgeFault(away, passing=False, retry_after_seconds=error.retry_after_seconds) from None

    def _status_fault(self, attempt: Attempt, error: "openai.APIStatusError") -> EdgeFault:
        status, what = (
            error.status_code,
            f"Error code: {error.status_code} - {error_line(_words(error), _WHAT)}",
        )
        if status in _OF_THE_REQUEST:
            attempt.answered()
            refused = self._failure(self._names.refused, what)
            return EdgeFault(refused, passing=False, retry_after_seconds=None)
        pause = retry_after(error.response.headers.get("retry-after"), longest=_LONGEST_WAIT)
        attempt.failed(pause)
        away = self.away(what, retry_after=pause)
        return EdgeFault(away, passing=status in _PASSING or status >= 500, retry_after_seconds=pause)

    def _failure(self, name: type[SignoffError], what: str) -> SignoffError:
        return name(error_line(self._explain(error_line(what, _WHAT))))


def address_of(url: str) -> str:
    """An address to show: without the user and password that it may hold."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _words(error: Exception) -> str:
    """What an endpoint said, or why nothing could be asked."""
    import openai

    if isinstance(error, openai.APIConnectionError) and error.__cause__ is not None:
        return f"{error} ({error_line(error.__cause__)})"
    body = getattr(error, "body", None)
    message = body.get("message") if isinstance(body, dict) else None
    return message if isinstance(message, str) and message.strip() else str(error) or type(error).__name__
