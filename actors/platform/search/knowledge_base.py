"""The knowledge base: passages of the site's documents, found by meaning (seed 004 §7.4, §8.1).

Runs as the agent `knowledge_base`; the fact checker and the evidence finder search it. Its version is a
digest of the files and of the settings that shape the index, so what is unchanged is loaded and not
built. A search goes on in the old index while a new one is built.
"""

import asyncio
import hashlib
import json
from collections.abc import Callable, Sequence
from typing import TypeVar

from actors.platform.search.chunks import Chunker
from actors.platform.search.document_files import Document, DocumentFiles, Named
from actors.platform.search.embedder import Embedder, OpenAIEmbedder, vector_of_query
from actors.platform.search.index_files import FORMAT, Index, IndexFolder
from models.config import BreakerConfig, EmbeddingConfig, KnowledgeBaseConfig
from models.content.editorial import Passage
from models.errors import KnowledgeBaseInvalid

A = TypeVar("A")
R = TypeVar("R")


class VectorIndex:
    """A FAISS index over the `.txt` and `.md` files under `data_dir`."""

    def __init__(
        self,
        *,
        settings: KnowledgeBaseConfig,
        embedding: EmbeddingConfig,
        embedder: Embedder | None = None,
        breaker: BreakerConfig | None = None,
    ) -> None:
        self._settings = settings
        self._embedding = embedding
        self._embedder = embedder or OpenAIEmbedder(settings=embedding, breaker=breaker)
        self._folder = IndexFolder(settings.index_dir)
        self._files = DocumentFiles(settings.data_dir)
        self._chunker: Chunker | None = None
        self._index: Index | None = None
        self._lock = asyncio.Lock()
        self._next: asyncio.Task[str] | None = None
        self._tasks: set[asyncio.Task[str]] = set()

    async def refresh(self) -> str:
        """Bring the index up to date with the files, and return its version.

        One refresh runs at a time, and who asks while one waits its turn shares it. It goes on when its
        caller is cancelled, because others may be waiting for it.

        Raises:
            KnowledgeBaseInvalid (an outage): documents or settings can't be indexed, or the index not saved.
            ModelUnavailable, ModelReplyInvalid: the embedding model.
        """
        if self._next is None:
            self._next = asyncio.create_task(self._refresh())
            self._tasks.add(self._next)
            self._next.add_done_callback(self._tasks.discard)
        return await asyncio.shield(self._next)

    async def version(self) -> str:
        """The version of the index that is searched; it is made first where there is none yet."""
        return (await self._ready()).version

    async def search(self, query: str, top_k: int) -> list[Passage]:
        """At most `top_k` passages, best first; `score` is a cosine. A blank query finds nothing.

        A query that is longer than the embedding model reads is cut there.

        Raises:
            ModelUnavailable: the query's vector was not there within `timeout_seconds`.
        """
        index = await self._ready()
        if top_k < 1 or not query.strip():
            return []
        assert self._chunker is not None
        clipped = await asyncio.to_thread(self._chunker.clip, query)
        vector = await vector_of_query(
            clipped,
            self._embedder,
            within=self._settings.timeout_seconds,
            embedding=self._embedding,
            late="knowledge base: the query's embedding was not there within knowledge_base.timeout_seconds",
        )
        return await asyncio.to_thread(index.nearest, vector, top_k)

    async def _ready(self) -> Index:
        if self._index is None:
            await self.refresh()
        assert self._index is not None
        return self._index

    async def _refresh(self) -> str:
        async with self._lock:
            # Who asks from here on may have changed a file since, and needs another look.
            self._next = None
            if self._chunker is None:
                self._chunker = await asyncio.to_thread(
                    lambda: Chunker(settings=self._settings, embedding=self._embedding)
                )
            version = self._version_of(await asyncio.to_thread(self._files.look), self._chunker)
            if self._index is not None and self._index.version == version:
                return version
            index = await self._on_disk(self._folder.load, version)
            if index is None:
                # A file may have changed since the look: what is indexed is what is read now.
                documents = await asyncio.to_thread(self._files.read)
                version = self._version_of(documents, self._chunker)
                index = await self._build(version, documents, self._chunker)
                await self._on_disk(self._folder.save, index)
            await self._on_disk(self._folder.use, version)
            self._index = index
            return version

    def _version_of(self, documents: Sequence[Named], chunker: Chunker) -> str:
        return index_version(
            documents, settings=self._settings, embedding=self._embedding, tokenizer=chunker.digest
        )

    async def _on_disk(self, verb: Callable[[A], R], argument: A) -> R:
        try:
            return await asyncio.to_thread(verb, argument)
        except OSError as error:
            raise KnowledgeBaseInvalid(
                f"knowledge_base.index_dir: {error.filename or self._settings.index_dir} can't be used: "
                f"{error.strerror or error}. Name a folder that this user can write, on a disk with room"
            ) from error

    async def _build(self, version: str, documents: list[Document], chunker: Chunker) -> Index:
        passages: list[tuple[str, str]] = []
        for document in documents:
            texts = await asyncio.to_thread(chunker.split, document.text)
            passages += [(f"{document.name}#{n}", text) for n, text in enumerate(texts, start=1)]
        if not passages:
            raise KnowledgeBaseInvalid(
                f"knowledge_base.data_dir: no file in {self._settings.data_dir} holds any text"
            )
        vectors = await self._embedder.embed([text for _, text in passages])
        return await asyncio.to_thread(Index.build, version, passages, vectors)


def index_version(
    documents: Sequence[Named], *, settings: KnowledgeBaseConfig, embedding: EmbeddingConfig, tokenizer: str
) -> str:
    """16 hex digits over the documents, in order, and all that shapes an index.

    `tokenizer` is the digest of its file.
    """
    what = {
        "format": FORMAT,
        "documents": [(document.name, document.digest) for document in documents],
        "model_name": embedding.model_name,
        "max_input_tokens": embedding.max_input_tokens,
        "chunk_size_tokens": settings.chunk_size_tokens,
        "chunk_overlap_tokens": settings.chunk_overlap_tokens,
        "tokenizer": tokenizer,
    }
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:16]
