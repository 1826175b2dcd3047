"""Ports of loopback that nobody listens on.

Not by `bind` to port 0: such a one is given to the next who asks the system for any, be it a test beside
or the near end of a connection, until the server that it is for has come up, or while it is killed.
"""

import random
import socket
from contextlib import suppress

# Above those that Ray takes for its workers, below those that the system gives out.
_FIRST, _LAST = 20_000, 32_000
_CHANCE = random.SystemRandom()  # no seed of a test's: two processes would ask for the same


def free_ports(count: int) -> list[int]:
    """So many, each another."""
    found: set[int] = set()
    while len(found) < count:
        port = _CHANCE.randrange(_FIRST, _LAST)
        with suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            found.add(port)
    return list(found)


def free_port() -> int:
    """One."""
    return free_ports(1)[0]
