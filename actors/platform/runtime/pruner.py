"""The pruner: deletes what is kept no longer, in small steps with rests between them.

Before that it gives events their place and counts what happened, in case nobody reads and nobody scrapes.

It runs in the dispatcher's process. Of all that run, on any node, one at a time sweeps; it keeps nothing
that matters, and the next sweep begins anew wherever one was cut off.
"""

import asyncio
import contextlib
import logging
from collections import Counter
from collections.abc import Awaitable, Callable

from models.config import RetentionConfig
from models.store import events
from models.store.database import GONE, Connection, Database
from models.store.people import tool_calls
from models.store.upkeep import observations, retention
from models.store.upkeep.retention import START, Step, Walked

_log = logging.getLogger("signoff.pruner")
# A workflow's documents, or a conversation's messages, are about so many.
_ROWS_OF_ONE = 20


class Pruner:
    """Sweeps every `every_seconds` until `stop`. `run` must be awaited once."""

    def __init__(self, *, settings: RetentionConfig, database: Database) -> None:
        self._settings = settings
        self._database = database
        self._stopping = asyncio.Event()

    async def run(self) -> None:
        """Sweep again and again."""
        while not self._stopping.is_set():
            try:
                if gone := await self.sweep():
                    _log.info("pruned %s", ", ".join(f"{count} {name}" for name, count in gone.items()))
            except GONE as error:
                _log.warning("pruning goes on later: %s", error)
            except Exception:  # noqa: BLE001  # one bad row, say: webhooks are sent from this process, too
                _log.exception("pruning goes on later")
            await self._rest(self._settings.every_seconds)

    def stop(self) -> None:
        """End after the present step."""
        self._stopping.set()

    async def sweep(self) -> dict[str, int] | None:
        """Go over everything once: rows deleted by table; None where somebody else is at it.

        The lock is this connection's, so whoever loses it prunes no further.
        """
        async with self._database.connection() as connection:
            if not await retention.lock(connection):
                return None
            try:
                return await self._swept(connection)
            finally:
                with contextlib.suppress(*GONE):
                    await retention.unlock(connection)

    async def _swept(self, connection: Connection) -> dict[str, int]:
        keep, rows = self._settings, self._settings.step_rows
        few = max(1, rows // _ROWS_OF_ONE)
        await self._settle(lambda: events.move(connection, limit=rows))
        await self._settle(lambda: tool_calls.add(connection, tool_calls.BOUNDS, limit=rows))
        await self._settle(lambda: observations.add(connection, limit=rows))
        gone: Counter[str] = Counter()
        walked: dict[Walked, float] = {
            "events": keep.events_days,
            "tool_calls": keep.tool_calls_days,
            "model_calls": keep.model_calls_days,
        }
        for table, days in walked.items():
            gone[table] = await self._walk(
                # Bound now, and not when it is called; mypy can't infer such a lambda.
                lambda after, table=table, days=days: retention.walk(  # type: ignore[misc]
                    connection, table, days=days, after=after, limit=rows
                )
            )
        gone["documents"] = await self._walk(
            lambda after: retention.walk_documents(
                connection, days=keep.documents_days, after=after, limit=few
            )
        )
        gone["deliveries"] = await self._take(
            lambda: retention.take_deliveries(connection, days=keep.deliveries_days, limit=rows)
        )
        if not isinstance(days_of_conversations := keep.conversations_days, str):
            gone["conversations"] = await self._take(
                lambda: retention.take_conversations(connection, days=days_of_conversations, limit=few)
            )
        gone["rate_limits"] = await self._take(lambda: retention.take_rate_limits(connection, limit=rows))
        return {name: count for name, count in gone.items() if count}

    async def _settle(self, step: Callable[[], Awaitable[int]]) -> None:
        """Until a step does less than it could: what comes meanwhile may come without end."""
        while not self._stopping.is_set() and await step() >= self._settings.step_rows:
            await self._rest(self._settings.pause_seconds)

    async def _walk(self, step: Callable[[retention.WalkPosition], Awaitable[Step]]) -> int:
        gone, place = 0, START
        while not self._stopping.is_set():
            done = await step(place)
            gone += done.gone
            if done.next is None:
                break
            place = done.next
            await self._rest(self._settings.pause_seconds)
        return gone

    async def _take(self, step: Callable[[], Awaitable[int]]) -> int:
        gone = 0
        while not self._stopping.is_set() and (done := await step()):
            gone += done
            await self._rest(self._settings.pause_seconds)
        return gone

    async def _rest(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stopping.wait()
