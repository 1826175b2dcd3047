"""The agent `extractor`: reads chunks of sources for what is known, and says which entities are one.

Called by the steps of extraction, and by the batch when all of its sources are read. Seed 002 §7.3,
AnalyzerAgent.
"""

from collections.abc import Collection
from functools import partial

from actors.platform.llm.client import Completions
from actors.platform.search.embedder import Embedder, OpenAIEmbedder
from actors.platform.search.index_files import normalised
from actors.systems.knowledge.entities.project_merging import merge_project
from actors.systems.knowledge.extraction.extractor import Extractor
from models.config import BreakerConfig, EmbeddingConfig, ExtractionConfig
from models.knowledge.points import ExtractedChunk
from models.llm import Answer
from models.store.database import Database
from models.store.knowledge import entities

_NAMES_AT_ONCE = 4096
_LONGEST_NAME = 200
_POOL_SIZE = 2


class KnowledgeExtractor:
    """Extracts with the model of `knowledge.extraction`, and embeds names with that of `embedding`."""

    def __init__(
        self,
        *,
        settings: ExtractionConfig,
        breaker: BreakerConfig,
        prompt: str,
        embedding: EmbeddingConfig,
        database_url: str,
        completions: Completions | None = None,
        embedder: Embedder | None = None,
    ) -> None:
        self._settings = settings
        self._embedding = embedding
        self._database_url = database_url
        self._extractor = Extractor(
            settings=settings, breaker=breaker, prompt=prompt, completions=completions
        )
        self._embedder = embedder or OpenAIEmbedder(settings=embedding, breaker=breaker)

    async def extract(
        self, title: str | None, url: str | None, piece: str, start: int, before: str = "", behind: str = ""
    ) -> Answer[ExtractedChunk]:
        """The points of a piece of a source that begins at `start`; their spans are in the source.

        `before` and `behind` are some of what stands around it there: its edges cut no word and no number.

        Raises:
            ModelUnavailable: the model is away.
        """
        chunk = len(before), len(before) + len(piece)
        answer = await self._extractor.extract(title, url, f"{before}{piece}{behind}", chunk)
        return Answer(value=_moved(answer.value, start - len(before)), calls=answer.calls)

    async def merge_entities(self, project_id: int) -> tuple[int, int]:
        """Bring the merges of a project's entities in line: how many are new, and how many went.

        Raises:
            ModelUnavailable: the embedding model is away.
        """
        model = self._embedding.model_name
        async with Database(url=self._database_url, pool_size=_POOL_SIZE) as database:
            while True:
                async with database.connection() as connection:
                    waiting = await entities.without_vector(
                        connection, project_id, model=model, limit=_NAMES_AT_ONCE
                    )
                if not waiting:
                    break
                vectors = await self._vectors({name[:_LONGEST_NAME] for _, name in waiting})
                rows = [(id_, vectors[name[:_LONGEST_NAME]]) for id_, name in waiting]
                await database.write(partial(entities.put_vectors, vectors=rows, model=model))
            return await merge_project(
                database, project_id, model=model, least_cosine=self._settings.least_cosine
            )

    async def _vectors(self, names: Collection[str]) -> dict[str, bytes]:
        """Of each name; sources name the same again and again."""
        matrix = normalised(await self._embedder.embed(list(names)))
        return {name: row.astype("<f4").tobytes() for name, row in zip(names, matrix, strict=True)}


def _moved(chunk: ExtractedChunk, by: int) -> ExtractedChunk:
    points = tuple(
        point.model_copy(
            update={
                "span": point.span.model_copy(
                    update={"start": point.span.start + by, "end": point.span.end + by}
                )
            }
        )
        for point in chunk.points
    )
    return chunk.model_copy(update={"start": chunk.start + by, "end": chunk.end + by, "points": points})
