"""Extraction under way: what each node of its graph does.

A source's text is cut once, each chunk is read once, and all that was found is kept in one transaction. A
text that has been fetched anew meanwhile is another one: then nothing is kept of this one.
"""

import asyncio
from dataclasses import InitVar, dataclass

from actors.platform.runtime.run import Run
from actors.systems.knowledge.extraction.assembling import source_knowledge
from actors.systems.knowledge.extraction.chunks import chunk_spans
from models.knowledge.extraction import ExtractionResult, ExtractionTask
from models.knowledge.points import ExtractedChunk
from models.llm import Answer
from models.record import Record
from models.store.database import Connection
from models.store.knowledge import points
from models.store.knowledge.points import TextToRead

# Characters around a chunk that tell whether a word or a number goes on there.
_AROUND = 64


class ChunkSpans(Record):
    """Where each chunk of the source begins and ends; none where the text is another one by now."""

    spans: tuple[tuple[int, int], ...]
    changed: bool


@dataclass  # as LangGraph wants a context to be
class ExtractionSteps:
    """The context of the graph's nodes: the extraction of the run's source.

    Another workflow extracts several: it gives the `task` of each, and a `prefix` of its documents' keys.
    """

    run: InitVar[Run]
    task: InitVar[ExtractionTask | None] = None
    prefix: str = ""

    def __post_init__(self, run: Run, task: ExtractionTask | None) -> None:
        self._run = run
        self._task = task or ExtractionTask.model_validate(run.input)
        self._settings = run.config.knowledge.extraction
        self._room = asyncio.Semaphore(self._settings.chunks_at_once)
        self._reading = asyncio.Lock()
        self._source: TextToRead | None = None

    async def cut(self) -> int:
        """Cut the text into chunks: how many there are."""

        async def spans() -> Answer[ChunkSpans]:
            source = await self._text()
            if source is None:
                return Answer(value=ChunkSpans(spans=(), changed=True))
            found = await asyncio.to_thread(chunk_spans, source.text, max_tokens=self._settings.chunk_tokens)
            return Answer(value=ChunkSpans(spans=tuple(found), changed=False))

        return len((await self._run.once(f"{self.prefix}chunks", ChunkSpans, spans)).spans)

    async def read(self, number: int) -> None:
        """Have the model read a chunk, by its number; asked for once."""
        start, end = self._chunks().spans[number]

        async def ask() -> Answer[ExtractedChunk]:
            async with self._room:
                source = await self._text()
                if source is None:
                    return Answer(value=ExtractedChunk(start=start, end=end, points=()))
                text = source.text
                answer: Answer[ExtractedChunk] = await self._run.agent("extractor").extract(
                    source.title,
                    source.url,
                    text[start:end],
                    start,
                    before=text[max(start - _AROUND, 0) : start],
                    behind=text[end : end + _AROUND],
                )
                return answer

        await self._run.once(f"{self.prefix}chunk/{number}", ExtractedChunk, ask)

    async def keep(self) -> ExtractionResult:
        """Keep what was found, in place of what was found before."""
        chunks = self._chunks()
        read = [
            self._run.kept(f"{self.prefix}chunk/{number}", ExtractedChunk)
            for number in range(len(chunks.spans))
        ]
        knowledge = await asyncio.to_thread(source_knowledge, [chunk for chunk in read if chunk is not None])

        async def act(connection: Connection) -> ExtractionResult:
            kept = not chunks.changed and await points.keep(
                connection,
                self._task.source_id,
                knowledge,
                text_sha256=self._task.text_sha256,
                extracted_with=self._task.extracted_with,
            )
            return ExtractionResult(
                outcome="kept" if kept else "changed",
                chunks=len(chunks.spans),
                points=len(knowledge.points) if kept else 0,
                entities=len(knowledge.entities) if kept else 0,
                dropped=knowledge.dropped if kept else {},
            )

        return await self._run.effect(f"{self.prefix}kept", ExtractionResult, act)

    def recall(self) -> None:
        """Ask for what is kept of an extraction that failed: nothing of it is done again, nor passed over."""
        chunks = self._run.kept(f"{self.prefix}chunks", ChunkSpans)
        for number in range(len(chunks.spans) if chunks else 0):
            self._run.kept(f"{self.prefix}chunk/{number}", ExtractedChunk)

    def _chunks(self) -> ChunkSpans:
        chunks = self._run.kept(f"{self.prefix}chunks", ChunkSpans)
        assert chunks is not None, "the text is cut first"
        return chunks

    async def _text(self) -> TextToRead | None:
        """The source's text; None where it is another one by now. It is read once in each run."""
        async with self._reading:
            if self._source is None:
                self._source = await self._run.database.read(
                    lambda connection: points.text_of(connection, self._task.source_id)
                )
        source = self._source
        return source if source is not None and source.text_sha256 == self._task.text_sha256 else None
