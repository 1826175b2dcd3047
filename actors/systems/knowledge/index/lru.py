"""What an index agent holds in memory: never more than it may; what was not asked for the longest goes first.

Called by the agent `knowledge_index`, in its event loop. Room is made before a thing is loaded, so that the
bound holds while it comes.
"""

from collections import OrderedDict
from collections.abc import Hashable
from typing import Any


class BoundedCache:
    """Things by their keys, each with its size in bytes."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._things: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._bytes = 0

    @property
    def bytes(self) -> int:
        """Of all that is held."""
        return self._bytes

    def __contains__(self, key: Hashable) -> bool:
        return key in self._things

    def get(self, key: Hashable) -> Any | None:
        """What is held under a key; it was asked for now."""
        if key not in self._things:
            return None
        self._things.move_to_end(key)
        return self._things[key][0]

    def fits(self, bytes_: int) -> bool:
        """Whether something of this size could be held at all."""
        return bytes_ <= self._most

    def make_room(self, bytes_: int) -> None:
        """Let go of what was not asked for the longest, until there is room for so much."""
        while self._things and self._bytes + bytes_ > self._most:
            _, (_, size) = self._things.popitem(last=False)
            self._bytes -= size

    def put(self, key: Hashable, thing: Any, bytes_: int) -> None:
        """Hold something in place of what is there under its key; not, where it is too large by itself."""
        self.drop(key)
        if self.fits(bytes_):
            self.make_room(bytes_)
            self._things[key] = (thing, bytes_)
            self._bytes += bytes_

    def drop(self, key: Hashable) -> None:
        """Let go of what is held under a key."""
        if (known := self._things.pop(key, None)) is not None:
            self._bytes -= known[1]
