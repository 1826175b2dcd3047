"""The turns of hosts: on a clock of ours, which goes on when everybody waits."""

import asyncio
import heapq
from collections import defaultdict
from collections.abc import Awaitable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from actors.platform.web.politeness import hosts as hosts_module
from actors.platform.web.politeness.host_turns import HostTurn, HostTurns
from actors.platform.web.politeness.robots import Robots
from actors.systems.knowledge.fetching.turns import ClusterTurns
from models.config.knowledge import PolitenessConfig
from tests.examples import examples

AGENT = "Signoff/1.0 (+https://signoff.example)"
SETTINGS = PolitenessConfig(
    delay_seconds=1, longest_delay_seconds=3.5, longest_wait_seconds=40, retries=2, robots_hours=24
)
LONG = 1_000_000.0


class Clock:
    """Stands still while anybody has something to do."""

    def __init__(self) -> None:
        self.now = 1000.0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._slept = 0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._slept += 1
        heapq.heappush(self._sleepers, (self.now + seconds, self._slept, woken))
        await woken

    async def settle(self) -> None:
        for _ in range(12):
            await asyncio.sleep(0)

    async def go_on(self, seconds: float) -> None:
        until = self.now + seconds
        await self.settle()
        while self._sleepers and self._sleepers[0][0] <= until:
            self.now, _, woken = heapq.heappop(self._sleepers)
            if not woken.done():
                woken.set_result(None)
            await self.settle()
        self.now = until

    async def until_done(self, *tasks: asyncio.Task[HostTurn]) -> list[HostTurn]:
        await self.settle()
        while not all(task.done() for task in tasks):
            assert self._sleepers, "somebody waits, and nothing goes on"
            await self.go_on(self._sleepers[0][0] - self.now)
        return [task.result() for task in tasks]


@dataclass
class Site:
    """Hosts, and what is sent to them: (time, host, what)."""

    clock: Clock
    robots: dict[str, Robots] = field(default_factory=dict)
    seconds: float = 0.0
    fetched: list[str] = field(default_factory=list)
    sent: list[tuple[float, str]] = field(default_factory=list)

    async def fetch_robots(self, origin: str) -> Robots:
        self.fetched.append(origin)
        self.sent.append((self.clock.now, origin))
        if self.seconds:
            await self.clock.sleep(self.seconds)
        return self.robots.get(origin, Robots.everything_allowed())

    def turns(self, settings: PolitenessConfig = SETTINGS, slack: float = 0.0) -> HostTurns:
        return HostTurns(
            settings,
            AGENT,
            self.fetch_robots,
            clock=self.clock,
            sleep=self.clock.sleep,
            slack_seconds=slack,
        )


def said(text: str) -> Robots:
    return Robots.from_answer(200, text.replace(";", "\n").encode())


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def site(clock: Clock) -> Site:
    return Site(clock)


def asking(turns: HostTurns, url: str, patience: float = LONG) -> asyncio.Task[HostTurn]:
    return asyncio.create_task(turns.turn(url, patience=patience))


async def when(clock: Clock, task: Awaitable[HostTurn]) -> tuple[float, HostTurn]:
    turn = await task
    return clock.now - 1000, turn


async def test_a_new_process_waits_a_delay_then_reads_robots_then_waits_again(
    clock: Clock, site: Site
) -> None:
    turns = site.turns()
    tasks = [asking(turns, f"http://a.example/{n}") for n in range(3)]
    times = [asyncio.create_task(when(clock, task)) for task in tasks]
    await clock.until_done(*tasks)
    assert [time for time, turn in await asyncio.gather(*times) if turn.granted] == [2, 3, 4]
    assert site.sent == [(1001, "http://a.example")]
    # Later hosts need not wait for the first delay.
    late = asking(turns, "http://b.example/")
    await clock.until_done(late)
    assert site.sent[-1] == (1004, "http://b.example")
    assert clock.now == 1005


async def test_ports_and_schemes_share_a_rate_and_have_a_robots_each(clock: Clock, site: Site) -> None:
    site.robots["https://a.example"] = said("user-agent: *;disallow: /x")
    turns = site.turns()
    urls = [
        "http://a.example/x",
        "https://A.example:443/x",
        "http://a.example.:8080/x",
        "http://a.example:80/y",
    ]
    tasks = [asking(turns, url) for url in urls]
    assert [turn.granted for turn in await clock.until_done(*tasks)] == [True, False, True, True]
    assert site.fetched == ["http://a.example", "https://a.example", "http://a.example:8080"]
    assert clock.now == 1006  # three files and three pages
    assert (await clock.until_done(asking(turns, "http://[2001:DB8::1]:8080/")))[0].granted
    assert site.fetched[-1] == "http://[2001:db8::1]:8080"


@pytest.mark.parametrize("url", ["", "ftp://a.example/", "http:///a", "//a.example/"])
async def test_what_is_no_address_has_no_turn(site: Site, url: str) -> None:
    with pytest.raises(ValueError, match="no http or https address"):
        await site.turns().turn(url, patience=1)


async def test_hosts_do_not_wait_for_each_other(clock: Clock, site: Site) -> None:
    turns = site.turns()
    tasks = [asking(turns, f"http://127.0.0.{n}:8000/") for n in range(100)]
    await clock.until_done(*tasks)
    assert clock.now == 1002


@pytest.mark.parametrize(
    ("robots", "fault", "reason", "wait"),
    [
        (
            said("user-agent: *;disallow: /a"),
            "refused_by_robots",
            "robots.txt of h.example disallows /a?b=c",
            0,
        ),
        (
            said("user-agent: signoff;crawl-delay: 4"),
            "refused_by_robots",
            "robots.txt of h.example asks for 4 s between requests, over "
            "scraping.politeness.longest_delay_seconds (3.5)",
            0,
        ),
        (
            Robots.from_answer(500, b""),
            "unreachable",
            "robots.txt of h.example is answered with 500: nothing is fetched from there for now",
            600,
        ),
        (
            Robots.unreachable(),
            "unreachable",
            "robots.txt of h.example can't be reached: nothing is fetched from there for now",
            600,
        ),
        (
            Robots.from_answer(429, b""),
            "later",
            "robots.txt of h.example is answered with 429: nothing is fetched from there for now",
            600,
        ),
        (
            Robots.from_answer(503, b""),
            "later",
            "robots.txt of h.example is answered with 503: nothing is fetched from there for now",
            600,
        ),
    ],
)
async def test_what_robots_refuses_is_said_and_uses_no_turn(
    clock: Clock, site: Site, robots: Robots, fault: str, reason: str, wait: float
) -> None:
    site.robots["http://h.example"] = robots
    turns = site.turns()
    expected = HostTurn(granted=False, wait_seconds=wait, reason=reason, fault=fault)  # type: ignore[arg-type]
    both = await clock.until_done(*(asking(turns, "http://h.example/a?b=c#d") for _ in range(2)))
    assert both == [expected, expected]
    assert clock.now == 1001
    assert (await turns.turn("http://h.example/a?b=c#d", patience=0)) == expected
    assert site.fetched == ["http://h.example"]


@pytest.mark.parametrize(("robots", "kept"), [(said(""), 24 * 3600.0), (Robots.unreachable(), 600.0)])
async def test_robots_is_read_again_when_it_is_old(
    clock: Clock, site: Site, robots: Robots, kept: float
) -> None:
    site.robots["http://h.example"] = robots
    turns = site.turns()
    await clock.until_done(asking(turns, "http://h.example/"))
    learnt = site.sent[0][0]
    await clock.go_on(learnt + kept - clock.now - 0.5)
    await clock.until_done(asking(turns, "http://h.example/"))
    assert len(site.fetched) == 1
    site.robots["http://h.example"] = said("user-agent: *;disallow: /")
    await clock.go_on(1)
    [turn] = await clock.until_done(asking(turns, "http://h.example/"))
    assert len(site.fetched) == 2
    assert turn.reason == "robots.txt of h.example disallows /"


async def test_who_only_wants_to_know_reads_robots_once(clock: Clock, site: Site) -> None:
    site.robots["http://h.example"] = said("user-agent: *;disallow: /no")
    turns = site.turns()
    urls = ("http://h.example/no", "http://h.example/yes")
    both = await clock.until_done(*(asyncio.create_task(turns.allowed(url)) for url in urls))
    assert [(turn.granted, turn.fault) for turn in both] == [(False, "refused_by_robots"), (True, None)]
    known = clock.now
    assert await turns.allowed(urls[0]) == both[0]
    assert (clock.now, site.fetched) == (known, ["http://h.example"])


async def test_a_longer_crawl_delay_counts_and_a_shorter_one_does_not(clock: Clock, site: Site) -> None:
    site.robots["http://slow.example"] = said("user-agent: *;crawl-delay: 3")
    site.robots["http://fast.example"] = said("user-agent: *;crawl-delay: 0.1")
    for host, seconds in (("slow", 3.0), ("fast", 1.0)):
        turns = site.turns(slack=0.25)
        tasks = [asking(turns, f"http://{host}.example/{n}") for n in range(3)]
        begun = clock.now
        await clock.until_done(*tasks)
        assert clock.now - begun == 1.25 + 3 * (seconds + 0.25)


async def test_who_can_not_be_served_in_time_is_told_at_once(clock: Clock, site: Site) -> None:
    turns = site.turns()
    await clock.until_done(asking(turns, "http://h.example/"))
    waiting = [asking(turns, f"http://h.example/{n}", 3) for n in range(3)]
    await clock.settle()
    late = await turns.turn("http://h.example/late", patience=3)
    assert late == HostTurn(
        granted=False, wait_seconds=4, reason="h.example has no turn for 4 s", fault="later"
    )
    assert [turn.granted for turn in await clock.until_done(*waiting)] == [True] * 3
    assert clock.now == 1005
    # While robots.txt is under way, the host is not free.
    site.seconds = 3
    slow = asking(turns, "http://slow.example/")
    await clock.settle()
    assert (await turns.turn("http://slow.example/", patience=0.5)).wait_seconds == 1
    await clock.until_done(slow)
    assert clock.now == 1009
    site.seconds = 0
    # While it is not known, what it refuses does not count.
    site.robots["http://new.example"] = said("user-agent: *;disallow: /no")
    many = [asking(turns, f"http://new.example/no/{n}", 2) for n in range(50)]
    many += [asking(turns, f"http://new.example/yes/{n}", 2) for n in range(3)]
    answers = await clock.until_done(*many)
    assert {turn.fault for turn in answers[:50]} == {"refused_by_robots"}
    assert [turn.fault for turn in answers[50:]] == [None, None, "later"]


async def test_a_host_that_is_busy_delays_all_who_wait(clock: Clock, site: Site) -> None:
    turns = site.turns()
    await clock.until_done(asking(turns, "http://h.example/"))
    patient, impatient = asking(turns, "http://h.example/1"), asking(turns, "http://h.example/2", 10)
    await clock.go_on(0.5)
    await turns.told_to_wait("http://h.example/", 20)
    await clock.settle()
    assert impatient.done()
    assert impatient.result().fault == "later"
    assert impatient.result().wait_seconds == 21
    other = asking(turns, "http://other.example/")
    await clock.until_done(other)
    assert not patient.done()
    await clock.until_done(patient)
    assert clock.now == 1002 + 0.5 + 20


async def test_the_back_off_doubles_until_something_goes_well(clock: Clock, site: Site) -> None:
    turns, url = site.turns(), "http://h.example/"
    await clock.until_done(asking(turns, url))

    async def waited(*told: float | None) -> float:
        begun = clock.now
        for seconds in told:
            await turns.told_to_wait(url, seconds)
        await clock.until_done(asking(turns, url))
        return clock.now - begun

    assert [await waited(None) for _ in range(5)] == [5, 10, 20, 40, 40]
    await turns.told_to_wait(url, 3)
    await turns.went_well(url)  # an answer to what was sent before
    await clock.go_on(3)
    assert await waited(None) == 40
    await turns.went_well(url)
    # What was under way together is refused together, and counts once.
    assert await waited(None, None, None) == 5
    assert await waited(None, 2) == 10
    await turns.went_well(url)
    assert await waited(float("inf")) == 5
    await turns.went_well(url)
    assert await waited(-1) == 5
    for _ in range(2_000):
        await turns.told_to_wait(url, 0)
    assert await waited(None) == 40


async def test_a_caller_that_is_gone_leaves_the_line(clock: Clock, site: Site) -> None:
    turns = site.turns()
    tasks = [asking(turns, f"http://h.example/{n}") for n in range(4)]
    await clock.go_on(0.5)
    for gone in tasks[:2]:
        gone.cancel()
    await clock.until_done(*tasks[2:])
    assert clock.now == 1003
    # Also in the very moment of its turn, which the next one has then.
    first, second = asking(turns, "http://h.example/5"), asking(turns, "http://h.example/6")
    await clock.settle()
    clock.now += 1
    first.cancel()
    await clock.until_done(second)
    assert clock.now == 1004


async def test_an_error_of_reading_robots_reaches_all_who_wait_for_it(clock: Clock) -> None:
    asked: list[float] = []

    async def broken(origin: str) -> Robots:
        asked.append(clock.now)
        raise OSError(f"no way to {origin}")

    turns = HostTurns(SETTINGS, AGENT, broken, clock=clock, sleep=clock.sleep)
    tasks = [asking(turns, f"http://h.example/{n}") for n in range(2)]
    await clock.go_on(1)
    for task in tasks:
        with pytest.raises(OSError, match=r"no way to http://h\.example"):
            await task
    again = asking(turns, "http://h.example/")
    await clock.go_on(5)
    assert asked == [1001, 1002]
    with pytest.raises(OSError, match="no way"):
        await again


async def test_hosts_are_forgotten_but_not_while_they_are_to_be_waited_for(
    clock: Clock, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosts_module, "_MOST_HOSTS", 10)
    turns = site.turns()
    await turns.told_to_wait("http://busy.example/", 50)
    for n in range(40):
        await clock.until_done(asking(turns, f"http://h{n}.example/"))
        await clock.go_on(1)
    assert len(turns._hosts) == 10
    assert clock.now < 1120
    await clock.until_done(asking(turns, "http://h39.example/"))
    assert len(site.fetched) == 40
    await clock.until_done(asking(turns, "http://h0.example/"))
    assert len(site.fetched) == 41
    busy = site.turns()
    await busy.told_to_wait("http://busy.example/", 500)
    for n in range(40):
        await clock.until_done(asking(busy, f"http://h{n}.example/"))
    begun = clock.now
    turn = await busy.turn("http://busy.example/", patience=1)
    assert turn.fault == "later"
    assert 0 < turn.wait_seconds < 500
    assert clock.now == begun


async def test_old_hosts_are_forgotten_and_so_are_those_of_long_files(
    clock: Clock, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = site.turns()
    await clock.until_done(*(asking(turns, f"http://h{n}.example/") for n in range(20)))
    await clock.go_on(24 * 3600)
    await clock.until_done(*(asking(turns, f"http://new{n}.example/") for n in range(20)))
    assert len(turns._hosts) == 20
    monkeypatch.setattr(hosts_module, "_MOST_PATTERNS", 100)
    for n in range(30):
        site.robots[f"http://long{n}.example"] = said("user-agent: *;" + "disallow: /x;" * 30)
        await clock.until_done(asking(turns, f"http://long{n}.example/"))
        await clock.go_on(1)
    assert len(turns._hosts) <= 6


# What happens: after a pause, something is asked for, told, or cancelled.
_hosts = st.sampled_from(["a.example", "b.example"])
_origins = st.builds("{}://{}".format, st.sampled_from(["http", "https"]), _hosts)
_asked = st.tuples(
    st.just("ask"),
    st.builds("{}{}".format, _origins, st.sampled_from(["/yes", "/yes", "/no"])),
    st.sampled_from([0.0, 0.5, 2.0, 6.0, 20.0, LONG]),
)
_told = st.tuples(st.just("told"), _origins, st.sampled_from([None, 0.0, 0.75, 7.0, 30.0]))
_well = st.tuples(st.just("well"), _origins, st.none())
_gone = st.tuples(st.just("gone"), st.integers(0, 20), st.none())
_events = st.lists(
    st.tuples(
        st.sampled_from([0.0, 0.0, 0.25, 1.0, 3.0]), st.one_of(_asked, _asked, _asked, _told, _well, _gone)
    ),
    max_size=40,
)
_crawl_delays = st.fixed_dictionaries(
    {
        f"{scheme}://{host}": st.sampled_from([None, 0.5, 2.0, 3.5])
        for scheme in ("http", "https")
        for host in ("a.example", "b.example")
    }
)


@dataclass
class Asked:
    """What one caller asked for, and what became of it."""

    url: str
    at: float
    patience: float
    task: asyncio.Task[HostTurn]
    answered: float | None = None
    order: int | None = None


@examples(150)
@given(_events, _crawl_delays, st.sampled_from([0.0, 0.3, 4.0]))
@example(  # behind one of another origin, which has its turn first
    [
        (0.0, ("ask", "http://a.example/yes", 0.0)),
        (1.0, ("ask", "http://a.example/yes", 0.0)),
        (3.0, ("ask", "http://a.example/yes", 0.0)),
        *[(0.0, ("ask", f"{scheme}://a.example/yes", 0.5)) for scheme in ("http", "https")],
    ],
    {"http://a.example": 3.5},
    0.0,
)
@example(
    [(0.0, ("ask", "http://a.example/yes", LONG))] * 5 + [(3.0, ("told", "http://a.example", 7.0))], {}, 0.0
)
def test_whatever_is_asked_and_told_hosts_are_treated_politely(
    events: list[tuple[float, tuple[str, str | int, float | None]]],
    crawl_delays: dict[str, float | None],
    robots_take: float,
) -> None:
    asyncio.run(_politely(events, crawl_delays, robots_take))


async def _politely(
    events: list[tuple[float, tuple[str, str | int, float | None]]],
    crawl_delays: dict[str, float | None],
    robots_take: float,
) -> None:
    clock = Clock()
    # What a host sees and says, in its order: (kind, time, seconds that it must be left alone then).
    seen: dict[str, list[tuple[str, float, float]]] = defaultdict(list)
    heard: dict[str, float] = defaultdict(lambda: 1.0)  # the delay that each host is known to ask for
    read: list[str] = []

    async def fetch_robots(origin: str) -> Robots:
        host = origin.rpartition("/")[2]
        read.append(origin)
        seen[host].append(("robots", clock.now, heard[host]))
        if robots_take:
            await clock.sleep(robots_take)
        delay = crawl_delays.get(origin)
        heard[host] = max(heard[host], delay or 0.0)
        # Nothing is sent for a delay after it, by the delay that it says.
        seen[host].append(("robots read", clock.now, heard[host]))
        return said("user-agent: *;disallow: /no" + (f";crawl-delay: {delay}" if delay else ""))

    turns = HostTurns(SETTINGS, AGENT, fetch_robots, clock=clock, sleep=clock.sleep)
    asked: list[Asked] = []
    answers = 0

    async def ask(mine: int, url: str, patience: float) -> HostTurn:
        nonlocal answers
        turn = await turns.turn(url, patience=patience)
        asked[mine].answered, asked[mine].order = clock.now, answers
        answers += 1
        if turn.granted:
            host = url.split("/")[2]
            seen[host].append(("page", clock.now, heard[host]))
        return turn

    for pause, (kind, what, number) in events:
        await clock.go_on(pause)
        if kind == "ask":
            assert isinstance(what, str)
            assert number is not None
            task = asyncio.create_task(ask(len(asked), what, number))
            asked.append(Asked(what, clock.now, number, task))
            await asyncio.sleep(0)
        elif kind == "gone":
            assert isinstance(what, int)
            if what < len(asked):
                asked[what].task.cancel()
        elif kind == "told":
            assert isinstance(what, str)
            seen[what.rpartition("/")[2]].append(("told", clock.now, 5.0 if number is None else number))
            await turns.told_to_wait(what, number)
        else:
            assert isinstance(what, str)
            await turns.went_well(what)
    await clock.settle()
    answered = [caller for caller in asked if not caller.task.cancelled()]
    await clock.until_done(*(caller.task for caller in answered))

    assert len(read) == len(set(read))
    for host, happened in seen.items():
        left_alone_until = 1001.0
        for kind, at, seconds in happened:
            if kind in ("page", "robots"):
                assert at >= left_alone_until, (host, happened)
            left_alone_until = max(left_alone_until, at + seconds)
    for host in ("a.example", "b.example"):
        orders = [
            caller.order
            for caller in answered
            if caller.url.split("/")[2] == host and caller.task.result().granted
        ]
        assert orders == sorted(orders, key=lambda order: order or 0)
    for caller in answered:
        turn = caller.task.result()
        assert caller.answered is not None
        # Two origins' robots.txt at most are waited for on top.
        assert caller.answered <= caller.at + caller.patience + 2 * robots_take
        if caller.url.endswith("/no"):
            assert turn.fault in ("refused_by_robots", "later")
        else:
            assert turn.granted or turn.fault == "later"
        if turn.fault == "later":
            assert caller.patience < LONG
            assert caller.answered + turn.wait_seconds > caller.at + caller.patience
        if turn.fault == "refused_by_robots":
            assert caller.url.endswith("/no")


async def test_the_real_clock_keeps_the_rate() -> None:
    loop = asyncio.get_running_loop()
    quick = SETTINGS.model_copy(update={"delay_seconds": 0.02})

    async def none(origin: str) -> Robots:
        return Robots.everything_allowed()

    turns = HostTurns(quick, AGENT, none)
    times: list[float] = []

    async def page(n: int) -> None:
        assert (await turns.turn(f"http://h.example/{n}", patience=60)).granted
        # As an engine: on a busy machine it comes to its turn late, and the next one's counts from here.
        times.append(loop.time())
        await turns.sent(f"http://h.example/{n}")

    await asyncio.gather(*(page(n) for n in range(10)))
    assert all(later - earlier >= 0.019 for earlier, later in pairwise(times))


async def test_the_delay_counts_from_when_a_request_is_sent() -> None:
    """A connection that takes long to be made brings the next request no closer to it."""
    loop = asyncio.get_running_loop()
    quick = SETTINGS.model_copy(update={"delay_seconds": 0.05})

    async def none(origin: str) -> Robots:
        return Robots.everything_allowed()

    turns = HostTurns(quick, AGENT, none, sending_seconds=5)
    sent: list[float] = []

    async def page(n: int) -> None:
        assert (await turns.turn(f"http://h.example/{n}", patience=60)).granted
        await asyncio.sleep(0.2 if n % 2 == 0 else 0)
        sent.append(loop.time())
        await turns.sent(f"http://h.example/{n}")

    await asyncio.gather(*(page(n) for n in range(6)))
    assert all(later - earlier >= 0.049 for earlier, later in pairwise(sent))


async def test_who_is_gone_with_a_turn_holds_the_host_for_a_while_only() -> None:
    quick = SETTINGS.model_copy(update={"delay_seconds": 0.02})

    async def none(origin: str) -> Robots:
        return Robots.everything_allowed()

    turns = HostTurns(quick, AGENT, none, sending_seconds=0.1)
    for n in range(3):
        assert (await turns.turn(f"http://h.example/{n}", patience=60)).granted
    await turns.sent("http://h.example/late")
    assert (await turns.turn("http://h.example/last", patience=60)).granted


async def test_whoever_only_asks_what_robots_say_holds_nobody_up(clock: Clock, site: Site) -> None:
    """Hundreds ask at once before it is known; none of them is waited for as if it had a turn to use."""
    site.robots["http://h.example"] = said("User-agent: *;Disallow: /closed")
    turns = HostTurns(SETTINGS, AGENT, site.fetch_robots, clock=clock, sleep=clock.sleep, sending_seconds=60)
    begun = clock.now
    paths = [f"{'closed' if n % 3 == 0 else 'open'}/{n}" for n in range(300)]
    tasks = [asyncio.create_task(turns.allowed(f"http://h.example/{path}")) for path in paths]
    found = await clock.until_done(*tasks)
    assert [turn.granted for turn in found] == [path.startswith("open") for path in paths]
    assert site.fetched == ["http://h.example"]
    assert clock.now - begun <= SETTINGS.delay_seconds


async def test_what_a_dead_process_asked_for_is_given_up_at_once(clock: Clock, site: Site) -> None:
    """It lets one turn lapse; nobody waits for its other ones, at no host. Others keep their places."""
    turns = HostTurns(SETTINGS, AGENT, site.fetch_robots, clock=clock, sleep=clock.sleep, sending_seconds=0.2)

    def asked(host: str, n: int, caller: str) -> asyncio.Task[HostTurn]:
        turn = turns.turn(f"http://{host}.example/{n}", patience=1000, caller=caller)
        return asyncio.create_task(turn)

    dead = [asked(host, n, "dead") for host in ("a", "b") for n in range(50)]
    living = [asked("a", n, "living") for n in range(3)]
    async with asyncio.timeout(20):
        while not all(task.done() for task in dead):
            await clock.go_on(1)
            await asyncio.sleep(0.01)  # that a request was sent is waited for by the real clock
        for task in living:
            while not task.done():
                await clock.go_on(1)
            assert (await task).granted
            await turns.sent("http://a.example/")
    found = [await task for task in dead]
    assert sum(turn.granted for turn in found) <= 2
    assert all(turn.again for turn in found if not turn.granted)


async def test_who_was_wrongly_given_up_asks_again() -> None:
    """A process that was busy for long hears that it lost its place, and takes another."""
    given = [HostTurn(granted=False, again=True), HostTurn(granted=True)]
    asked: list[tuple[float, str]] = []

    class Keeper:
        async def turn(self, url: str, *, patience: float, caller: str) -> HostTurn:
            asked.append((patience, caller))
            return given.pop(0)

    class Agents:
        database_url = None

        def agent(self, role: str, *, shard: str | None = None) -> Any:
            return Keeper()

    turns = ClusterTurns(Agents())
    assert (await turns.turn("http://h.example/", patience=9)).granted
    (first, caller), (second, same) = asked
    assert first >= second > 8
    assert caller == same != ""
