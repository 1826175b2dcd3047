"""Items of an iterator that blocks, for an event loop that must be able to end without it.

`asyncio.to_thread(next, …)` can't be cancelled, and `asyncio.run` waits for it: a batch that is told to stop
would go on until its next row, and be killed before it has said anything.
"""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any, TypeVar

T = TypeVar("T")
_END = object()


async def thread_items(items: Callable[[], Iterable[T]], *, ahead: int = 2) -> AsyncIterator[T]:
    """What comes of `items()`, which is called and iterated in a daemon thread; at most `ahead` wait here.

    Left before the end, the thread is left behind, and takes nothing more once it has its next item.
    """
    loop = asyncio.get_running_loop()
    came: asyncio.Queue[tuple[Any, BaseException | None]] = asyncio.Queue()
    room = threading.Semaphore(ahead)
    left = threading.Event()

    def put(item: Any, error: BaseException | None = None) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(came.put_nowait, (item, error))

    def take() -> None:
        try:
            for item in items():
                room.acquire()
                if left.is_set():
                    return
                put(item)
        except BaseException as error:  # noqa: BLE001  # it is raised where the items are taken
            put(_END, error)
        else:
            put(_END)

    threading.Thread(target=take, name="rows", daemon=True).start()
    try:
        while True:
            item, error = await came.get()
            if error is not None:
                raise error
            if item is _END:
                return
            room.release()
            yield item
    finally:
        left.set()
        room.release()
