"""Those who ask for operations over HTTP, and cancel some."""

import asyncio
import random
import time

from tests.faults.people import operations
from tests.faults.people.operations import BegunOperation
from tests.faults.people.work import People, Work
from tests.faults.site.books import code_of

_AT_ONCE = 2
_CANCELLED_AFTER = (0.5, 8.0)


class Operators:
    """Of one run."""

    def __init__(self, people: People, work: Work, rng: random.Random) -> None:
        self._people, self._work, self._rng = people, work, rng

    async def begin(self) -> None:
        """Some operations at once."""
        await asyncio.gather(*(begin(self._people, self._work, self._rng) for _ in range(_AT_ONCE)))

    async def begin_and_cancel(self, rng: random.Random) -> None:
        """One more, which is cancelled some time later."""
        begun = await begin(self._people, self._work, rng)
        await asyncio.sleep(rng.uniform(*_CANCELLED_AFTER))
        await cancel(self._people, self._work, begun)


async def cancel(people: People, work: Work, begun: BegunOperation) -> None:
    """Cancel an operation."""
    # 409: it is over, or the answer to the first request was lost.
    answer = await people.insist("ann", f"{operations.AT}/{begun.number}/cancel", {"reason": "cancelled"})
    if answer.status_code == 200:
        work.cancelled.add(begun.workflow_id)
        work.cancelled_at[begun.workflow_id] = time.time()


async def begin(
    people: People, work: Work, rng: random.Random, *, notes: bool = False, asks: bool = False
) -> BegunOperation:
    """The same operation, however often it is asked for.

    Args:
        notes: something is to be written.
        asks: a server asks something.
    """
    number = work.operations_asked
    work.operations_asked += 1
    body = operations.asked(work.run, number, rng, notes=notes, asks=asks)
    answer = await people.insist("ann", operations.AT, body)
    assert answer.status_code == 201, (answer.status_code, answer.headers, answer.text)
    told = answer.json()
    begun = BegunOperation(told["operation_id"], told["plan_id"], code_of(work.run, number))
    work.operations.append(begun)
    work.ids.append(begun.workflow_id)
    return begun
