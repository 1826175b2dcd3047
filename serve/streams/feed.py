"""The feed: a person's events as they come, from wherever they stood last.

One per replica, made in the app's lifespan; the streams of `serve.routes.events` follow it. While anyone
does, one task looks for new events and holds the latest, which all followers are handed from their own
position. Who comes from further back reads up to there for itself. Who then falls behind what is held is
ended, and goes on from where it stood when it comes back: nobody holds up another, or misses anything.
"""

import asyncio
import contextlib
import time
from bisect import bisect_right
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from datetime import UTC, datetime

from models.errors import DatabaseUnavailable, StreamTooSlow
from models.people.scopes import Scope
from models.record import Record
from models.runtime.event_catalogue import ScopeRestored, ScopeRevoked
from models.runtime.events import Event
from models.store import events
from models.store.database import GONE, Database

ScopesNow = Callable[[], Awaitable[Sequence[Scope]]]

_PAGE = 500
_HELD = 10_000
_RIGHTS_CHANGED = (ScopeRevoked.type, ScopeRestored.type)


class Position(Record):
    """Nothing to tell up to the event `after`: whoever comes back goes on from there. Also the heartbeat."""

    after: int


class Feed:
    """New events for any number of followers. Times are in seconds.

    `patience_seconds` is how long Postgres may stay away before streams end; `scopes_seconds` is how old a
    follower's scopes may be.
    """

    def __init__(
        self,
        database: Database,
        *,
        look_seconds: float = 0.3,
        heartbeat_seconds: float = 15.0,
        scopes_seconds: float = 5.0,
        patience_seconds: float = 300.0,
        held: int = _HELD,
    ) -> None:
        self._database = database
        self._look_seconds = look_seconds
        self._heartbeat_seconds = heartbeat_seconds
        self._scopes_seconds = scopes_seconds
        self._patience_seconds = patience_seconds
        self._watcher: asyncio.Task[None] | None = None
        self._closed = False
        # Set, and replaced, when there may be something new.
        self._turn = asyncio.Event()
        # The latest events: all after `_since` and up to `_reached`. None: the watcher has not begun.
        self._held, self._most_held = list[Event](), held
        self._since: int | None = None
        self._reached = 0
        self.followers = 0

    async def close(self) -> None:
        """End every stream, and the watching."""
        self._closed = True
        if self._watcher:
            self._watcher.cancel()
            await asyncio.wait([self._watcher])
        self._wake()

    async def follow(
        self,
        *,
        after: int | None,
        person: str,
        scopes_now: ScopesNow,
        types: frozenset[str] = frozenset(),
        workflow_id: str | None = None,
        until: datetime | None = None,
        judges: bool = True,
    ) -> AsyncGenerator[Event | Position, None]:
        """What `person` may see of what happens after the event `after`, until `until`.

        Close it (`contextlib.aclosing`) when done.

        Args:
            after: the last event told; None: from now on.
            scopes_now: what the person has at the moment; asked again and again.
            types: only events of these types; all where empty.
            judges: whether it is judged here what the person may see. False: every event is handed on, whole,
                and whoever asks shows of it what the person may see.

        Raises:
            DatabaseUnavailable: Postgres stayed away for longer than `patience_seconds`.
            StreamTooSlow: more events came than are held while the follower took none.
        """
        rights = _Rights(person, scopes_now, self._scopes_seconds)
        position: int | None = None
        passed, told, live = 0, float("-inf"), False
        with self._following():
            while not self._is_over(until):
                turn, page, away = self._turn, list[Event](), False
                try:
                    if position is None:
                        position = await self._begin(after)
                    page, end, live = await self._next_page(position, workflow_id, live=live)
                    for event in page:
                        # Those of other workflows are passed without a look at who may see them.
                        mine = workflow_id in (None, event.workflow_id)
                        mine = mine and (not types or event.type in types)
                        visible = mine and (not judges or await rights.show(event))
                        if self._is_over(until):
                            return
                        position, passed = event.id, passed + 1
                        if visible:
                            yield rights.told(event) if judges else event
                            passed, told = 0, time.monotonic()
                    position = max(position, end)
                except GONE:
                    away = True
                quiet = self._heartbeat_seconds - (time.monotonic() - told)
                if position is not None and (passed >= _PAGE or quiet <= 0):
                    yield Position(after=position)
                    passed, told, quiet = 0, time.monotonic(), self._heartbeat_seconds
                if away or len(page) < _PAGE:
                    await self._rest(turn, self._look_seconds if away else quiet, until)

    async def _begin(self, after: int | None) -> int:
        async with self._database.connection() as connection:
            return await events.begin(connection, after)

    async def _read(self, position: int, workflow_id: str | None = None) -> list[Event]:
        async with self._database.connection() as connection:
            wanted = None if workflow_id is None else [workflow_id]
            return await events.read(connection, after=position, limit=_PAGE, workflow_ids=wanted)

    async def _next_page(
        self, position: int, workflow_id: str | None, *, live: bool
    ) -> tuple[list[Event], int, bool]:
        """What comes after a position, how far that reaches at the least, and whether it was handed out.

        What is held is handed out, so any number of followers cost one query. Who has been handed events
        (`live`) and now stands before what is held is too slow.
        """
        if self._since is not None and position >= self._since:
            begin = bisect_right(self._held, position, key=lambda event: event.id)
            page = self._held[begin : begin + _PAGE]
            return page, position if len(page) == _PAGE else max(position, self._reached), True
        if live and self._since is not None:
            raise StreamTooSlow(
                f"more than {self._most_held} events came while none was taken: "
                f"connect again with Last-Event-ID {position}"
            )
        # What is held from here on goes on where this page ends, if it is the last.
        reached = self._reached if self._since is not None else position
        page = await self._read(position, workflow_id)
        return page, position if len(page) == _PAGE else max(position, reached), False

    def _is_over(self, until: datetime | None) -> bool:
        return self._closed or (until is not None and datetime.now(UTC) >= until)

    async def _rest(self, turn: asyncio.Event, seconds: float, until: datetime | None) -> None:
        """Wait for the turn, which was taken before the last read: nothing new since can be overlooked."""
        if until is not None:
            seconds = min(seconds, (until - datetime.now(UTC)).total_seconds())
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await turn.wait()
        if self._watcher and self._watcher.done() and not self._closed:
            self._watcher.result()  # what ended the watching ends the streams, and is seen

    @contextlib.contextmanager
    def _following(self) -> Iterator[None]:
        self.followers += 1
        if self._watcher is None or self._watcher.done():
            self._watcher = asyncio.create_task(self._watch())
        try:
            yield
        finally:
            self.followers -= 1

    async def _watch(self) -> None:
        """Read on and wake the followers, as long as there are any."""
        self._held, self._since = [], None
        reached = time.monotonic()
        try:
            while self.followers:
                page: list[Event] = []
                try:
                    if self._since is None:
                        self._since = self._reached = await self._begin(None)
                        # What came before this, and after a follower's first read, is for them to read.
                        self._wake()
                    page = await self._read(self._reached)
                    reached = time.monotonic()
                except GONE as error:
                    if time.monotonic() - reached > self._patience_seconds:
                        raise DatabaseUnavailable(f"Postgres stayed away: {error}") from error
                if page:
                    self._hold(page)
                    self._wake()
                if len(page) < _PAGE:
                    await asyncio.sleep(self._look_seconds)
        finally:
            self._since = None
            self._wake()

    def _hold(self, page: list[Event]) -> None:
        """Hold these, too; the oldest go."""
        self._held, self._reached = [*self._held, *page], page[-1].id
        if (over := len(self._held) - self._most_held) > 0:
            self._since = self._held[over - 1].id
            self._held = self._held[over:]

    def _wake(self) -> None:
        turn, self._turn = self._turn, asyncio.Event()
        turn.set()


class _Rights:
    """What a follower may see: asked again when it is old, and at the event that says it has changed."""

    def __init__(self, person: str, scopes_now: ScopesNow, seconds: float) -> None:
        self._person = person
        self._scopes_now = scopes_now
        self._seconds = seconds
        self._scopes: Sequence[Scope] = ()
        self._asked = float("-inf")

    async def show(self, event: Event) -> bool:
        """Whether the person may see it now."""
        changed = event.type in _RIGHTS_CHANGED and event.data.get("subject") == self._person
        if changed or time.monotonic() - self._asked > self._seconds:
            # The time before the question: what is answered may be as old as that.
            asked = time.monotonic()
            self._scopes, self._asked = await self._scopes_now(), asked
        return event.visible_to(self._person, self._scopes)

    def told(self, event: Event) -> Event:
        """An event that is shown, as much of it as the person may see."""
        return event.as_told_to(self._scopes)
