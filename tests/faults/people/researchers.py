"""Those who ask for deep researches over HTTP, and stop some."""

import asyncio
import random
import time
from contextlib import suppress

from models.runtime.workflows import ENDED_STATUSES
from tests.faults.people import deciding, deep
from tests.faults.people.deep import AskedFor, DeepResearch
from tests.faults.people.work import People, Stopped, Work
from tests.faults.site.pages import SLOW
from tests.faults.site.shelf import shelf
from tests.faults.site.world import World

_AT_ONCE = 3
_STOPPED_AFTER = (0.2, 8.0)
_READS_WITHIN = 60.0


class Researchers:
    """Of one run."""

    def __init__(self, world: World, people: People, work: Work, rng: random.Random) -> None:
        self._world, self._people, self._work = world, people, work
        self._asked = [deep.asked(number, rng) for number in range(_AT_ONCE + 1)]

    async def begin(self) -> None:
        """Some researches at once."""
        await asyncio.gather(*(self._begin(asked) for asked in self._asked[:_AT_ONCE]))

    async def begin_and_stop(self, rng: random.Random) -> None:
        """One more, which is stopped some time later, or while it reads."""
        asked = self._asked[_AT_ONCE]
        research = await self._begin(asked)
        if asked.slow:
            await self._until_it_reads(research, rng)
        else:
            await asyncio.sleep(rng.uniform(*_STOPPED_AFTER))
        # 409: it is over, or the answer to the first request was lost.
        path = f"{deep.AT}/{research.number}/stop"
        answer = await self._people.insist("ann", path, {"reason": "cancelled"})
        if answer.status_code == 200:
            self._work.cancelled.add(research.workflow_id)
            if asked.slow:
                self._work.stopped.append(Stopped(research.workflow_id, self._slow_pages(), time.time()))

    async def _until_it_reads(self, research: DeepResearch, rng: random.Random) -> None:
        """Have its pages let in, and wait until one of them is asked for; not if it ends before."""
        status = "SELECT status FROM workflows WHERE id = %s"
        slow = self._slow_pages()
        with suppress(TimeoutError):  # one that is stuck is told of in the end
            async with asyncio.timeout(_READS_WITHIN):
                while not slow & {hit.path for hit in list(self._world.pages.hits)}:
                    [row] = await self._world.rows(status, research.workflow_id)
                    if row["status"] in ENDED_STATUSES:
                        break
                    if row["status"] == "waiting":
                        await deciding.decide(self._people, self._work, rng, only=research.workflow_id)
                    await asyncio.sleep(0.05)  # asked again: another process reads

    def _slow_pages(self) -> frozenset[str]:
        return frozenset(f"/{self._work.run}/{name}" for name in SLOW)

    async def _begin(self, asked: AskedFor) -> DeepResearch:
        """The same research, however often it is asked for."""
        held = await shelf(self._world, self._work.run)
        sites = self._world.pages.origin, self._world.never.origin
        body = asked.body(self._work.run, *sites, project=held.project, tree=held.tree)
        answer = await self._people.insist("ann", f"{deep.AT}/start", body)
        assert answer.status_code == 201, answer.text
        begun = answer.json()["workflow_id"]
        [row] = await self._world.rows("SELECT workflow_id FROM agent_workflows WHERE id = %s", begun)
        research = DeepResearch(begun, row["workflow_id"], held.tree if asked.grows else None)
        self._work.deep.append(research)
        self._work.ids.append(research.workflow_id)
        return research
