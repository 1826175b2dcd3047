"""Files of segments: each written whole under a name of its own, never changed, and checked when it is read.

Called by the building and the searching of segments. What is not exactly what was written counts as absent,
and is built again from the vectors in Postgres. Files that no segment names go after a while.
"""

import hashlib
import logging
import os
import time
import uuid
from collections.abc import Collection
from pathlib import Path
from typing import Any, NamedTuple

from models.files import sync_folder
from models.knowledge.passages import IndexSegment

_ENDING = ".faiss"
_DRAFT = ".tmp"
_READ_BYTES = 1 << 20
_log = logging.getLogger(__name__)


class WrittenFile(NamedTuple):
    """A segment's file, by its path under the folder."""

    file: str
    sha256: str
    bytes: int


class SegmentFiles:
    """The files under `knowledge.index.dir`, which nodes share: a folder for each project."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def write(self, project_id: int, index: Any) -> WrittenFile:
        """Write an index, whole and on disk, or not at all. OSError where that can't be done."""
        import faiss

        folder = self._root / str(project_id)
        folder.mkdir(parents=True, exist_ok=True)
        name = f"{uuid.uuid4().hex}{_ENDING}"
        draft = folder / f".{name}{_DRAFT}"
        try:
            try:
                faiss.write_index(index, str(draft))
            except RuntimeError as error:  # FAISS's; its message has the system's reason
                raise OSError(f"{draft} can't be written: {error}") from error
            with open(draft, "rb+") as file:
                os.fsync(file.fileno())
            digest, size = _sha256(draft), draft.stat().st_size
            os.replace(draft, folder / name)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
        sync_folder(folder)
        return WrittenFile(f"{project_id}/{name}", digest, size)

    def read(self, segment: IndexSegment, *, mapped: bool = False) -> Any | None:
        """A segment's FAISS index; None where its file is not there, or not what was written.

        Args:
            mapped: its pages stay in the file, and come when they are looked at.
        """
        import faiss

        if not self.is_whole(segment):
            return None
        flags = faiss.IO_FLAG_MMAP_IFC | faiss.IO_FLAG_READ_ONLY if mapped else 0
        try:
            return faiss.read_index(str(self._root / segment.file), flags)
        except RuntimeError as error:  # FAISS's
            _log.warning("the segment's file %s can't be read: %s", segment.file, error)
            return None

    def is_whole(self, segment: IndexSegment) -> bool:
        """Whether a segment's file is what was written."""
        path = self._root / segment.file
        try:
            if path.stat().st_size == segment.bytes and _sha256(path) == segment.sha256:
                return True
            reason = "it is not what was written"
        except OSError as error:
            reason = error.strerror or str(error)
        _log.warning("the segment's file %s is damaged: %s", segment.file, reason)
        return False

    def touch(self, file: str) -> None:
        """Say of a file that it was needed until now."""
        try:
            os.utime(self._root / file)
        except FileNotFoundError:
            _log.warning("the segment's file %s is gone", file)

    def sweep(self, named: Collection[str], *, older_than_seconds: float) -> int:
        """Remove what no segment names and nobody has needed for so long; how many files."""
        removed = 0
        for pattern in (f"*/*{_ENDING}", f"*/.*{_DRAFT}"):
            for path in self._root.glob(pattern):
                if f"{path.parent.name}/{path.name}" in named:
                    continue
                try:
                    if time.time() - path.stat().st_mtime > older_than_seconds:
                        path.unlink()
                        removed += 1
                except FileNotFoundError:  # another swept it
                    continue
        return removed


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(_READ_BYTES):
            digest.update(block)
    return digest.hexdigest()
