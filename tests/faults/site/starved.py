"""For how long processes waited for a processor lately: what a busy machine does to a lease."""

import time
from collections import defaultdict, deque
from collections.abc import Iterable
from pathlib import Path

_WINDOW_SECONDS = 3.0


class Starved:
    """Look often; it remembers a few seconds."""

    def __init__(self, folder: Path = Path("/proc")) -> None:
        self._folder = folder
        self._waited: defaultdict[int, deque[tuple[float, float]]] = defaultdict(deque)

    def look(self, pids: Iterable[int]) -> None:
        """Read how long the main threads of these processes have waited so far."""
        now = time.monotonic()
        for pid in pids:
            try:
                words = (self._folder / str(pid) / "schedstat").read_text(encoding="ascii").split()
            except OSError:  # it is gone, or this system does not count
                continue
            seen = self._waited[pid]
            seen.append((now, int(words[1]) / 1e9))
            while now - seen[0][0] > _WINDOW_SECONDS:
                seen.popleft()

    def seconds(self, pid: int) -> float:
        """For how long a process has waited within the last seconds."""
        seen = self._waited.get(pid)
        return seen[-1][1] - seen[0][1] if seen else 0.0
