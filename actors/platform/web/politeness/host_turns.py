"""Whose turn it is to ask a host: one polite rate for each, and its robots.txt, for the whole cluster.

Each shard of hosts has one of these, as an async actor. Whoever fetches awaits `turn` before every request,
also before one that a redirect leads to, and tells how it was answered. Nobody is given a time in advance:
callers wait here, in line, so a host that says 429 delays all. A turn that is not used is a gap, and no harm.
The delay counts from when a request is on its way, which its caller tells by `sent`: a connection that was
slow to be made brings no two requests closer together.

A host is its name: its ports and both schemes share one rate; each origin has its own robots.txt. A server
under several names is several hosts. What is known goes with the process, so a new one waits for one delay.
"""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Iterable
from typing import Literal
from urllib.parse import urlsplit

from actors.platform.web.politeness.hosts import Host, Hosts, Known, Waiter
from actors.platform.web.politeness.robots import Robots, path_of
from models.config.knowledge import PolitenessConfig
from models.record import Record

# For how long a robots.txt that could not be had is not asked for again.
_CLOSED_SECONDS = 600.0
# The first back-off where a host does not say how long; it doubles with each refusal in a row.
_FIRST_BACK_OFF = 5.0
_LONGEST_PATH_TOLD = 200


class HostTurn(Record):
    """Whether the request may be sent, at once; or why not.

    `wait_seconds` is until when it is pointless to ask again: 0 where that would never help. `again`: the
    caller was taken for gone, and lost its place in line; whoever hears it is not, and asks again.
    """

    granted: bool
    again: bool = False
    wait_seconds: float = 0.0
    reason: str | None = None
    fault: Literal["refused_by_robots", "unreachable", "later"] | None = None


class HostTurns:
    """Keeps the turns of hosts.

    Thousands may wait in `turn` at once. As a Ray actor it needs a `max_concurrency` above that, so that
    `sent`, `told_to_wait` and `went_well` do not wait behind them.
    """

    def __init__(
        self,
        settings: PolitenessConfig,
        user_agent: str,
        fetch_robots: Callable[[str], Awaitable[Robots]],
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        slack_seconds: float = 0.0,
        sending_seconds: float = 0.0,
    ) -> None:
        """Nothing is sent yet.

        Args:
            fetch_robots: the robots.txt of an origin, such as `https://example.com:8443`, in bounded time.
            clock: seconds, of any beginning.
            slack_seconds: added to every delay, for what requests may differ by in their time on the way.
            sending_seconds: for how long the word is awaited that a request was sent, before the next one
                has its turn. With 0 nobody is expected to give it.
        """
        self._settings = settings
        self._user_agent = user_agent
        self._fetch_robots = fetch_robots
        self._clock = clock
        self._sleep = sleep
        self._slack = slack_seconds
        self._sending_seconds = sending_seconds
        # Whoever was here before this process may have asked any host just now.
        delay = self._delay(())
        self._hosts = Hosts[HostTurn](clock, delay=delay, free_at=clock() + delay)

    async def turn(self, url: str, *, patience: float, caller: str = "") -> HostTurn:
        """Returns when `url` may be asked for, which is then to be done at once; or with the fault.

        Args:
            url: http or https, as it is sent, and judged by the URL guard.
            patience: seconds until the turn, at most. Who can't have it by then is told so as soon as that
                is known: when it asks, or when the host says 429. An answer to robots.txt that is slow to
                come is waited for on top.
            caller: the process that asks. When it lets a turn lapse it is taken for dead, and nobody waits
                for what else it has asked for.

        Raises:
            ValueError: `url` is none.
            Exception: whatever `fetch_robots` raises.
        """
        name, origin = _host_and_origin(url)
        host, now = self._hosts.named(name), self._clock()
        known = host.known(origin, now)
        if known is not None and (refusal := self._refusal(host, known, url)) is not None:
            return refusal
        # While its robots.txt is not known nobody can tell how many of its own before it will be refused.
        before = len(host.waiters) if known is not None else host.sure_of_turns(now)
        slot = max(host.free_at, now) + before * host.delay
        if slot > now + patience:
            return _later(host, slot - now)
        answer = asyncio.get_running_loop().create_future()
        return await self._answered(host, Waiter(url, origin, now + patience, answer, caller))

    async def allowed(self, url: str) -> HostTurn:
        """Whether robots.txt lets `url` be fetched at all. Nobody takes a turn but for robots.txt itself.

        Raises:
            ValueError: `url` is none.
            Exception: whatever `fetch_robots` raises.
        """
        name, origin = _host_and_origin(url)
        host, now = self._hosts.named(name), self._clock()
        if (known := host.known(origin, now)) is not None:
            return self._refusal(host, known, url) or HostTurn(granted=True)
        deadline = now + self._settings.longest_wait_seconds
        answer = asyncio.get_running_loop().create_future()
        return await self._answered(host, Waiter(url, origin, deadline, answer, only_asks=True))

    async def sent(self, url: str) -> None:
        """The request whose turn it was is on its way, or is none any more: the delay counts from now."""
        host = self._hosts.named(_host_and_origin(url)[0])
        host.free_at = max(host.free_at, self._clock() + host.delay)
        if host.sent is not None:
            host.sent.set()

    async def told_to_wait(self, url: str, seconds: float | None) -> None:
        """The host answered 429 or 503: nothing is sent to it for that long.

        Args:
            seconds: by its `Retry-After`. Without: 5 s or the host's delay, whatever is longer, doubled with
                each refusal in a row, up to `longest_wait_seconds`. A refusal that comes during a back-off
                answers what was sent before it, and does not double it.
        """
        host, now = self._hosts.named(_host_and_origin(url)[0]), self._clock()
        if now >= host.backs_off_until:
            host.refusals += 1
        if seconds is None or not math.isfinite(seconds) or seconds < 0:
            doubled = max(host.delay, _FIRST_BACK_OFF) * 2.0 ** min(host.refusals - 1, 30)
            seconds = min(doubled, self._settings.longest_wait_seconds)
        host.backs_off_until = max(host.backs_off_until, now + seconds)
        host.free_at = max(host.free_at, host.backs_off_until)
        self._turn_away(host)

    async def went_well(self, url: str) -> None:
        """The host answered: its next refusal is a first one. During a back-off that says nothing new."""
        host = self._hosts.named(_host_and_origin(url)[0])
        if self._clock() >= host.backs_off_until:
            host.refusals = 0

    async def _answered(self, host: Host[HostTurn], waiter: Waiter[HostTurn]) -> HostTurn:
        """Put a caller in its host's line, and wait for its answer."""
        host.waiters[waiter] = None
        if host.serving is None:
            host.serving = asyncio.create_task(self._serve(host))
        try:
            return await waiter.answer
        finally:
            host.waiters.pop(waiter, None)

    async def _serve(self, host: Host[HostTurn]) -> None:
        """Answer the callers of a host, one after the other, until there are none."""
        try:
            while host.waiters:
                if (wait := host.free_at - self._clock()) > 0:
                    await self._sleep(wait)
                    continue
                first = next(iter(host.waiters))
                if first.answer.done():  # it was cancelled, and is about to leave
                    del host.waiters[first]
                elif host.known(first.origin, self._clock()) is None:
                    await self._learn(host, first.origin)
                else:
                    host.free_at = self._clock() + host.delay
                    self._answer(host, first, HostTurn(granted=True))
                    if not await self._was_sent(host):
                        self._give_up(first.caller)
        finally:
            host.serving = None
            for waiter in host.waiters:  # there are none, unless this was ended
                waiter.answer.cancel()

    async def _was_sent(self, host: Host[HostTurn]) -> bool:
        """Wait until the request under way was sent. Whoever has its turn may be gone: not for ever."""
        if not self._sending_seconds:
            return True
        host.sent = asyncio.Event()
        try:
            async with asyncio.timeout(self._sending_seconds):
                await host.sent.wait()
        except TimeoutError:
            host.free_at = max(host.free_at, self._clock() + host.delay)
            return False
        finally:
            host.sent = None
        return True

    def _give_up(self, caller: str) -> None:
        """Let the callers of a process that seems to be dead leave all lines: each would be waited for."""
        if not caller:
            return
        for host in self._hosts.waited_for():
            for waiter in [waiter for waiter in host.waiters if waiter.caller == caller]:
                self._answer(host, waiter, HostTurn(granted=False, again=True))

    async def _learn(self, host: Host[HostTurn], origin: str) -> None:
        """Fetch an origin's robots.txt, a request like any other, and judge by it all who wait for it."""
        host.free_at = self._clock() + host.delay
        fetching = asyncio.ensure_future(self._fetch_robots(origin))
        await asyncio.wait((fetching,))
        waiting = [waiter for waiter in host.waiters if waiter.origin == origin]
        if (error := fetching.exception()) is not None:
            for waiter in waiting:
                del host.waiters[waiter]
                if not waiter.answer.done():
                    waiter.answer.set_exception(error)
        else:
            rules, now = fetching.result().rules_for(self._user_agent), self._clock()
            kept = self._settings.robots_hours * 3600
            known = Known(rules, now + (kept if rules.closed is None else min(kept, _CLOSED_SECONDS)))
            self._hosts.learn(host, origin, known)
            host.delay = self._delay(known.rules.crawl_delay for known in host.origins.values())
            for waiter in waiting:
                if (refusal := self._refusal(host, known, waiter.url)) is not None:
                    self._answer(host, waiter, refusal)
                elif waiter.only_asks:
                    self._answer(host, waiter, HostTurn(granted=True))
        # Redirects and a slow answer make it end later than it began.
        host.free_at = max(host.free_at, self._clock() + host.delay)
        self._turn_away(host)

    def _turn_away(self, host: Host[HostTurn]) -> None:
        """Tell those who can't have their turn in time any more."""
        now = self._clock()
        slot = max(host.free_at, now)
        for waiter in list(host.waiters):
            if slot > waiter.deadline:
                self._answer(host, waiter, _later(host, slot - now))
            elif host.known(waiter.origin, now) is not None:
                slot += host.delay

    def _answer(self, host: Host[HostTurn], waiter: Waiter[HostTurn], turn: HostTurn) -> None:
        del host.waiters[waiter]
        if not waiter.answer.done():
            waiter.answer.set_result(turn)

    def _refusal(self, host: Host[HostTurn], known: Known, url: str) -> HostTurn | None:
        """Why robots.txt, which is known, lets `url` not be fetched; None where it does."""
        rules, settings = known.rules, self._settings
        said = f"robots.txt of {host.name}"
        if not rules.allows(url):
            if rules.closed is None:
                path = path_of(url)[:_LONGEST_PATH_TOLD]
                return HostTurn(granted=False, reason=f"{said} disallows {path}", fault="refused_by_robots")
            return HostTurn(
                granted=False,
                wait_seconds=max(known.until - self._clock(), 0.0),
                reason=f"{said} {rules.closed}: nothing is fetched from there for now",
                fault="later" if rules.busy else "unreachable",
            )
        if rules.crawl_delay is not None and rules.crawl_delay > settings.longest_delay_seconds:
            reason = (
                f"{said} asks for {rules.crawl_delay:g} s between requests, over "
                f"scraping.politeness.longest_delay_seconds ({settings.longest_delay_seconds:g})"
            )
            return HostTurn(granted=False, reason=reason, fault="refused_by_robots")
        return None

    def _delay(self, asked: Iterable[float | None]) -> float:
        """Seconds between two requests: the longest that the settings or one of a host's origins ask for."""
        longest = self._settings.longest_delay_seconds
        heard = [seconds for seconds in asked if seconds is not None and seconds <= longest]
        return self._slack + max(self._settings.delay_seconds, *heard, 0.0)


def _later(host: Host[HostTurn], seconds: float) -> HostTurn:
    reason = f"{host.name} has no turn for {seconds:.0f} s"
    return HostTurn(granted=False, wait_seconds=seconds, reason=reason, fault="later")


def _host_and_origin(url: str) -> tuple[str, str]:
    """A host's name, in lower case and without the dot at its end; and its origin, without a usual port."""
    parts = urlsplit(url)
    name = (parts.hostname or "").removesuffix(".")
    if parts.scheme not in ("http", "https") or not name:
        raise ValueError(f"no http or https address: {url[:_LONGEST_PATH_TOLD]}")
    written = f"[{name}]" if ":" in name else name
    usual = parts.port in (None, 443 if parts.scheme == "https" else 80)
    return name, f"{parts.scheme}://{written}" + ("" if usual else f":{parts.port}")
