"""The agent `host_turns`: whose turn it is at each host of its share, for the whole cluster.

Scrapers, browsers and batches ask it before each request. A host is one replica's: all that is asked of it
passes here, so its rate holds however many ask. Killed, it begins with a pause for every host.
"""

import httpx2

from actors.platform.sending import sending_for
from actors.platform.web.politeness.host_turns import HostTurn, HostTurns
from actors.platform.web.politeness.robots import Robots
from actors.platform.web.url_guard import guarded_client
from actors.systems.knowledge.fetching.robots_fetching import fetch_robots
from models.config import OutgoingConfig, ScrapingConfig

_ROBOTS_SECONDS = 20.0
# What two requests may come closer to each other on their ways to the host than they were sent.
_SLACK_SECONDS = 0.05
# Who was granted a turn and has not said by then that its request is sent may be gone.
_SENDING_SECONDS = 10.0


class TurnKeeper:
    """Keeps turns; see `HostTurns`."""

    def __init__(self, *, scraping: ScrapingConfig, outgoing: OutgoingConfig) -> None:
        self._settings = scraping
        self._outgoing = outgoing
        # Once: it takes 40 ms of the loop to make, and each origin has a client of its own.
        self._ssl_context = httpx2.create_ssl_context(trust_env=False)
        self._ssl_context.load_default_certs()
        self._turns = HostTurns(
            scraping.politeness,
            scraping.user_agent,
            self._robots,
            slack_seconds=_SLACK_SECONDS,
            sending_seconds=_SENDING_SECONDS,
        )

    async def turn(self, url: str, *, patience: float, caller: str = "") -> HostTurn:
        """Wait for the turn of an address at its host; `caller` is the process that asks."""
        return await self._turns.turn(url, patience=patience, caller=caller)

    async def allowed(self, url: str) -> HostTurn:
        """Whether the host lets an address be fetched at all; it takes no turn."""
        return await self._turns.allowed(url)

    async def sent(self, url: str) -> None:
        """What a turn was granted for is on its way."""
        await self._turns.sent(url)

    async def told_to_wait(self, url: str, seconds: float | None) -> None:
        """The host has answered that it is asked too often."""
        await self._turns.told_to_wait(url, seconds)

    async def went_well(self, url: str) -> None:
        """The host has answered after it had refused."""
        await self._turns.went_well(url)

    async def _robots(self, origin: str) -> Robots:
        seconds = min(_ROBOTS_SECONDS, self._settings.timeout_seconds)
        client = guarded_client(self._outgoing, timeout=seconds, ssl_context=self._ssl_context)
        # For whoever asks next, too: it goes by no claim of the first.
        with sending_for():
            async with client:
                return await fetch_robots(
                    client,
                    origin,
                    user_agent=self._settings.user_agent,
                    seconds=seconds,
                    allow_internal=self._outgoing.allow_internal,
                )
