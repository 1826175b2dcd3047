"""A campaign: runs one after another in one world, each of a handful of workflows under some faults.

What a run that ended badly has left tells nothing of the next, which gets a world of its own.
"""

import asyncio
import contextlib
import random
import time
from dataclasses import dataclass, field

from tests.faults import checks, draws, ledger
from tests.faults.checks.runs import Runs
from tests.faults.draws.scene import Found
from tests.faults.people import deciding
from tests.faults.people.chats import Chats
from tests.faults.people.operators import Operators
from tests.faults.people.readers import Readers, reading
from tests.faults.people.researchers import Researchers
from tests.faults.people.work import People, Work, begin
from tests.faults.site.load import load
from tests.faults.site.pages import pages_of
from tests.faults.site.standing import dump
from tests.faults.site.world import RUNNERS, World, open_world

_AT_ONCE = 3


@dataclass
class Outcome:
    """What came of one run. `struck` are the faults that hit something, of those that were `drawn`."""

    run: int
    drawn: list[str]
    struck: list[str]
    workflows: int
    batches: int
    messages: int
    seconds: float
    wrong: list[str]


@dataclass
class Campaign:
    """What is to be done, and what has come of it so far. `load`: so many processes burn beside it."""

    seed: int
    faults: int
    fewest: int = 10  # faults in one run
    most: int = 25
    only: list[str] = field(default_factory=list)
    defect: int | None = None
    first_run: int = 0
    runs: int | None = None
    load: int = 0
    outcomes: list[Outcome] = field(default_factory=list)

    @property
    def done(self) -> int:
        """How many faults struck."""
        return sum(len(outcome.struck) for outcome in self.outcomes)

    @property
    def drawn(self) -> int:
        """How many were drawn."""
        return sum(len(outcome.drawn) for outcome in self.outcomes)

    @property
    def wrong(self) -> list[Outcome]:
        """The runs that ended badly."""
        return [outcome for outcome in self.outcomes if outcome.wrong]

    async def carry(self, *, until_wrong: bool = False) -> None:
        """Run after run, until there were so many faults; or until one ended badly."""
        with load(self.load, self.seed):
            while self._goes_on(until_wrong=until_wrong):
                await self._in_one_world(until_wrong=until_wrong)

    def _goes_on(self, *, until_wrong: bool) -> bool:
        if (until_wrong and self.wrong) or self.done >= self.faults:
            return False
        return self.runs is None or len(self.outcomes) < self.runs

    async def _in_one_world(self, *, until_wrong: bool) -> None:
        """Run after run, until there were enough, or one ended badly."""
        async with open_world(defect=self.defect) as world, reading(world) as readers:
            people, runs = People(world), Runs()
            await _up(world)
            await ledger.install(world.database)
            ended_badly = False
            while self._goes_on(until_wrong=until_wrong) and not ended_badly:
                number = self.first_run + len(self.outcomes)
                outcome = await self._run(world, people, readers, runs, number, until_wrong=until_wrong)
                self.outcomes.append(outcome)
                if ended_badly := bool(outcome.wrong):
                    outcome.wrong.append(f"where everything stood: {await dump(world, number)}")
                print(_line(outcome, self.seed, self.load), flush=True)  # noqa: T201
            await people.close()

    async def _run(
        self,
        world: World,
        people: People,
        readers: Readers,
        runs: Runs,
        number: int,
        *,
        until_wrong: bool,
    ) -> Outcome:
        rng = random.Random(f"{self.seed}/{number}")
        # Never cut short: what is drawn follows from seed and run alone.
        drawn = draws.draw(rng, rng.randint(self.fewest, self.most), self.only)
        work, began = Work(number), time.monotonic()
        runs.works.append(work)
        world.pages.pages |= pages_of(number, world.never.origin)
        wrong: list[str] = []
        struck: list[str] = []
        researchers = Researchers(world, people, work, random.Random(f"{self.seed}/{number}/researches"))
        operators = Operators(people, work, random.Random(f"{self.seed}/{number}/operations"))
        beginning = asyncio.gather(begin(people, work, rng), researchers.begin(), operators.begin())
        deciders = asyncio.create_task(_decide_now_and_then(people, work, random.Random(rng.random())))
        over = asyncio.Event()
        chats = Chats(world, people, work, random.Random(f"{self.seed}/{number}/chats"))
        meanwhile = asyncio.gather(
            chats.carry(over),
            people.broken_march(work, random.Random(f"{self.seed}/{number}/march")),
            researchers.begin_and_stop(random.Random(f"{self.seed}/{number}/stopped")),
            operators.begin_and_cancel(random.Random(f"{self.seed}/{number}/cancelled")),
        )
        under_way: set[asyncio.Task[bool]] = set()
        try:
            for name, pause, seed in drawn:
                if wrong and until_wrong:
                    break
                await asyncio.sleep(pause)
                if name in draws.ALONE:
                    world.ensure()
                    await beginning
                    wrong += await _over(under_way, struck)
                    await world.heal()
                elif len(under_way) >= _AT_ONCE:
                    await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
                scene = draws.Scene(world, people, work, random.Random(seed))
                under_way.add(asyncio.create_task(_strike(name, scene), name=name))
                if name in draws.ALONE:
                    wrong += await _over(under_way, struck)
                else:
                    wrong += await _over({task for task in under_way if task.done()}, struck)
                    under_way = {task for task in under_way if not task.done()}
            wrong += await _over(under_way, struck)
            await world.heal()
            await beginning
            over.set()
            await meanwhile
        finally:
            deciders.cancel()
            meanwhile.cancel()
            beginning.cancel()
            for task in under_way:
                task.cancel()
        rest = random.Random(rng.random())

        async def goes_on() -> None:
            world.ensure()
            await people.look_up(work)
            await deciding.decide(people, work, rest)

        if not wrong or not until_wrong:
            wrong += await checks.settle(world, work, goes_on)
            wrong += await checks.check(world, runs, readers)
            wrong += await chats.check()
        for name in work.drivers:
            world.drop(name)
        return Outcome(
            run=number,
            drawn=[name for name, _, _ in drawn],
            struck=struck,
            workflows=len(work.ids),
            batches=len(work.drivers),
            messages=len(chats.sent),
            seconds=time.monotonic() - began,
            wrong=wrong,
        )


async def _strike(name: str, scene: draws.Scene) -> bool:
    with scene.world.under(name):
        return await draws.FAULTS[name](scene)


async def _over(tasks: set[asyncio.Task[bool]], struck: list[str]) -> list[str]:
    """Wait until faults are over, and note which of them struck; what they have found by themselves."""
    wrong = []
    if tasks:
        await asyncio.wait(tasks)
    for task in list(tasks):
        error = task.exception()
        if isinstance(error, Found):
            wrong.append(str(error))
        elif error is not None:
            raise RuntimeError(f"the fault {task.get_name()} could not be done") from error
        if error is not None or task.result():
            struck.append(task.get_name())
    tasks.clear()
    return wrong


async def _decide_now_and_then(people: People, work: Work, rng: random.Random) -> None:
    while True:
        await asyncio.sleep(rng.uniform(0.2, 1.5))
        with contextlib.suppress(ValueError):
            await deciding.decide(people, work, rng, at_once=rng.choice((1, 1, 3)), begins=True)


async def _up(world: World) -> None:
    """Wait until the runners have their leases, and a replica answers."""
    async with asyncio.timeout(60):
        while len(await world.rows("SELECT 1 FROM runners")) < len(RUNNERS):  # noqa: ASYNC110  # of other processes the database tells
            await asyncio.sleep(0.1)  # asked again


def _line(outcome: Outcome, seed: int, load: int) -> str:
    told = f"run {outcome.run}: {len(outcome.struck)} faults of {len(outcome.drawn)} drawn, "
    told += f"{outcome.workflows} workflows, {outcome.messages} messages, "
    told += f"{outcome.seconds:.0f} s: "
    if not outcome.wrong:
        return told + "all right"
    again = f"python -m tests.faults --seed {seed} --run {outcome.run}" + (f" --load {load}" if load else "")
    return told + "WRONG\n  " + "\n  ".join([*outcome.wrong, f"again: {again}", ", ".join(outcome.drawn)])
