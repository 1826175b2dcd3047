"""The runs that a world has seen, and how far its logs were looked at.

No log is ever cleared: what a runner of an earlier run does late is told of as what it is. So an earlier run
of which something has come since is looked at once more, with all that was said and decided in it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from tests.faults.people.work import Work
from tests.faults.site.world import World

T = TypeVar("T")
# Of the ledger: each table, and how a row of it names what it is of.
_LEDGER = {"moves": "workflow", "keeps": "workflow", "writes": "research", "operated": "operation"}


@dataclass
class Runs:
    """In their order; the last is the one under way."""

    works: list[Work] = field(default_factory=list)
    _seen: dict[str, int] = field(default_factory=dict)

    def since(self, log: str, entries: Sequence[T]) -> Sequence[T]:
        """What has come to a log since it was asked for last; all of it the first time."""
        before = self._seen.get(log, 0)
        self._seen[log] = len(entries)
        return entries[before:]

    async def to_look_at(self, world: World) -> list[Work]:
        """The last run, and the earlier ones of which anything was noted since they were looked at."""
        begun, wrote = world.trace.read()
        names = {one.workflow for one in self.since("begun", begun)}
        names |= {one.workflow for one in self.since("wrote", wrote)}
        for table, column in _LEDGER.items():
            names |= await self._noted(world, table, column)
        for name, book in world.books.items():
            names |= {call.code for call in self.since(name, list(book.entries))}
        names |= {f"/{hit.path.split('/')[1]}" for hit in self.since("hits", list(world.pages.hits))}
        *earlier, last = self.works
        return [*(work for work in earlier if names & _names(work)), last]

    async def looked(self, world: World) -> None:
        """Everything that was noted until now was looked at."""
        await self.to_look_at(world)

    async def _noted(self, world: World, table: str, column: str) -> set[str]:
        after = self._seen.get(table, 0)
        query = f'SELECT n, {column} AS of FROM campaign."{table}" WHERE n > %s'
        rows = await world.rows(query, after)
        self._seen[table] = max([after, *(row["n"] for row in rows)])
        return {row["of"] if column == "workflow" else f"{column} {row['of']}" for row in rows}


def _names(work: Work) -> set[str]:
    """What a log may call a thing of a run."""
    return {
        f"/{work.run}",
        *work.ids,
        *(f"research {one.number}" for one in work.deep),
        *(f"operation {one.number}" for one in work.operations),
        *(one.code for one in work.operations),
    }
