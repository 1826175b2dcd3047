"""The knowledge base: passages of the site's documents, found by meaning (seed 004 §7.4, §8.1).

Runs as the agent `knowledge_base`; the fact checker and the evidence finder search it. Its version is a
digest of the files and of the settings that shape the index, so what is unchanged is loaded and not
built. A search goes on in the old index while a new one is built.
"""

import asyncio
import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, TypeVar

from actors.runtime.chunks import Chunker
from actors.runtime.embedder import Embedder, OpenAIEmbedder, waits_for
from actors.runtime.index_files import FORMAT, Index, IndexFolder
from models.config import BreakerConfig, KnowledgeBaseConfig
from models.editorial import Passage
from models.errors import KnowledgeBaseInvalid, ModelUnavailable

A = TypeVar("A")
R = TypeVar("R")

_SUFFIXES = (".txt", ".md")


@dataclass(frozen=True)
class Document:
    """A file of the knowledge base; `name` is its path under `data_dir`, with `/`."""

    name: str
    text: str
    digest: str


class VectorIndex:
    """A FAISS index over the `.txt` and `.md` files under `data_dir`."""

    def __init__(
        self,
        *,
        settings: KnowledgeBaseConfig,
        embedder: Embedder | None = None,
        breaker: BreakerConfig | None = None,
    ) -> None:
        self._settings = settings
        self._embedder = embedder or OpenAIEmbedder(settings=settings.embedding, breaker=breaker)
        self._folder = IndexFolder(settings.index_dir)
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
            KnowledgeBaseInvalid: the documents or the settings can't be indexed, or the index can't be saved.
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
        try:
            async with asyncio.timeout(self._settings.timeout_seconds):
                [vector] = await self._embedder.embed([clipped])
        except TimeoutError as error:
            raise ModelUnavailable(
                "knowledge base: the query's embedding was not there within knowledge_base.timeout_seconds "
                f"({self._settings.timeout_seconds:g} s)",
                waits_for=waits_for(self._settings.embedding),
            ) from error
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
                self._chunker = await asyncio.to_thread(lambda: Chunker(settings=self._settings))
            documents = await asyncio.to_thread(read_documents, self._settings.data_dir)
            version = index_version(documents, settings=self._settings, tokenizer=self._chunker.digest)
            if self._index is not None and self._index.version == version:
                return version
            index = await self._on_disk(self._folder.load, version)
            if index is None:
                index = await self._build(version, documents, self._chunker)
                await self._on_disk(self._folder.save, index)
            await self._on_disk(self._folder.use, version)
            self._index = index
            return version

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


def index_version(documents: list[Document], *, settings: KnowledgeBaseConfig, tokenizer: str) -> str:
    """16 hex digits over the documents, in order, and all that shapes an index.

    `tokenizer` is the digest of its file.
    """
    what = {
        "format": FORMAT,
        "documents": [(document.name, document.digest) for document in documents],
        "model_name": settings.embedding.model_name,
        "max_input_tokens": settings.embedding.max_input_tokens,
        "chunk_size_tokens": settings.chunk_size_tokens,
        "chunk_overlap_tokens": settings.chunk_overlap_tokens,
        "tokenizer": tokenizer,
    }
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:16]


def read_documents(data_dir: Path) -> list[Document]:
    """The `.txt` and `.md` files under a folder, by name; hidden files and folders are left out.

    Raises:
        KnowledgeBaseInvalid: the folder or a file can't be read, is not UTF-8, or there is no file.
    """

    def refuse(error: OSError) -> NoReturn:
        raise KnowledgeBaseInvalid(
            f"knowledge_base.data_dir: {error.filename} can't be read: {error.strerror}. Put the documents "
            "(.txt, .md) into a folder that this node sees and this user can read"
        ) from error

    documents = []
    for folder, folders, names in os.walk(data_dir, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            if name.startswith(".") or not name.lower().endswith(_SUFFIXES):
                continue
            path = Path(folder, name)
            try:
                content = path.read_bytes()
                documents.append(
                    Document(
                        name=path.relative_to(data_dir).as_posix().encode().decode(),
                        text=content.decode("utf-8-sig"),
                        digest=hashlib.sha256(content).hexdigest(),
                    )
                )
            except OSError as error:
                refuse(error)
            except UnicodeError as error:
                raise KnowledgeBaseInvalid(
                    f"knowledge_base.data_dir: {os.fsencode(path).decode(errors='backslashreplace')} is not "
                    f"UTF-8, name and content: {error}. Convert it, or move it away"
                ) from error
    if not documents:
        raise KnowledgeBaseInvalid(
            f"knowledge_base.data_dir: {data_dir} holds no .txt or .md file: put the documents there"
        )
    return sorted(documents, key=lambda document: document.name)
