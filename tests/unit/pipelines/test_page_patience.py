"""A batch waits for its hosts' turns and for what of the site is away; what a host says itself stands."""

import asyncio
import functools
import time

from actors.platform.web.politeness.host_turns import HostTurn, HostTurns
from actors.platform.web.politeness.robots import Robots
from models.config import OutagesConfig
from models.config.knowledge import PolitenessConfig
from models.errors import AgentDied
from models.knowledge.pages import ScrapedPage
from pipelines.page_patience import PagePatience
from pipelines.page_turns import PageTurns

DELAY, PATIENCE, PAGES = 0.02, 0.1, 30
SETTINGS = PolitenessConfig(
    delay_seconds=DELAY, longest_delay_seconds=1, longest_wait_seconds=PATIENCE, retries=0, robots_hours=1
)


def outages(patience_seconds: float = 30.0) -> OutagesConfig:
    return OutagesConfig.model_construct(
        first_pause_seconds=0.02, longest_pause_seconds=0.05, patience_seconds=patience_seconds
    )


def patience(turns: PageTurns, **more: object) -> PagePatience:
    given = {"at_once": 32, "longest_wait": PATIENCE, "outages": outages()} | more
    return PagePatience(turns, **given)  # type: ignore[arg-type]


def page_turns(robots: Robots | None = None) -> PageTurns:
    async def fetch_robots(origin: str) -> Robots:
        return robots or Robots.everything_allowed()

    return PageTurns(HostTurns(SETTINGS, "Signoff", fetch_robots), SETTINGS)


async def page_of(waiting: PagePatience, turns: PageTurns, url: str, asked_at: list[float]) -> ScrapedPage:
    return await waiting.page(url, lambda: asked(turns, url, asked_at))


async def asked(turns: PageTurns, url: str, asked_at: list[float]) -> ScrapedPage:
    """As an engine has it."""
    turn: HostTurn = await turns.turn(url, patience=PATIENCE)
    if not turn.granted:
        return ScrapedPage(url=url, fault=turn.fault, reason=turn.reason)
    asked_at.append(time.monotonic())
    return ScrapedPage(url=url, status=200)


def urls(host: str = "slow.example") -> list[str]:
    return [f"https://{host}/{number}" for number in range(PAGES)]


async def test_a_host_with_a_long_line_is_asked_for_every_page_as_slowly_as_it_wants() -> None:
    turns, asked_at = page_turns(), list[float]()
    waiting = patience(turns)
    pages = await asyncio.gather(*(page_of(waiting, turns, url, asked_at) for url in urls()))
    assert [page.fault for page in pages] == [None] * PAGES
    assert asked_at[-1] - asked_at[0] >= DELAY * (PAGES - 1) * 0.9 > 2 * PATIENCE


async def test_who_waits_for_a_slow_host_takes_no_place_of_others() -> None:
    turns, asked_at = page_turns(), list[float]()
    waiting = patience(turns, at_once=8)
    slow = [asyncio.ensure_future(page_of(waiting, turns, url, asked_at)) for url in urls()]
    await asyncio.sleep(PATIENCE)
    other = "https://quick.example/"
    await waiting.page(other, lambda: asked(turns, other, asked_at))
    assert sum(task.done() for task in slow) < PAGES
    await asyncio.gather(*slow)


async def test_pages_in_a_host_s_line_leave_all_places_but_a_few_to_others() -> None:
    """The line holds more than there are places: other hosts' pages do not wait for it to move."""
    turns = page_turns()
    waiting = patience(turns, at_once=4)
    never, asked_at = asyncio.Event(), list[float]()

    class Standing(PageTurns):
        async def turn(self, url: str, *, patience: float) -> HostTurn:
            if "slow.example" in url:
                await never.wait()
            return await super().turn(url, patience=patience)

    standing = Standing(turns, SETTINGS)
    slow = [asyncio.ensure_future(page_of(waiting, standing, url, asked_at)) for url in urls()]
    await asyncio.sleep(0)
    quick = [page_of(waiting, standing, url, asked_at) for url in urls("quick.example")]
    async with asyncio.timeout(10):
        assert [page.fault for page in await asyncio.gather(*quick)] == [None] * PAGES
    assert not any(task.done() for task in slow)
    never.set()
    assert [page.fault for page in await asyncio.gather(*slow)] == [None] * PAGES


async def test_a_page_that_has_had_its_turn_is_in_no_line_any_more() -> None:
    """A host that answers slowly is asked as often as it may be."""
    turns, waiting = page_turns(), patience(page_turns(), at_once=PAGES)
    all_asked, under_way = asyncio.Event(), 0

    async def ask(url: str) -> ScrapedPage:
        nonlocal under_way
        assert (await turns.turn(url, patience=10)).granted
        under_way += 1
        if under_way == PAGES:
            all_asked.set()
        await all_asked.wait()
        return ScrapedPage(url=url, status=200)

    async with asyncio.timeout(20):
        await asyncio.gather(*(waiting.page(url, functools.partial(ask, url)) for url in urls()))


async def test_a_host_that_wants_to_be_left_alone_is() -> None:
    """Nobody waits for an hour because one host has said so."""
    turns, asked_at = page_turns(), list[float]()
    [url, *_] = urls()
    await turns.told_to_wait(url, 3600)
    page = await asyncio.wait_for(patience(turns).page(url, lambda: asked(turns, url, asked_at)), 0.05)
    assert (page.fault, asked_at) == ("later", [])
    busy = page_turns(Robots.from_answer(503, b""))
    page = await asyncio.wait_for(patience(busy).page(url, lambda: asked(busy, url, asked_at)), 1)
    assert (page.fault, asked_at) == ("later", [])


async def test_what_another_process_was_told_by_a_host_stands_here_too() -> None:
    turns, asked_at = page_turns(), list[float]()
    [url, *_] = urls()
    assert (await asked(turns, url, asked_at)).fault is None
    await turns._turns.told_to_wait(url, 3600)
    page = await asyncio.wait_for(patience(turns).page(url, lambda: asked(turns, url, asked_at)), 1)
    assert page.fault == "later"
    assert "has no turn" in str(page.reason)


async def test_a_host_that_only_breaks_off_is_not_asked_for_all_of_its_pages() -> None:
    """Each time takes as long as patience is: a batch with a dead host would take days."""
    turns, asked_at = page_turns(), list[float]()
    waiting = patience(turns)

    async def broken_off(url: str) -> ScrapedPage:
        page = await asked(turns, url, asked_at)
        if page.fault is None:
            await turns.told_to_wait(url, None)
            return ScrapedPage(url=url, fault="unreachable", reason="it broke off")
        return page

    async def one(url: str) -> ScrapedPage:
        return await waiting.page(url, lambda: broken_off(url))

    pages = await asyncio.gather(*(one(url) for url in urls()))
    assert {page.fault for page in pages} == {"unreachable", "later"}
    assert len(asked_at) < PAGES / 3

    # When it answers again, its line is waited in again.
    turns.answered(urls()[0])
    await asyncio.sleep(PATIENCE)
    again = await asyncio.gather(*(page_of(waiting, turns, url, asked_at) for url in urls()))
    assert [page.fault for page in again] == [None] * PAGES


async def test_an_outage_of_the_sites_own_is_waited_for() -> None:
    turns, said = page_turns(), list[str]()
    waiting = patience(turns, waits=said.append)
    [url, *_] = urls()
    tries = 0

    async def ask() -> ScrapedPage:
        nonlocal tries
        tries += 1
        if tries < 4:
            raise AgentDied("gone", waits_for="agent host_turns")
        return ScrapedPage(url=url, status=200)

    assert (await waiting.page(url, ask)).fault is None
    assert said == ["agent host_turns"] * 3

    async def away() -> ScrapedPage:
        raise AgentDied("gone", waits_for="agent host_turns")

    page = await patience(turns, outages=outages(patience_seconds=0.1)).page(url, away)
    assert (page.fault, page.reason) == ("later", "gone")


async def test_an_error_is_that_pages_fault() -> None:
    [url, *_] = urls()

    async def ask() -> ScrapedPage:
        raise ZeroDivisionError

    page = await patience(page_turns()).page(url, ask)
    assert page.fault == "error"
