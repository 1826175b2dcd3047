"""A barrier that test steps report to over TCP, so that tests can wait for a step and hold it there.

Every arrival is kept with its process id: it is the record of what ran, and how often.
"""

import asyncio
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True)
class Arrival:
    """One run of one step."""

    workflow: str
    step: str
    pid: int


class Barrier:
    """Steps pass at once unless `hold` says otherwise. Runs in a thread; use as a context manager."""

    def __init__(self) -> None:
        self.arrivals: list[Arrival] = []
        self._held: set[str] = set()
        self._waiting: list[tuple[Arrival, asyncio.StreamWriter]] = []
        self._changed = threading.Condition()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        server = asyncio.run_coroutine_threadsafe(
            asyncio.start_server(self._serve, "127.0.0.1", 0), self._loop
        ).result(10)
        host, port = server.sockets[0].getsockname()[:2]
        self.address = f"{host}:{port}"
        return self

    def __exit__(self, *_: object) -> None:
        self.release()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def hold(self, *steps: str) -> None:
        """From now on, let these steps wait."""
        self._held.update(steps)

    def release(self, *steps: str) -> None:
        """Let these steps (all, when none is named) pass, those that wait and those to come."""
        self._held = self._held - set(steps) if steps else set()
        with self._changed:
            going = [w for w in self._waiting if w[0].step not in self._held]
            self._waiting = [w for w in self._waiting if w[0].step in self._held]
        for _, writer in going:
            self._loop.call_soon_threadsafe(self._go, writer)

    def runs(self, workflow: str, step: str) -> int:
        """How often a step of a workflow has begun."""
        return sum(a.workflow == workflow and a.step == step for a in self.arrivals)

    def until(self, condition: Callable[[], bool], *, timeout: float = 120) -> None:
        """Wait until `condition` holds; it is looked at whenever somebody arrives."""
        with self._changed:
            assert self._changed.wait_for(condition, timeout), f"in vain; arrived: {self.arrivals}"

    @staticmethod
    def _go(writer: asyncio.StreamWriter) -> None:
        writer.write(b"go\n")
        writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        arrival = Arrival(**json.loads(await reader.readline()))
        with self._changed:
            self.arrivals.append(arrival)
            if arrival.step in self._held:
                self._waiting.append((arrival, writer))
            else:
                self._go(writer)
            self._changed.notify_all()


async def report(address: str, *, workflow: str, step: str, pid: int) -> None:
    """Called by a step: say that it has begun, and wait to be let through."""
    host, _, port = address.partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(json.dumps({"workflow": workflow, "step": step, "pid": pid}).encode() + b"\n")
    assert await reader.readline() == b"go\n", "the barrier is gone"
    writer.close()
