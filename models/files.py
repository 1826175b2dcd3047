"""Files that appear whole or not at all.

Called by everything that leaves files behind for others: articles, run artifacts, institutional memory,
saved indexes. A reader sees the old content or the new, also when the writer is killed in between.
"""

import fcntl
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write `content` (text as UTF-8) so that `path` holds the old or the new, whole and on disk.

    Folders are made. The temporary file lies in the same folder and is removed when the write fails.

    Raises:
        OSError: the file can't be written; its `filename` says which.
    """
    data = content.encode() if isinstance(content, str) else content
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.parent / f".{uuid.uuid4().hex}.tmp"
    try:
        # Not tempfile: its files are for their owner only, and others read the articles.
        with open(temporary, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


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
