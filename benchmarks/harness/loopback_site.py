"""The site on loopback, from the outside: started, asked for addresses, and for what it has seen."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpx2

from benchmarks.harness.bench import ROOT
from benchmarks.harness.site_pages import kind_of, path_of_page
from benchmarks.harness.site_server import CONTROL, HOSTS
from benchmarks.harness.site_visits import Visits


class LoopbackSite:
    """A site that serves. `pid` is its process."""

    def __init__(self, *, port: int, pid: int) -> None:
        self.pid = pid
        self._port = port
        self._client = httpx2.Client(base_url=f"http://{CONTROL}:{port}", trust_env=False, timeout=30)

    def urls(self, count: int, *, hosts: int = len(HOSTS)) -> list[str]:
        """The addresses of so many pages on so many hosts, in turns."""
        return [
            f"http://{HOSTS[number % hosts]}:{self._port}{path_of_page(number)}" for number in range(count)
        ]

    def begin(self, *, delay: float) -> None:
        """Forget all visits: a new visitor comes, who is to wait for `delay` seconds between requests."""
        self._client.get(f"/begin/{delay}")

    def await_answered(self, pages: int, *, running: Callable[[], bool]) -> None:
        """Wait until so many pages were answered.

        Raises:
            RuntimeError: whoever visits ended before that.
        """
        while int(self._client.get(f"/answered/{pages}").text) < pages:
            if not running():
                raise RuntimeError(f"the visitor ended before {pages} pages were answered: {self.visits()}")

    def visits(self) -> Visits:
        """What was seen by now."""
        return Visits.model_validate_json(self._client.get("/visits").content)

    def close(self) -> None:
        """Close the connection to it."""
        self._client.close()


def open_pages(count: int) -> int:
    """Of the first `count` pages, those that robots.txt lets be fetched."""
    return sum(kind_of(number) != "closed" for number in range(count))


@contextmanager
def loopback_site() -> Iterator[LoopbackSite]:
    """The site, as long as the block."""
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.harness.site_server"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        port = process.stdout.readline()
        if not port:
            raise RuntimeError("the site on loopback does not start")
        site = LoopbackSite(port=int(port), pid=process.pid)
        yield site
        site.close()
    finally:
        process.stdin.close()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
