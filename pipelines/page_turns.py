"""Turns at hosts as a batch waits for them: as long as its host's line moves.

The stages of the scraping batch hand one of these to their engines. Whoever asks for a person is told to come
later; a batch's page goes back behind the others, and is asked for again. What a host says itself stands: 429
or 503 with a Retry-After that is longer than anybody waits, or a robots.txt that can't be had now.
"""

import time
from collections.abc import Callable

from actors.knowledge.fetching.page_urls import host_of
from actors.knowledge.fetching.turns import Turns
from actors.outside.politeness.host_turns import HostTurn


class NoTurnYet(Exception):
    """A host's line is longer than patience, as its message says. Asking again later is not impolite."""

    def __init__(self, host: str, reason: str, wait_seconds: float) -> None:
        super().__init__(reason)
        self.host = host
        self.wait_seconds = wait_seconds


class PageTurns:
    """Turns that tell a long line, by `NoTurnYet`, from a host that wants to be left alone."""

    def __init__(self, turns: Turns, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._turns = turns
        self._clock = clock
        self._granted: dict[str, float] = {}
        self._backs_off: dict[str, float] = {}

    def last_granted(self, host: str) -> float:
        """When this process had its last turn at a host, by the clock; minus infinity before the first."""
        return self._granted.get(host, float("-inf"))

    async def turn(self, url: str, *, patience: float) -> HostTurn:
        """See `Turns`. Raises NoTurnYet where the line is too long."""
        found = await self._turns.turn(url, patience=patience)
        host = host_of(url)
        if found.granted:
            self._granted[host] = self._clock()
        elif found.fault == "later":
            told = self._backs_off.get(host, 0.0) > self._clock() + patience
            # Where robots.txt says it, everybody is told the same.
            if not told and (await self._turns.allowed(url)).granted:
                raise NoTurnYet(host, found.reason or f"{host} has no turn", found.wait_seconds)
        return found

    async def allowed(self, url: str) -> HostTurn:
        """See `Turns`."""
        return await self._turns.allowed(url)

    async def sent(self, url: str) -> None:
        """See `Turns`."""
        await self._turns.sent(url)

    async def told_to_wait(self, url: str, seconds: float | None) -> None:
        """See `Turns`."""
        self._backs_off[host_of(url)] = self._clock() + (seconds or 0.0)
        await self._turns.told_to_wait(url, seconds)

    async def went_well(self, url: str) -> None:
        """See `Turns`."""
        self._backs_off.pop(host_of(url), None)
        await self._turns.went_well(url)
