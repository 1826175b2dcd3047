"""Hosts' turns where politeness is not what is looked at: everybody's turn is at once."""

from actors.platform.web.politeness.host_turns import HostTurn


class OpenTurns:
    """As `actors.systems.knowledge.fetching.turns.Turns`."""

    async def turn(self, url: str, *, patience: float) -> HostTurn:
        """Granted."""
        return HostTurn(granted=True)

    async def allowed(self, url: str) -> HostTurn:
        """It is."""
        return HostTurn(granted=True)

    async def sent(self, url: str) -> None:
        """Nobody waits for it."""

    async def told_to_wait(self, url: str, seconds: float | None) -> None:
        """Nobody waits."""

    async def went_well(self, url: str) -> None:
        """Good."""
