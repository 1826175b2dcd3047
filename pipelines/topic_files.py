"""Which topic files there are, on any filesystem pyarrow knows. `edit_articles` calls it, in the driver.

A file whose name is not UTF-8 is a row that is refused: it stops no other.
Local folders are listed here, because pyarrow gives up a whole folder for one such name, and follows links
that lead round in circles for ever.
"""

import hashlib
import os
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow.fs

from models.errors import PathNotVisible
from pipelines.rows import open_path
from pipelines.topics import TopicRow


def find_topic_files(
    topics: str, *, roots: Iterable[Path]
) -> tuple[pyarrow.fs.FileSystem, list[str], list[TopicRow]]:
    """The `.json` files of a folder (or the one file), and the filesystem they are on.

    Args:
        topics: a path, relative to the first of `roots` that has it, or a URI such as `s3://…`.
        roots: folders that a relative local path may be relative to.

    Returns:
        The filesystem, the paths in order, and a refused row for each file that can't be read by its name.

    Raises:
        PathNotVisible: nothing is there, or nothing that could be a topic.
    """
    filesystem, base = open_path("--topics", topics, roots)
    try:
        paths = sorted(_local(base) if filesystem.type_name == "local" else _remote(filesystem, base))
    except UnicodeDecodeError as error:
        name = error.object.decode(errors="replace")
        raise PathNotVisible(f"--topics {topics}: the name of {name} is not UTF-8: rename it") from error
    except OSError as error:
        raise PathNotVisible(f"--topics {topics}: can't be read: {error}") from error
    if not paths:
        raise PathNotVisible(f"--topics {topics}: there is no .json file in it")
    refused = {path: row for path in paths if (row := _refused(path)) is not None}
    return filesystem, [path for path in paths if path not in refused], list(refused.values())


def _remote(filesystem: pyarrow.fs.FileSystem, base: str) -> Iterator[str]:
    [info] = filesystem.get_file_info([base])
    if info.type == pyarrow.fs.FileType.File:
        yield base
        return
    for file in filesystem.get_file_info(pyarrow.fs.FileSelector(base, recursive=True)):
        if file.type == pyarrow.fs.FileType.File and _is_topic(file.path):
            yield file.path


def _local(base: str) -> Iterator[str]:
    """The same of a local folder; each folder below it is listed once, however many links lead to it."""
    if os.path.isfile(base):
        yield base
        return
    folders = deque([base])
    seen: set[tuple[int, int]] = set()
    while folders:
        folder = folders.popleft()
        known = os.stat(folder)
        if (known.st_dev, known.st_ino) in seen:
            continue
        seen.add((known.st_dev, known.st_ino))
        with os.scandir(folder) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                if entry.is_dir(follow_symlinks=False):
                    folders.appendleft(entry.path)
                elif entry.is_symlink() and os.path.isdir(entry.path):
                    folders.append(entry.path)
                elif _is_topic(entry.path) and os.path.isfile(entry.path):
                    yield entry.path


def _is_topic(path: str) -> bool:
    name = path.rsplit("/", 1)[-1]
    return name.lower().endswith(".json") and not name.startswith(".")


def _refused(path: str) -> TopicRow | None:
    """The row of a file that can't be read by its name, if it can't; no two have the same path."""
    raw = path.encode("utf-8", "surrogateescape")
    shown = raw.decode(errors="replace")
    if shown == path:
        return None
    # What is shown of two names may be the same. No file that is read ends like this.
    named = f"{shown} ({hashlib.sha256(raw).hexdigest()[:12]})"
    error = f"{shown}: its name, or a folder's on its path, is not UTF-8: rename it"
    return TopicRow(path=named, topic=None, error=error, channel=None, slug=None)
