"""Files that tell how something stands, at one version of it; a late writer never puts an older one back.

A file system has no fence, so each file is drafted first, in a folder of its own beside its place. Whoever
has drafted looks whether his version still is the one, and only then keeps; that takes the drafts of all
other versions away. So who was paused since he looked has nothing left that he could put in its place.
"""

import contextlib
import hashlib
from collections.abc import Mapping
from pathlib import Path

from models.files import DraftFile

_MARK_DIGITS = 16
# A folder that was empty may be removed while somebody is about to draft in it.
_TRIES = 20


class VersionedFiles:
    """Files of one version, drafted. See that it still is the one, then `keep` them, and `drop` in any case.

    Who writes the same version at the same time writes the same.
    """

    def __init__(self, files: Mapping[Path, str], *, version: str) -> None:
        """Folders are made. Raises OSError: one can't be written; its `filename` says which."""
        self._mark = hashlib.sha256(version.encode()).hexdigest()[:_MARK_DIGITS]
        self._drafts: list[DraftFile] = []
        try:
            for path, text in files.items():
                self._drafts.append(draft := self._draft(path))
                draft.file.write(text.encode())
        except BaseException:
            self.drop()
            raise

    def keep(self) -> bool:
        """Put them in their places, one after the other; each appears whole and is on disk.

        Returns:
            False where a writer of another version was here meanwhile: what he wrote stays.

        Raises:
            OSError: one can't be written; its `filename` says which.
        """
        try:
            for draft in self._drafts:
                for other in _drafts_of(draft.path).iterdir():
                    if not other.name.startswith(f".{self._mark}"):
                        other.unlink(missing_ok=True)
                draft.keep()
        except FileNotFoundError:
            return False
        return True

    def drop(self) -> None:
        """Let there be nothing of what is not kept."""
        for draft in self._drafts:
            draft.drop()
            with contextlib.suppress(OSError):  # others draft there
                _drafts_of(draft.path).rmdir()

    def _draft(self, path: Path) -> DraftFile:
        for _ in range(_TRIES):
            with contextlib.suppress(FileNotFoundError):
                return DraftFile(path, folder=_drafts_of(path), mark=self._mark)
        return DraftFile(path, folder=_drafts_of(path), mark=self._mark)


def _drafts_of(path: Path) -> Path:
    return path.parent / f".{path.name}.drafts"
