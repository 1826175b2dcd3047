"""Files that appear whole or not at all.

Called by everything that leaves files behind for others: articles, run artifacts, institutional memory,
saved indexes, tables of batches. A reader sees the old content or the new, also when the writer is killed in
between; what he leaves then is removed by whoever first writes beside it from another process.
"""

import errno
import fcntl
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

_ENDING = ".tmp"
_NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS)


class DraftFile:
    """A file being written, which `keep` puts in its place and `drop` removes.

    It lies in the same folder, or in one beside, locked as long as its writer lives: that tells it from what
    a dead one left.
    """

    def __init__(self, path: Path, *, folder: Path | None = None, mark: str = "") -> None:
        """Folders are made. Raises OSError: it can't be written; its `filename` says which.

        Args:
            folder: where it is drafted, on the same file system.
            mark: what its name begins with, in up to 16 hexadecimal digits.
        """
        self.path = path
        folder = folder or path.parent
        folder.mkdir(parents=True, exist_ok=True)
        _sweep(folder)
        while True:
            self._temporary = folder / f".{mark}{uuid.uuid4().hex[len(mark) :]}{_ENDING}"
            # Not tempfile: its files are for their owner only, and others read the articles.
            self.file: BinaryIO = open(self._temporary, "xb")  # noqa: SIM115  # it outlives this call
            if _locks(self.file) and self._temporary.exists():
                return
            self.file.close()  # somebody who sweeps was quicker than the lock

    def keep(self) -> None:
        """Have `path` be it, whole and on disk. Raises OSError."""
        try:
            self.file.flush()
            os.fsync(self.file.fileno())
            os.replace(self._temporary, self.path)
        except BaseException:
            self.drop()
            raise
        self.file.close()
        sync_folder(self.path.parent)

    def drop(self) -> None:
        """Let there be nothing of it."""
        self._temporary.unlink(missing_ok=True)
        self.file.close()


@contextmanager
def written_atomically(path: Path) -> Iterator[BinaryIO]:
    """A file to write, which is at `path` once the block is left, unless by an error. Raises OSError."""
    draft = DraftFile(path)
    try:
        yield draft.file
    except BaseException:
        draft.drop()
        raise
    draft.keep()


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write `content` (text as UTF-8) so that `path` holds the old or the new, whole and on disk.

    Folders are made. The temporary file lies in the same folder and is removed when the write fails.

    Raises:
        OSError: the file can't be written; its `filename` says which.
    """
    with written_atomically(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)


def sync_folder(folder: Path) -> None:
    """Make the entries of a folder durable, a rename for one (see fsync(2) on directories)."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a folder's lock (flock on its `.lock`), against threads and processes on every node.

    The system frees it when its holder dies. The folder must exist.
    """
    with open(folder / ".lock", "a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


# Once from each process: whoever is killed later is followed by another process, and folders may be large.
@lru_cache(maxsize=4096)
def _sweep(folder: Path) -> None:
    """Remove the drafts in a folder that nobody is writing any more."""
    with os.scandir(folder) as entries:
        drafts = [entry.path for entry in entries if _is_draft(entry.name)]
    for draft in drafts:
        try:
            with open(draft, "rb") as file:
                if _locks(file, where_none_can_be=False):
                    os.unlink(draft)
        except OSError:
            continue  # its writer, or another who sweeps, has come before; or it is somebody else's


def _is_draft(name: str) -> bool:
    middle = name.removeprefix(".").removesuffix(_ENDING)
    return name == f".{middle}{_ENDING}" and len(middle) == 32 and not middle.strip("0123456789abcdef")


def _locks(file: BinaryIO, *, where_none_can_be: bool = True) -> bool:
    """Lock it, unless somebody else has: whether it is ours now.

    Args:
        where_none_can_be: the answer on a file system without locks.
    """
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno in _NO_LOCKS:
            return where_none_can_be
        raise
    return True
