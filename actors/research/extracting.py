"""From sources to points: each source is read once for what it says, and what a research rests on is kept.

Called by the steps. What was extracted before, by whichever research, is not extracted again. Seed 002 §5
(node 6).
"""

from dataclasses import dataclass

from actors.knowledge.extraction.prompt import extracted_with
from actors.knowledge.extraction.steps import ExtractionSteps
from actors.research.gathering import all_of
from actors.runtime.run import Run
from models.knowledge.extraction import ExtractionTask
from models.llm import Answer
from models.record import Record
from models.research.agent_workflows import AgentWorkflow
from models.store.database import Connection
from models.store.knowledge import points, sources
from models.store.research import candidates, evidence, progress


class SourceToExtract(Record):
    """A source whose text is still to be read for knowledge; no task where that was done before."""

    task: ExtractionTask | None


class PageSources(Record):
    """The sources that a research has read, by their ids."""

    ids: tuple[int, ...]


class PointsKept(Record):
    """That the points are kept, and how many there are."""

    count: int


@dataclass(frozen=True)
class Extracting:
    """The extracting of one research."""

    run: Run
    research: AgentWorkflow

    async def points(self, *, of_project: bool) -> int:
        """Have what was read extracted, source by source; how many points it rests on now.

        Args:
            of_project: of all sources of the project, and not only of those that it has read itself.
        """

        async def look(connection: Connection) -> PageSources:
            await progress.finish(connection, self.research.id, "await_unreadable_review")
            if of_project:
                return PageSources(ids=tuple(await sources.with_text(connection, self.research.project_id)))
            return PageSources(ids=tuple(await candidates.sources_of(connection, self.research.id)))

        ids = (await self.run.effect("sources", PageSources, look)).ids
        for source_id in ids:
            await self._extract(source_id)

        async def act(connection: Connection) -> PointsKept:
            found = await evidence.keep(connection, self.research.id, ids)
            await progress.say(
                connection,
                self.research.id,
                agent="analyzer",
                step="extract_knowledge",
                content=f"{found} points are known from {len(ids)} sources",
                reasoning="each rests on words of its source; what its quote did not show was dropped",
            )
            await progress.finish(connection, self.research.id, "extract_knowledge", result={"points": found})
            return PointsKept(count=found)

        return (await self.run.effect("extracted", PointsKept, act)).count

    async def _extract(self, source_id: int) -> None:
        made_with = extracted_with(self.run.config.knowledge.extraction)

        async def look() -> Answer[SourceToExtract]:
            async with self.run.database.connection() as connection:
                source = await points.text_of(connection, source_id)
                done = await points.is_extracted(connection, source_id, extracted_with=made_with)
            if source is None or done:
                return Answer(value=SourceToExtract(task=None))
            task = ExtractionTask(
                project_id=self.research.project_id,
                source_id=source_id,
                text_sha256=source.text_sha256,
                extracted_with=made_with,
            )
            return Answer(value=SourceToExtract(task=task))

        task = (await self.run.once(f"source/{source_id}/task", SourceToExtract, look)).task
        if task is None:
            return
        steps = ExtractionSteps(run=self.run, task=task, prefix=f"source/{source_id}/")
        count = await steps.cut()
        await all_of(steps.read(number) for number in range(count))
        await steps.keep()
