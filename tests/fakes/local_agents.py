"""Agents in this process, with what the cluster's have: verbs that are awaited, and verbs that stream."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any


class NoIndex:
    """The search index of a site where it is down: words still count."""

    async def search(self, *of: Any, **how: Any) -> Any:
        """Fails."""
        raise ConnectionError("there is no search index in this process")


class LocalAgent:
    """An agent in this process, with what `RemoteAgent` offers."""

    def __init__(self, plain: Any) -> None:
        self.plain = plain

    def __getattr__(self, verb: str) -> Any:
        return getattr(self.plain, verb)

    async def call_once(self, verb: str, *args: Any) -> Any:
        """What the verb answers."""
        return await getattr(self.plain, verb)(*args)

    async def stream(self, verb: str, *args: Any) -> AsyncIterator[Any]:
        """What the verb yields."""
        async with aclosing(getattr(self.plain, verb)(*args)) as pieces:
            async for piece in pieces:
                yield piece
