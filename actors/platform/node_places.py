"""Places for heavy work on a node: as many at once as are allowed, over all processes of this user there.

A place is a lock on a file, which the kernel gives back when its process ends, however that ends.
"""

import asyncio
import fcntl
import os
import stat
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from models.errors import PlacesTaken

_LOOK_SECONDS = 0.1


@asynccontextmanager
async def taken(what: str, count: int, *, seconds: float) -> AsyncIterator[None]:
    """Hold one of `count` places of a kind, once one is free.

    Raises:
        PlacesTaken: none has been free for `seconds`.
    """
    folder = _folder()
    place: int | None = None
    try:
        async with asyncio.timeout(seconds):
            while (place := _free(folder, what, count)) is None:  # noqa: ASYNC110  # others are processes
                await asyncio.sleep(_LOOK_SECONDS)
    except TimeoutError as error:
        raise PlacesTaken(
            f"{what}: {count} are at work on this node already: try again later", retry_after_seconds=seconds
        ) from error
    try:
        yield
    finally:
        os.close(place)


def _free(folder: Path, what: str, count: int) -> int | None:
    """The open file of a place that is now ours; None where all are taken."""
    for number in range(count):
        opened = os.open(
            folder / f"{what}-{number}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600
        )
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(opened)
        else:
            return opened
    return None


def _folder() -> Path:
    """A folder of this user on this node: /tmp is everybody's, so one that another has made is refused."""
    folder = Path(tempfile.gettempdir()) / f"signoff-places-{os.geteuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise PlacesTaken(f"{folder} belongs to another user: have it removed", retry_after_seconds=60)
    return folder
