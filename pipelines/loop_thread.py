"""An event loop in a thread of its own, for the parts of a batch that Ray Data calls from threads."""

import asyncio
import queue
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, TypeVar

T = TypeVar("T")
_END = object()


class LoopThread:
    """Runs coroutines for whoever is in no event loop. It ends with its process."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="event loop", daemon=True).start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """What it comes to."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def each(self, items: Callable[[], AsyncIterator[T]], *, ahead: int) -> Iterator[T]:
        """What comes of an async iterator, as it comes; at most `ahead` wait to be taken."""
        waiting: queue.Queue[Any] = queue.Queue()
        room = asyncio.Semaphore(ahead)

        async def fill() -> None:
            try:
                async for item in items():
                    await room.acquire()
                    waiting.put(item)
            except BaseException as error:  # noqa: BLE001  # it is raised where the items are taken
                waiting.put((_END, error))
            else:
                waiting.put((_END, None))

        filling = asyncio.run_coroutine_threadsafe(fill(), self._loop)
        try:
            while True:
                item = waiting.get()
                if isinstance(item, tuple) and item and item[0] is _END:
                    if item[1] is not None:
                        raise item[1]
                    return
                self._loop.call_soon_threadsafe(room.release)
                yield item
        finally:
            filling.cancel()
