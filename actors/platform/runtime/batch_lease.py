"""A batch's lease: it lives while its driver does, and ends with it at once.

Drivers of batches hold one, and calls that work for as long as a batch. What is done under a lease is done by
nobody else meanwhile; what was left undone when it ended, whoever comes next may do.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from models.error_lines import error_line
from models.store.database import GONE, Database, is_gone
from models.store.runtime import batches

_log = logging.getLogger("signoff.batch")
_SAY_AGAIN_SECONDS = 5.0
_MOMENT_SECONDS = 0.05


@asynccontextmanager
async def batch_lease(*, database: Database, requested_by: str, lease_seconds: float) -> AsyncIterator[str]:
    """The id of a batch whose lease lives as long as the block.

    The block ends with the error when the renewing fails: nobody works under what nobody renews.
    """
    batch_id = await batches.begin(database, requested_by=requested_by, lease_seconds=lease_seconds)

    async def renew() -> None:
        await batches.renew(database, batch_id=batch_id, lease_seconds=lease_seconds)

    try:
        async with asyncio.TaskGroup() as group:
            renewing = group.create_task(
                again_and_again(renew, every=lease_seconds / 4, to="renew the batch's lease")
            )
            yield batch_id
            renewing.cancel()
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from failed
    finally:
        with contextlib.suppress(*GONE):  # while Postgres is away, the lease runs out by itself
            await batches.end(database, batch_id=batch_id)


async def again_and_again(
    act: Callable[[], Awaitable[None]], *, every: float, to: str, wake: asyncio.Event | None = None
) -> None:
    """Act until cancelled. While Postgres can't, that is said at growing intervals, and so is its return.

    Args:
        every: seconds between two times, at most; less where `wake` is set meanwhile.
    """
    wake = wake or asyncio.Event()
    since: float | None = None
    say_again = 0.0
    while True:
        try:
            await act()
        except GONE as error:
            if not is_gone(error):  # refused for what is in it
                raise
            now = time.monotonic()
            since = now if since is None else since
            if now >= say_again:
                reason = error_line(error)
                _log.warning("can't %s since %.0f s, and goes on trying: %s", to, now - since, reason)
                say_again = now + max(_SAY_AGAIN_SECONDS, now - since)
        else:
            if since is not None:
                _log.warning("could %s again after %.0f s", to, time.monotonic() - since)
            since, say_again = None, 0.0
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(every):
                await wake.wait()
                wake.clear()
                # Many who wake it within a moment wake it once.
                await asyncio.sleep(_MOMENT_SECONDS)
