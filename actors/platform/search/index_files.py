"""A vector index in memory, and its saved versions on disk.

Called by `VectorIndex`, in threads. Each version is a folder `<index_dir>/<version>` that is renamed into
place when it is whole; `CURRENT` names the one in use. What is saved carries its digests: a version
that is not exactly what was written counts as absent, and is built again.
"""

import hashlib
import json
import logging
import os
import re
import shutil
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from models.content.editorial import Passage
from models.errors import ModelReplyInvalid
from models.files import locked, sync_folder, write_atomically
from models.record import Record

FORMAT = 1
_VERSION = re.compile(r"[0-9a-f]{16}")
_DRAFT = ".draft-"
_log = logging.getLogger(__name__)


class IndexManifest(Record):
    """`manifest.json` of a saved version: what its two other files must be (SHA-256, hex)."""

    format: int
    version: str
    passages: int
    dimensions: int
    index_sha256: str
    passages_sha256: str


@dataclass(frozen=True)
class Index:
    """Passages and their normalised vectors; `vectors` is a faiss IndexFlatIP."""

    version: str
    passages: Sequence[tuple[str, str]]  # citation, text
    vectors: Any

    @classmethod
    def build(cls, version: str, passages: Sequence[tuple[str, str]], vectors: list[list[float]]) -> "Index":
        """An index over passages and their vectors, one each."""
        import faiss

        matrix = normalised(vectors)
        flat = faiss.IndexFlatIP(matrix.shape[1])
        flat.add(matrix)
        return cls(version=version, passages=passages, vectors=flat)

    def nearest(self, vector: list[float], top_k: int) -> list[Passage]:
        """At most `top_k` passages, best first; scores are cosines."""
        query = normalised([vector])
        if query.shape[1] != self.vectors.d:
            raise ModelReplyInvalid(
                f"knowledge base: the embedding model gave {query.shape[1]} numbers, but the index has "
                f"{self.vectors.d}: another model answers to the same name. Correct "
                "embedding.model_name, so that the index is built anew"
            )
        scores, places = self.vectors.search(query, min(top_k, len(self.passages)))
        return [
            Passage(citation=self.passages[place][0], text=self.passages[place][1], score=float(score))
            for score, place in zip(scores[0], places[0], strict=True)
        ]


def normalised(vectors: list[list[float]]) -> Any:
    """The vectors as float32 rows of length 1; a row of zeros stays, and is near to nothing."""
    import numpy

    if len({len(vector) for vector in vectors}) != 1 or not vectors[0]:
        raise ModelReplyInvalid("the embedding model gave vectors of different lengths")
    matrix = numpy.asarray(vectors, dtype=numpy.float32)
    if not numpy.isfinite(matrix).all():
        raise ModelReplyInvalid("the embedding model gave a vector with NaN or infinity")
    lengths = numpy.linalg.norm(matrix, axis=1, keepdims=True)
    return matrix / numpy.where(lengths == 0, 1, lengths)


class IndexFolder:
    """The saved versions under one folder, which several nodes may share."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def load(self, version: str) -> Index | None:
        """A saved version; None where there is none, or it is damaged."""
        import faiss
        import numpy

        folder = self._root / version
        try:
            manifest = IndexManifest.model_validate_json((folder / "manifest.json").read_bytes())
            vectors, lines = (folder / "index.faiss").read_bytes(), (folder / "passages.jsonl").read_bytes()
            found = (manifest.format, manifest.version, _sha256(vectors), _sha256(lines))
            if found != (FORMAT, version, manifest.index_sha256, manifest.passages_sha256):
                raise ValueError("its files are not those of its manifest")
            flat = faiss.deserialize_index(numpy.frombuffer(vectors, dtype=numpy.uint8))
            passages = [(entry["citation"], entry["text"]) for entry in map(json.loads, lines.splitlines())]
        except (OSError, ValueError, RuntimeError) as error:  # RuntimeError is faiss's
            if folder.exists():
                _log.warning("the saved index %s is damaged and will be built again: %s", folder, error)
            return None
        return Index(version=version, passages=passages, vectors=flat)

    def save(self, index: Index) -> None:
        """Write a version, whole or not at all, in place of a damaged one."""
        import faiss

        vectors = faiss.serialize_index(index.vectors).tobytes()
        lines = "".join(
            json.dumps({"citation": citation, "text": text}) + "\n" for citation, text in index.passages
        ).encode()
        manifest = IndexManifest(
            format=FORMAT,
            version=index.version,
            passages=len(index.passages),
            dimensions=index.vectors.d,
            index_sha256=_sha256(vectors),
            passages_sha256=_sha256(lines),
        )
        self._root.mkdir(parents=True, exist_ok=True)
        with locked(self._root):
            for left_behind in self._root.glob(f"{_DRAFT}*"):  # by a writer that died under this lock
                shutil.rmtree(left_behind)
            draft = self._root / f"{_DRAFT}{uuid.uuid4().hex}"
            write_atomically(draft / "index.faiss", vectors)
            write_atomically(draft / "passages.jsonl", lines)
            write_atomically(draft / "manifest.json", manifest.model_dump_json(indent=2))
            target = self._root / index.version
            if target.exists():
                shutil.rmtree(target)
            os.rename(draft, target)
            sync_folder(self._root)

    def use(self, version: str) -> None:
        """Make `CURRENT` name this version, and remove all others but the one before it."""
        current = self._root / "CURRENT"
        if _read(current) == version:
            return
        with locked(self._root):
            before = _read(current)
            write_atomically(current, version)
            for folder in self._root.iterdir():
                if _VERSION.fullmatch(folder.name) and folder.name not in (version, before):
                    shutil.rmtree(folder)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return ""


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
