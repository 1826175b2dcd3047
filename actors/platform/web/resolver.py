"""Finds the addresses of a host, by the system's resolver: one for all clients of a process.

Called by the URL guard. The system's call can't be broken off: a name whose servers don't answer holds its
thread for half a minute, whoever has given up. So each look-up has a thread of its own, apart from those
that other work waits for, and there is one look-up of a name at a time.
"""

import asyncio
import socket
import threading
from concurrent.futures import Future
from functools import cache

import httpx2

_MOST = 256


class NotLookedUp(httpx2.ConnectError):
    """A look-up that could not be begun: that lies with this process, and says nothing of the host."""


class SystemResolver:
    """The system's resolver, for callers in any event loop.

    Args:
        most: names under way at once; a thread is there only while its name is looked up.
    """

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._under_way: dict[str, Future[list[str]]] = {}

    async def __call__(self, host: str) -> list[str]:
        """The addresses of a host. Whoever gives up leaves the look-up to the others that wait for it.

        Raises:
            NotLookedUp: too many other names are under way, or there is no thread to be had.
            OSError: it has none.
        """
        # Under way it counts as running, so that no caller's end can cancel it.
        return await asyncio.wrap_future(self._look_up(host.lower()))

    def _look_up(self, host: str) -> Future[list[str]]:
        with self._lock:
            if under_way := self._under_way.get(host):
                return under_way
            if (others := len(self._under_way)) >= self._most:
                raise NotLookedUp(
                    f"{host} can't be looked up now: {others} other names are under way; try again later"
                )
            begun: Future[list[str]] = Future()
            begun.set_running_or_notify_cancel()
            # Not joined when the process ends: nobody waits for an answer then.
            thread = threading.Thread(target=self._ask, args=(host, begun), name="resolver", daemon=True)
            try:
                thread.start()
            except RuntimeError as error:
                raise NotLookedUp(f"{host} can't be looked up now: {error}; try again later") from error
            self._under_way[host] = begun
            return begun

    def _ask(self, host: str, begun: Future[list[str]]) -> None:
        found: list[str] = []
        fault: BaseException | None = None
        try:
            entries = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
            found = [str(entry[4][0]) for entry in entries]
        except BaseException as error:  # noqa: BLE001  # it is told to those who wait
            fault = error
        # First this: whoever comes when it is told asks anew.
        with self._lock:
            del self._under_way[host]
        if fault is None:
            begun.set_result(found)
        else:
            begun.set_exception(fault)


@cache
def system_resolver() -> SystemResolver:
    """The one of this process."""
    return SystemResolver()
