"""Folders that bring-up needs: our own, writable data, and short private places for Unix sockets.

A Unix socket's path may have at most 107 bytes, so what listens on one for a data folder with a
long path gets a folder under /tmp that is named after a digest of that path.
"""

import hashlib
import os
import stat
import tempfile
from pathlib import Path

from models.errors import ClusterProblem

# Where Signoff's own code and configurations lie.
ROOT = Path(__file__).resolve().parent.parent
SOCKET_PATH_BYTES = 107


def ensure_writable(folder: Path) -> None:
    """Make the folder if need be, and write a file in it.

    Raises:
        ClusterProblem: it can't be made, or not be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".writable-"):
            pass
    except OSError as error:
        raise ClusterProblem(
            f"can't write the data folder {folder}: {error.strerror or error}: "
            "give this user the right to write there, or set data_dir to another folder"
        ) from error


def short_folder(purpose: str, data_dir: Path) -> Path:
    """The short stand-in under /tmp for something that belongs to `data_dir`. It isn't made here."""
    digest = hashlib.sha256(os.fsencode(data_dir)).hexdigest()[:10]
    return Path("/tmp") / f"signoff-{purpose}-{digest}"


def ensure_private(folder: Path, owner: int) -> None:
    """Make a folder that only `owner` (a user id) may enter.

    /tmp belongs to everyone: a folder of that name made by another user is refused, because its
    owner could put a socket of his own there.

    Raises:
        ClusterProblem: somebody else's folder, or not a folder, has the name.
    """
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        if stat.S_ISDIR(found.st_mode) and os.geteuid() == 0 and found.st_uid == 0 != owner:
            os.chown(folder, owner, -1)
            found = folder.lstat()
    except OSError as error:
        raise ClusterProblem(f"can't make the folder {folder}: {error.strerror or error}") from error
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != owner:
        raise ClusterProblem(f"{folder} belongs to another user: remove it, or set another data_dir")
    os.chmod(folder, 0o700)
