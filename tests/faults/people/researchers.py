"""Those who ask for deep researches over HTTP, and stop some."""

import asyncio
import random

from tests.faults.people import deep
from tests.faults.people.deep import DeepResearch
from tests.faults.people.work import People, Work
from tests.faults.site.world import World

_AT_ONCE = 3
_STOPPED_AFTER = (0.2, 8.0)


class Researchers:
    """Of one run."""

    def __init__(self, world: World, people: People, work: Work) -> None:
        self._world, self._people, self._work = world, people, work

    async def begin(self) -> None:
        """Some researches at once."""
        await asyncio.gather(*(self._begin(number) for number in range(_AT_ONCE)))

    async def begin_and_stop(self, rng: random.Random) -> None:
        """One more, which is stopped some time later."""
        research = await self._begin(_AT_ONCE)
        await asyncio.sleep(rng.uniform(*_STOPPED_AFTER))
        # 409: it is over, or the answer to the first request was lost.
        path = f"{deep.AT}/{research.number}/stop"
        answer = await self._people.insist("ann", path, {"reason": "cancelled"})
        if answer.status_code == 200:
            self._work.cancelled.add(research.workflow_id)

    async def _begin(self, number: int) -> DeepResearch:
        """The same research, however often it is asked for."""
        body = deep.asked(self._work.run, number, self._world.pages.origin)
        answer = await self._people.insist("ann", f"{deep.AT}/start", body)
        assert answer.status_code == 201, answer.text
        begun = answer.json()["workflow_id"]
        [row] = await self._world.rows("SELECT workflow_id FROM agent_workflows WHERE id = %s", begun)
        research = DeepResearch(begun, row["workflow_id"])
        self._work.deep.append(research)
        self._work.ids.append(research.workflow_id)
        return research
