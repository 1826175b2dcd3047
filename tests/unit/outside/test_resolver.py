"""Look-ups of names: each once at a time in a process, and the slow ones hold up nothing else."""

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from actors.platform.web import resolver
from actors.platform.web.resolver import NotLookedUp, SystemResolver
from actors.platform.web.url_guard import guarded_client
from models.config import OutgoingConfig

OUTGOING = OutgoingConfig(allow_internal=())


class Lookups:
    """Stands for the system's look-up: names that begin with `slow` are found once they are let go."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.let_go = threading.Event()

    def getaddrinfo(self, host: str, *_: Any, **__: Any) -> list[tuple[Any, ...]]:
        """As `socket.getaddrinfo`."""
        self.asked.append(host)
        if host.startswith("slow") and not self.let_go.wait(30):
            raise socket.gaierror("nobody answered")
        if host.startswith("no-such"):
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("10.0.0.7", 0))]


@pytest.fixture
def lookups(monkeypatch: pytest.MonkeyPatch) -> Iterator[Lookups]:
    """In place of the system's; all are let go in the end."""
    lookups = Lookups()
    monkeypatch.setattr(socket, "getaddrinfo", lookups.getaddrinfo)
    yield lookups
    lookups.let_go.set()


async def asked_for(host: str, timeout: float) -> None:
    """A request that comes to nothing: the name leads inside, or is not found in time."""
    async with guarded_client(OUTGOING, timeout=timeout) as client:
        await client.get(f"http://{host}/")


async def until(condition: Any) -> None:
    """Wait for it, 10 seconds at most."""
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.005)


@pytest.mark.heavy
async def test_slow_names_hold_up_no_other_name_and_no_other_thread(lookups: Lookups) -> None:
    slow = [asyncio.create_task(asked_for(f"slow{n}.example.com", 0.2)) for n in range(60)]
    ended = await asyncio.gather(*slow, return_exceptions=True)
    assert {type(error) for error in ended} == {httpx2.ConnectTimeout}
    # They have given up; the look-ups themselves have not ended.
    begun = time.monotonic()
    with pytest.raises(Exception, match="not public"):
        await asked_for("healthy.example.com", 5)
    async with asyncio.timeout(5):
        await asyncio.to_thread(int)
    assert time.monotonic() - begun < 5


async def test_a_name_is_looked_up_once_for_all_clients_that_wait_for_it(lookups: Lookups) -> None:
    impatient = [asyncio.create_task(asked_for("slow-shared.example.com", 0.1)) for _ in range(5)]
    ended = await asyncio.gather(*impatient, return_exceptions=True)
    assert {type(error) for error in ended} == {httpx2.ConnectTimeout}
    patient = [asyncio.create_task(asked_for("SLOW-shared.example.com", 10)) for _ in range(5)]
    await asyncio.sleep(0)
    lookups.let_go.set()
    ended = await asyncio.gather(*patient, return_exceptions=True)
    assert all("not public" in str(error) for error in ended)
    assert lookups.asked == ["slow-shared.example.com"]


async def test_a_name_is_looked_up_anew_when_the_last_look_up_has_ended(lookups: Lookups) -> None:
    resolve = SystemResolver()
    assert await resolve("one.example.com") == await resolve("one.example.com") == ["10.0.0.7"]
    for _ in range(2):
        with pytest.raises(OSError, match="not known"):
            await resolve("no-such.example.com")
    assert len(lookups.asked) == 4


async def test_beyond_the_most_a_name_is_refused_at_once_and_known_ones_are_not(lookups: Lookups) -> None:
    resolve = SystemResolver(most=2)
    waiting = [asyncio.create_task(resolve(f"slow{n}.example.com")) for n in (1, 2, 1)]
    await until(lambda: len(lookups.asked) == 2)
    with pytest.raises(NotLookedUp, match="2 other names are under way"):
        await resolve("healthy.example.com")
    lookups.let_go.set()
    assert await asyncio.gather(*waiting) == [["10.0.0.7"]] * 3
    assert await resolve("healthy.example.com") == ["10.0.0.7"]


async def test_a_client_tells_that_no_look_up_was_begun(lookups: Lookups) -> None:
    resolve = SystemResolver(most=1)
    waiting = asyncio.create_task(resolve("slow.example.com"))
    await until(lambda: lookups.asked)
    async with guarded_client(OUTGOING, timeout=5, resolve=resolve) as client:
        with pytest.raises(NotLookedUp, match=r"healthy\.example\.com can't be looked up now"):
            await client.get("http://healthy.example.com/")
    lookups.let_go.set()
    await waiting


async def test_where_no_thread_can_be_had_the_name_may_be_asked_for_again(
    lookups: Lookups, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve = SystemResolver()

    def no_thread(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as without:
        without.setattr(resolver.threading.Thread, "start", no_thread)
        with pytest.raises(NotLookedUp, match="can't start new thread"):
            await resolve("one.example.com")
    assert await resolve("one.example.com") == ["10.0.0.7"]


def test_a_look_up_serves_callers_in_several_loops_and_outlives_any(lookups: Lookups) -> None:
    resolve = SystemResolver()

    async def impatient() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await resolve("slow.example.com")

    async def patient() -> list[str]:
        asyncio.get_running_loop().call_soon(lookups.let_go.set)
        return await resolve("slow.example.com")

    asyncio.run(impatient())
    assert asyncio.run(patient()) == ["10.0.0.7"]
    assert lookups.asked == ["slow.example.com"]
