"""How long requests wait for their answers to begin, by route: ASGI middleware around the whole app.

A replica adds up its own in memory and writes them to Postgres every few seconds, where the counts of all
replicas are one: a replica that is killed loses seconds of them, and no count ever shrinks. A route is told
by its pattern (`/api/articles/{id}`), never by the path that was asked for: nobody makes up labels by asking.
"""

import asyncio
import contextlib
import time
from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from models.monitoring import Observed
from models.store.database import GONE, Database
from models.store.upkeep import observations
from models.store.upkeep.observations import BOUNDS

_EVERY_SECONDS = 5.0
_MEASURE = "request"
_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))
# Of what no route was found for, or what was refused before any was looked for.
_NO_ROUTE = "none"

# Method, route and status, and the upper end of the bucket.
_Place = tuple[tuple[str, str, str], float]


@dataclass
class _Seen:
    times: int = 0
    seconds: float = 0.0


class RequestTimes:
    """What one replica has seen and not written yet."""

    def __init__(self) -> None:
        self._seen: defaultdict[_Place, _Seen] = defaultdict(_Seen)

    def note(self, *, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request; `status` is of HTTP."""
        labels = (method if method in _METHODS else "other", route, f"{status // 100}xx")
        bounds = (*BOUNDS[_MEASURE], float("inf"))
        self._add((labels, bounds[bisect_left(BOUNDS[_MEASURE], seconds)]), 1, seconds)

    def take(self) -> list[Observed]:
        """What is not written yet; it is whoever's that takes it."""
        seen, self._seen = self._seen, defaultdict(_Seen)
        return [
            Observed(measure=_MEASURE, labels=labels, value=up_to, times=each.times, total=each.seconds)
            for (labels, up_to), each in seen.items()
        ]

    async def write(self, database: Database) -> None:
        """Write it to Postgres. Where that fails it is kept for the next time."""
        if not (taken := self.take()):
            return
        try:
            async with database.connection() as connection:
                await observations.put(connection, taken)
        except BaseException:
            for each in taken:
                method, route, status = each.labels
                self._add(((method, route, status), each.value), each.times, each.total)
            raise

    async def keep_writing(self, database: Database) -> None:
        """Write every few seconds, until cancelled; then once more."""
        try:
            while True:
                await asyncio.sleep(_EVERY_SECONDS)
                with contextlib.suppress(*GONE):
                    await self.write(database)
        finally:
            with contextlib.suppress(*GONE):
                await self.write(database)

    def _add(self, place: _Place, times: int, seconds: float) -> None:
        self._seen[place].times += times
        self._seen[place].seconds += seconds


class Timed:
    """The middleware. A request whose reader leaves before an answer begins is not counted."""

    def __init__(self, app: ASGIApp, times: RequestTimes) -> None:
        self._app = app
        self._times = times

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and count it as its answer begins."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun, answered = time.monotonic(), False

        def note(status: int) -> None:
            nonlocal answered
            answered = True
            seconds = time.monotonic() - begun
            self._times.note(method=scope["method"], route=route_of(scope), status=status, seconds=seconds)

        async def told(message: Message) -> None:
            if message["type"] == "http.response.start":
                note(message["status"])
            await send(message)

        try:
            await self._app(scope, receive, told)
        except Exception:
            # Starlette answers 500 outside of all middleware.
            if not answered:
                note(500)
            raise


def route_of(scope: Scope) -> str:
    """The pattern of the route that a request has found, once it is on its way; `none` before."""
    route = scope.get("route")
    return str(getattr(route, "path", _NO_ROUTE))
