"""No log of a campaign is cleared: what comes late is told of as what it is, by all that was let in."""

from types import SimpleNamespace
from typing import Any

from tests.fakes.outside.page_site import Hit
from tests.faults.checks import researches
from tests.faults.checks.runs import Runs
from tests.faults.people.operations import BegunOperation
from tests.faults.people.work import Work
from tests.faults.site.books import BookCall

ORIGIN = "http://127.0.0.1:1"


class LoggedWorld:
    """The logs of a world, and what its ledger has noted."""

    def __init__(self) -> None:
        self.noted: dict[str, list[dict[str, Any]]] = {}
        self.let_in: list[dict[str, Any]] = []
        self.hits: list[Hit] = []
        self.entries: list[BookCall] = []
        self.begun: list[Any] = []
        self.trace = SimpleNamespace(read=lambda: (self.begun, []))
        self.books = {"crm": self}
        self.pages = SimpleNamespace(hits=self.hits, origin=ORIGIN)
        self.never = SimpleNamespace(hits=[])

    async def rows(self, query: str, *values: Any) -> list[dict[str, Any]]:
        if "approvals" in query:
            return self.let_in
        [table] = [name for name in ("moves", "keeps", "writes", "operated") if f'"{name}"' in query]
        return [row for row in self.noted.get(table, ()) if row["n"] > values[0]]


def after_a_run() -> tuple[Any, Runs, Work, Work]:
    """A world after its first run was looked at, and its second one is to be."""
    first = Work(0, ids=["v"], operations=[BegunOperation(7, "o", "qaxaz")])
    second = Work(1, ids=["w"])
    return LoggedWorld(), Runs([first, second]), first, second


async def test_a_run_of_which_nothing_came_since_is_not_looked_at_again() -> None:
    world, runs, _, second = after_a_run()
    world.begun.append(SimpleNamespace(workflow="v"))
    world.noted["keeps"] = [{"n": 1, "of": "v"}]
    await runs.looked(world)
    assert await runs.to_look_at(world) == [second]


async def test_what_comes_late_has_its_run_looked_at_again() -> None:
    late: list[Any] = [
        lambda world: world.begun.append(SimpleNamespace(workflow="v")),
        lambda world: world.noted.update(moves=[{"n": 9, "of": "v"}]),
        lambda world: world.noted.update(keeps=[{"n": 9, "of": "v"}]),
        lambda world: world.noted.update(operated=[{"n": 9, "of": 7}]),
        lambda world: world.entries.append(BookCall("crm", "qaxaz", "qaxaz-1", 1.0, True)),
        lambda world: world.hits.append(Hit(at=1.0, path="/0/ice", headers={})),
    ]
    for come in late:
        world, runs, first, second = after_a_run()
        await runs.looked(world)
        come(world)
        assert await runs.to_look_at(world) == [first, second]
        assert await runs.to_look_at(world) == [second]


async def test_a_page_that_an_earlier_run_let_in_may_be_read_late_and_no_other() -> None:
    world, runs, *_ = after_a_run()
    world.let_in = [
        {
            "kind": "research_urls",
            "status": "approved",
            "content": {"urls": [{"url": f"{ORIGIN}/0/ice"}]},
            "at": 0.0,
        }
    ]
    world.hits += [Hit(at=1.0, path="/0/ice", headers={}), Hit(at=1.0, path="/0/left-out", headers={})]
    [odd] = await researches.only_what_was_let_in(world, runs)
    assert odd == "/0/left-out was asked for, and approved by nobody"
    assert await researches.only_what_was_let_in(world, runs) == []  # told once
    world.never.hits.append(Hit(at=1.0, path="/0/never", headers={}))
    assert await researches.only_what_was_let_in(world, runs) == [
        "/0/never was asked for at a host that is never read"
    ]
