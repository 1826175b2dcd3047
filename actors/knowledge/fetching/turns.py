"""The seam to the hosts' turns, which are kept once for the whole cluster, and its side in the cluster."""

import time
import uuid
from typing import Protocol

from actors.knowledge.fetching.page_urls import host_of
from actors.outside.politeness.host_turns import HostTurn
from actors.system import AgentDirectory


class Turns(Protocol):
    """Whose turn it is at a host; see `actors.outside.politeness.host_turns.HostTurns`."""

    async def turn(self, url: str, *, patience: float) -> HostTurn:
        """Wait for the turn of this address at its host, or be told why there is none."""
        ...

    async def allowed(self, url: str) -> HostTurn:
        """Whether the host lets an address be fetched at all; it takes no turn."""
        ...

    async def sent(self, url: str) -> None:
        """What a turn was granted for is on its way, or will not be asked for."""
        ...

    async def told_to_wait(self, url: str, seconds: float | None) -> None:
        """The host answered that it is asked too often."""
        ...

    async def went_well(self, url: str) -> None:
        """The host has answered."""
        ...


class _Keeper(Turns, Protocol):
    """The agent `host_turns`, which is told who asks."""

    async def turn(self, url: str, *, patience: float, caller: str = "") -> HostTurn: ...


class ClusterTurns:
    """The turns as the agents `host_turns` keep them: all that is asked of one host, one agent hears.

    One of these is one caller there: where its process dies, all that it has asked for is given up.
    """

    def __init__(self, directory: AgentDirectory) -> None:
        self._directory = directory
        self._caller = uuid.uuid4().hex

    async def turn(self, url: str, *, patience: float) -> HostTurn:
        """See `Turns`."""
        until = time.monotonic() + patience
        while True:
            left = max(until - time.monotonic(), 0.0)
            found: HostTurn = await self._keeper(url).turn(url, patience=left, caller=self._caller)
            if not found.again:
                return found

    async def allowed(self, url: str) -> HostTurn:
        """See `Turns`."""
        found: HostTurn = await self._keeper(url).allowed(url)
        return found

    async def sent(self, url: str) -> None:
        """See `Turns`."""
        await self._keeper(url).sent(url)

    async def told_to_wait(self, url: str, seconds: float | None) -> None:
        """See `Turns`."""
        await self._keeper(url).told_to_wait(url, seconds)

    async def went_well(self, url: str) -> None:
        """See `Turns`."""
        await self._keeper(url).went_well(url)

    def _keeper(self, url: str) -> "_Keeper":
        keeper: _Keeper = self._directory.agent("host_turns", shard=host_of(url))
        return keeper
