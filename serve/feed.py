"""The feed: a person's events as they come, from wherever they stood last.

One per replica, made in the app's lifespan; the streams of `serve.routes.events` follow it. While anyone
does, one task looks for new events and wakes the followers, who go on reading from their own position.
There is no queue: who is slow, away, or on another replica next time reads later, and misses nothing.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from datetime import UTC, datetime

from pydantic import BaseModel, ConfigDict

from models.errors import DatabaseUnavailable
from models.events import Event
from models.scopes import Scope
from models.store import events
from models.store.database import GONE, Database

ScopesNow = Callable[[], Awaitable[Sequence[Scope]]]

_PAGE = 500
_RIGHTS_CHANGED = ("scope.revoked", "scope.restored")


class Mark(BaseModel):
    """Nothing to tell up to the event `after`: whoever comes back goes on from there. Also the heartbeat."""

    model_config = ConfigDict(frozen=True, extra="forbid")

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
        # The page that the watcher read last, and by position what follows it there.
        self._latest: list[Event] = []
        self._places: dict[int, int] = {}
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
    ) -> AsyncGenerator[Event | Mark, None]:
        """What `person` may see of what happens after the event `after`, until `until`.

        Close it (`contextlib.aclosing`) when done.

        Args:
            after: the last event told; None: from now on.
            scopes_now: what the person has at the moment; asked again and again.
            types: only events of these types; all where empty.

        Raises:
            DatabaseUnavailable: Postgres stayed away for longer than `patience_seconds`.
        """
        rights = _Rights(person, scopes_now, self._scopes_seconds)
        position: int | None = None
        passed, told = 0, float("-inf")
        with self._following():
            while not self._is_over(until):
                turn, page, away = self._turn, list[Event](), False
                try:
                    if position is None:
                        position = await self._begin(after)
                    page = await self._next_page(position, workflow_id)
                    for event in page:
                        visible = await rights.show(event) and (not types or event.type in types)
                        if self._is_over(until):
                            return
                        position, passed = event.id, passed + 1
                        if visible:
                            yield event
                            passed, told = 0, time.monotonic()
                except GONE:
                    away = True
                quiet = self._heartbeat_seconds - (time.monotonic() - told)
                if position is not None and (passed >= _PAGE or quiet <= 0):
                    yield Mark(after=position)
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

    async def _next_page(self, position: int, workflow_id: str | None) -> list[Event]:
        """What comes after a position; for those who stand in the watcher's last page, from there.

        So many followers cost one query.
        """
        if workflow_id is None and position in self._places:
            return self._latest[self._places[position] :]
        return await self._read(position, workflow_id)

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
        self._latest, self._places = [], {}
        position: int | None = None
        reached = time.monotonic()
        try:
            while self.followers:
                page: list[Event] = []
                try:
                    if position is None:
                        position = await self._begin(None)
                        # What came before this, and after a follower's first read, is for them to read.
                        self._wake()
                    page = await self._read(position)
                    reached = time.monotonic()
                except GONE as error:
                    if time.monotonic() - reached > self._patience_seconds:
                        raise DatabaseUnavailable(f"Postgres stayed away: {error}") from error
                if page and position is not None:
                    self._places = {position: 0, **{event.id: n for n, event in enumerate(page, 1)}}
                    self._latest, position = page, page[-1].id
                    self._wake()
                if len(page) < _PAGE:
                    await asyncio.sleep(self._look_seconds)
        finally:
            self._wake()

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
