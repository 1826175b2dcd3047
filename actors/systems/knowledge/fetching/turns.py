"""The seam to the hosts' turns, which are kept once for the whole cluster, and its side in the cluster.

Engines take a turn by `take_turn` before each request, and tell by `Refusals` how they were answered.
"""

import time
import uuid
from collections.abc import Mapping
from typing import Protocol

from actors.platform.system import AgentDirectory
from actors.platform.web.page_urls import host_of
from actors.platform.web.politeness.host_turns import HostTurn
from models.errors import PageFailed
from models.retry_after import retry_after

# What servers say when they are asked too often, or are unwell for a while.
_LIMITED = (429, 503)
_LONGEST_WAIT = 31 * 24 * 3600.0


class Turns(Protocol):
    """Whose turn it is at a host; see `actors.platform.web.politeness.host_turns.HostTurns`."""

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


async def take_turn(turns: Turns, url: str, *, patience: float) -> None:
    """Return when an address may be asked for, which is then to be done at once.

    Args:
        patience: seconds until the turn, at most; see `HostTurns.turn`.

    Raises:
        PageFailed: it may not, or not in time; with `retry_after_seconds` where that is known.
    """
    granted_or_raised(await turns.turn(url, patience=patience))


def granted_or_raised(turn: HostTurn) -> None:
    """PageFailed, with the reason, where an address may not be asked for."""
    if not turn.granted:
        assert turn.fault is not None, "a turn that is not granted says why"
        raise PageFailed(
            turn.reason or "its host has no turn for it",
            fault=turn.fault,
            retry_after_seconds=turn.wait_seconds or None,
        )


class Refusals:
    """The hosts that have told an engine that they are asked too often, and have not answered it since."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self._hosts: set[str] = set()

    async def heard(self, url: str, status: int, headers: Mapping[str, str]) -> bool:
        """Tell the host's turns of its answer, where that says anything new; whether it was a refusal.

        Args:
            headers: with lower-case names.
        """
        host = host_of(url)
        if status in _LIMITED:
            wait = retry_after(headers.get("retry-after"), longest=_LONGEST_WAIT)
            await self._turns.told_to_wait(url, wait)
            self._hosts.add(host)
            return True
        if host in self._hosts:
            self._hosts.discard(host)
            await self._turns.went_well(url)
        return False


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
