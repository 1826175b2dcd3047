"""One page's way out through the proxy: the credential that it is known by, and the bounds of what it takes.

The proxy makes one for each page of its browser; the browser reads there where the guard refused to go.
"""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from models.knowledge.reach import PageReach

# Whether a page may ask for an address, for itself or for a part of its own.
AllowPart = Callable[[str], Awaitable[bool]]

_MOST_NOTED = 100


class OverBounds(Exception):
    """A page took more than it may."""


class PageEgress:
    """One page's way out: its credential, where it leads, what it may take, and what became of it.

    `refused` and `failed` say by `host:port` where the guard refused to go, and where nobody answered; they
    hold the first hundred. `refusals` counts requests. Times are in seconds, sizes in bytes.
    """

    def __init__(
        self, *, max_bytes: int, connections: int, allow: AllowPart | None, reach: PageReach | None = None
    ) -> None:
        self.user = secrets.token_hex(8)
        self.password = secrets.token_urlsafe(24)
        self.allow = allow
        self.reach = reach
        self.refused: dict[str, str] = {}
        self.failed: dict[str, str] = {}
        self.refusals = 0
        self.bytes = 0
        self.most_open = connections
        self._max_bytes = max_bytes
        self._open: set[asyncio.Task[None]] = set()

    @property
    def over(self) -> bool:
        """Whether the page took more than it may."""
        return self.bytes > self._max_bytes

    def took(self, data: bytes) -> None:
        """Count what came or went. OverBounds where that is too much."""
        self.bytes += len(data)
        if self.over:
            raise OverBounds

    def note(self, kept: dict[str, str], where: str, why: str) -> None:
        """Keep why a host was not reached: of the first hundred."""
        if len(kept) < _MOST_NOTED:
            kept.setdefault(where, why)

    @contextmanager
    def connection(self) -> Iterator[None]:
        """Be one of the page's connections. OverBounds where it has too many."""
        task = asyncio.current_task()
        assert task is not None
        if len(self._open) >= self.most_open:
            raise OverBounds
        self._open.add(task)
        try:
            yield
        finally:
            self._open.discard(task)

    def close(self) -> None:
        """End the page's connections."""
        for task in self._open:
            task.cancel()


def authority_of(url: str) -> str:
    """The host and port of an http or https address, as `refused` and `failed` have them."""
    parts = urlsplit(url)
    return f"{parts.hostname}:{parts.port or (443 if parts.scheme == 'https' else 80)}"
