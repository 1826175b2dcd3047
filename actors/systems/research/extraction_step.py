"""From sources to points: each source is read once for what it says, and what a research rests on is kept.

Called by the steps. What was extracted before, by whichever research, is not extracted again. A source that
fails, or that a limit leaves no room for, is left, and the rest goes on. Seed 002 §5 (node 6).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from actors.platform.runtime.concurrency import gather_all
from actors.platform.runtime.run import Run
from actors.systems.knowledge.extraction.prompt import extracted_with
from actors.systems.knowledge.extraction.steps import ExtractionSteps
from actors.systems.research.limits import ResearchMeter, own_failure
from models.knowledge.extraction import ExtractionTask
from models.llm import Answer, ModelCall
from models.record import Record
from models.research.agent_workflows import AgentWorkflow
from models.research.limits import LeftUndone, Limit
from models.store.database import Connection
from models.store.knowledge import points, sources
from models.store.knowledge.points import TextToRead
from models.store.research import candidates, evidence, progress
from models.text import how_many

_ANOTHER_TEXT = "somebody has put another text in its place since it was read, which nobody let in"


class SourceToExtract(Record):
    """A source to be read for knowledge; no task where that was done before, or where it is left."""

    task: ExtractionTask | None
    left: LeftUndone | None = None


class PageSources(Record):
    """The sources that a research has read, by their ids; `texts` are digests of what was let in of them."""

    ids: tuple[int, ...]
    texts: Mapping[int, str] = {}


class PointsKept(Record):
    """That the points are kept, how many there are, and which of how many sources were left."""

    count: int
    sources: int = 0
    left: tuple[LeftUndone, ...] = ()


@dataclass(frozen=True)
class ExtractionStep:
    """The extracting of one research."""

    run: Run
    research: AgentWorkflow
    meter: ResearchMeter

    async def points(self, *, of_project: bool) -> PointsKept:
        """Have what was read extracted, source by source; what it rests on now.

        Args:
            of_project: of all sources of the project, and not only of those that it has read itself.
        """

        async def look(connection: Connection) -> PageSources:
            await progress.finish(connection, self.research.id, "await_unreadable_review")
            texts = await candidates.texts_let_in(connection, self.research.id)
            if of_project:
                held = tuple(await sources.with_text(connection, self.research.project_id))
                return PageSources(ids=held, texts=texts)
            return PageSources(
                ids=tuple(await candidates.sources_of(connection, self.research.id)), texts=texts
            )

        read = await self.run.effect("sources", PageSources, look)
        ids = read.ids
        left = [
            one
            for source_id in ids
            if (one := await self._extract(source_id, read.texts.get(source_id))) is not None
        ]

        async def act(connection: Connection) -> PointsKept:
            found = await evidence.keep(connection, self.research.id, ids, read.texts)
            await progress.say(
                connection,
                self.research.id,
                agent="analyzer",
                step="extract_knowledge",
                content=f"{how_many(found, 'point is', 'points are')} known from {len(ids) - len(left)} of "
                f"{how_many(len(ids), 'source')}",
                reasoning="; ".join(
                    (
                        "each rests on words of its source; what its quote did not show was dropped",
                        *(f"{one.name} was left: {one.reason}" for one in left),
                    )
                ),
            )
            await progress.finish(connection, self.research.id, "extract_knowledge", result={"points": found})
            return PointsKept(count=found, sources=len(ids), left=tuple(left))

        return await self.run.effect("extracted", PointsKept, act)

    async def _extract(self, source_id: int, let_in: str | None) -> LeftUndone | None:
        """Have a source extracted; why it was not, if it was left.

        Args:
            let_in: the digest of its text that this research has read; another text is not what was let in.
        """
        key = f"source/{source_id}"
        made_with = extracted_with(self.run.config.knowledge.extraction)

        async def look() -> Answer[SourceToExtract]:
            async with self.run.database.connection() as connection:
                source = await points.text_of(connection, source_id)
                done = await points.is_extracted(connection, source_id, extracted_with=made_with)
            if source is not None and let_in not in (None, source.text_sha256):
                return Answer(value=SourceToExtract(task=None, left=_left(source_id, source, _ANOTHER_TEXT)))
            if source is None or done:
                return Answer(value=SourceToExtract(task=None))
            if (stop := await self.meter.stops(key)) is not None:
                left = _left(source_id, source, stop.reason, stop.limit)
                return Answer(value=SourceToExtract(task=None, left=left))
            task = ExtractionTask(
                project_id=self.research.project_id,
                source_id=source_id,
                text_sha256=source.text_sha256,
                extracted_with=made_with,
            )
            return Answer(value=SourceToExtract(task=task))

        begun = await self.run.once(f"{key}/task", SourceToExtract, look)
        if begun.task is None:
            if begun.left is not None:
                self.meter.tell(key, begun.left.limit)
            return begun.left
        self.meter.tell(key, None)
        steps = ExtractionSteps(run=self.run, task=begun.task, prefix=f"{key}/")
        if (left := self.run.kept(f"{key}/left", LeftUndone)) is not None:
            steps.recall()
            return left
        try:
            count = await steps.cut()
            await gather_all(steps.read(number) for number in range(count))
            await steps.keep()
        except Exception as error:  # noqa: BLE001  # what is no fault of the source goes on
            return await self._failed(source_id, error)
        return None

    async def _failed(self, source_id: int, error: Exception) -> LeftUndone:
        """Keep that a source failed, with the calls that the failure tells of."""
        reason = own_failure(error, f"source {source_id} of research {self.research.id}")

        async def leave() -> Answer[LeftUndone]:
            async with self.run.database.connection() as connection:
                source = await points.text_of(connection, source_id)
            calls: tuple[ModelCall, ...] = getattr(error, "calls", ())
            return Answer(value=_left(source_id, source, reason), calls=calls)

        return await self.run.once(f"source/{source_id}/left", LeftUndone, leave)


def _left(source_id: int, source: TextToRead | None, reason: str, limit: Limit | None = None) -> LeftUndone:
    name = f"source {source_id}" if source is None else source.title or source.url
    return LeftUndone(what="source", id=str(source_id), name=name, limit=limit, reason=reason)
