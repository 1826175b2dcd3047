"""Passages made of sources: cut, and embedded a group at a time, of many sources together.

Called by the agent `knowledge_index` and the batch. One source that can't be embedded is told by itself, and
takes none of its group with it.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence

from actors.platform.search.embedder import Embedder
from actors.platform.search.index_files import normalised
from actors.systems.knowledge.index.source_passages import PassageCutter
from models.errors import ModelReplyInvalid, SignoffError
from models.knowledge.passages import MadePassage, SourceText

# Texts that are embedded together: enough for an encoder to sort them by length.
_GROUP = 512

# A source, and what came of it: its passages, or why there are none.
Made = tuple[SourceText, list[MadePassage] | Exception]
_Cut = tuple[SourceText, list[tuple[int, int]]]


class PassageEmbedder:
    """Makes passages with one way of cutting and one embedding model."""

    def __init__(self, *, cutter: PassageCutter, embedder: Embedder) -> None:
        self._cutter = cutter
        self._embedder = embedder
        self.made_with = cutter.made_with

    async def made(self, sources: Iterable[SourceText]) -> AsyncIterator[list[Made]]:
        """What comes of sources, a group at a time.

        Raises:
            SignoffError: an outage: the embedding model is away. It is no verdict on any source.
        """
        group: list[_Cut] = []
        size = 0
        for source in sources:
            try:
                spans = await asyncio.to_thread(self._cutter.spans, source.text)
            except Exception as error:  # noqa: BLE001  # told as this source's own
                yield [(source, error)]
                continue
            if group and size + len(spans) > _GROUP:
                yield await self._of_group(group)
                group, size = [], 0
            group.append((source, spans))
            size += len(spans)
        if group:
            yield await self._of_group(group)

    async def _of_group(self, group: Sequence[_Cut]) -> list[Made]:
        try:
            return await self._embedded(group)
        except Exception as error:  # whatever it was: it is told of whom it belongs to
            if isinstance(error, SignoffError) and error.outage:
                raise
            if len(group) == 1:
                return [(group[0][0], error)]
        return [made for one in group for made in await self._of_group([one])]

    async def _embedded(self, group: Sequence[_Cut]) -> list[Made]:
        texts = [source.text[start:end] for source, spans in group for start, end in spans]
        vectors: list[bytes] = []
        for first in range(0, len(texts), _GROUP):
            some = texts[first : first + _GROUP]
            rows = normalised(await self._embedder.embed(some))
            if len(rows) != len(some):
                raise ModelReplyInvalid(f"the embedding model gave {len(rows)} vectors for {len(some)} texts")
            vectors += [row.astype("<f4").tobytes() for row in rows]
        left = iter(zip(texts, vectors, strict=True))
        return [
            (source, [MadePassage(start, end, *next(left)) for start, end in spans])
            for source, spans in group
        ]
