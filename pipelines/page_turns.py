"""Turns at hosts as a batch waits for them: however long a host's line is, as long as the host answers.

The stages of the scraping batch hand one of these to their engines. Whoever asks for a person is told to come
later; a batch's page goes back behind the others, and is asked for again. What a host says itself stands:
that it wants to be left alone for longer than anybody waits, or, for as long, nothing but refusals.
"""

import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from contextvars import ContextVar

from actors.platform.web.page_urls import host_of
from actors.platform.web.politeness.host_turns import HostTurn
from actors.systems.knowledge.fetching.turns import Turns
from models.config.knowledge import PolitenessConfig

# Of the page that is being asked for: what it holds while it waits for its turn, and no longer.
PLACE_IN_LINE: ContextVar[AsyncExitStack | None] = ContextVar("PLACE_IN_LINE", default=None)


class NoTurnYet(Exception):
    """A host's line is longer than patience, as its message says. Asking again later is not impolite."""

    def __init__(self, reason: str, wait_seconds: float) -> None:
        super().__init__(reason)
        self.wait_seconds = wait_seconds


class PageTurns:
    """Turns that tell a long line, by `NoTurnYet`, from a host that is not to be waited for."""

    def __init__(
        self, turns: Turns, settings: PolitenessConfig, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._turns = turns
        self._patience = settings.longest_wait_seconds
        # Nobody is let into a line that is longer, so what is longer is no line but the host's own word.
        self._longest_line = settings.longest_wait_seconds + settings.longest_delay_seconds + 1.0
        self._clock = clock
        # Of hosts that have refused, or broken off, and not answered since: from when on, and until when.
        self._refusing: dict[str, tuple[float, float]] = {}

    async def turn(self, url: str, *, patience: float) -> HostTurn:
        """See `Turns`. Raises NoTurnYet where the line is too long."""
        found = await self._turns.turn(url, patience=patience)
        if found.granted and (place := PLACE_IN_LINE.get()) is not None:
            await place.aclose()  # a redirect's turn finds it left already
        if found.fault != "later" or found.wait_seconds > self._longest_line or self._stands(host_of(url)):
            return found
        if not (await self._turns.allowed(url)).granted:  # it is robots.txt that can't be had now
            return found
        raise NoTurnYet(found.reason or "its host has no turn for it", found.wait_seconds)

    async def allowed(self, url: str) -> HostTurn:
        """See `Turns`."""
        return await self._turns.allowed(url)

    async def sent(self, url: str) -> None:
        """See `Turns`."""
        await self._turns.sent(url)

    async def told_to_wait(self, url: str, seconds: float | None) -> None:
        """See `Turns`."""
        host, now = host_of(url), self._clock()
        since, until = self._refusing.get(host, (now, now))
        self._refusing[host] = (since, max(until, now + (seconds or 0.0)))
        await self._turns.told_to_wait(url, seconds)

    async def went_well(self, url: str) -> None:
        """See `Turns`."""
        self.answered(url)
        await self._turns.went_well(url)

    def answered(self, url: str) -> None:
        """The host has answered, whatever it was."""
        self._refusing.pop(host_of(url), None)

    def _stands(self, host: str) -> bool:
        now = self._clock()
        since, until = self._refusing.get(host, (now, now))
        return until > now + self._patience or since < now - self._patience
