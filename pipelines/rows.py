"""The rows of a batch: files read and checked with Ray Data, a row each, on whatever node has room.

A pipeline gives the check. All heads are in the driver's memory, what the rows hold never is at once.
"""

import asyncio
import errno
import functools
import math
import os
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Generic, Protocol, Self, TypeVar

import pyarrow.fs
import ray
import ray.data

from models.errors import PathNotVisible

_FILES_PER_BLOCK = 50
# Between tries of a storage that is away, in seconds; whatever else goes wrong is tried once more.
_PAUSES = (0.5, 1.0, 2.0, 4.0, 8.0)
_OF_THE_FILE = (FileNotFoundError, PermissionError, IsADirectoryError)
# How a mounted storage says that it is away; a disk with a bad sector says EIO.
_NETWORK = frozenset(
    {errno.ESTALE, errno.ETIMEDOUT, errno.ENETUNREACH, errno.EHOSTUNREACH, errno.EHOSTDOWN, errno.ENOTCONN}
)


class Row(Protocol):
    """What was read of one file; a pydantic record."""

    @property
    def path(self) -> str:
        """The file. No two rows of a batch have the same."""

    @property
    def name(self) -> str:
        """What to call it in a table."""

    def head(self) -> Self:
        """It without what it holds: enough to tell it from others, and to say that it never began."""

    def model_dump_json(self) -> str:
        """As JSON."""


R = TypeVar("R", bound=Row)
R_co = TypeVar("R_co", bound=Row, covariant=True)


class Rows(Protocol[R_co]):
    """What a driver works on."""

    def heads(self) -> Sequence[R_co]:
        """The head of each row."""

    def stream(self) -> AsyncIterator[R_co]:
        """Each row, one after the other."""


class DataRows(Generic[R]):
    """Rows in a Ray dataset: each as JSON in `row`, its head in `head`. `parse` reads such a JSON.

    `refused` are rows beside it: of files that nobody reads. Without a dataset there are no others.
    """

    def __init__(
        self, dataset: ray.data.Dataset | None, *, parse: Callable[[str], R], refused: Sequence[R]
    ) -> None:
        self._dataset = dataset
        self._parse = parse
        self._refused = refused

    @functools.cached_property
    def _heads(self) -> list[R]:
        heads = [row.head() for row in self._refused]
        if self._dataset is not None:
            heads += [self._parse(row["head"]) for row in self._dataset.select_columns(["head"]).take_all()]
        return heads

    def heads(self) -> Sequence[R]:
        """The head of each row; they are fetched once."""
        return self._heads

    async def stream(self) -> AsyncIterator[R]:
        """Each row, fetched beside the event loop."""
        for refused in self._refused:
            yield refused
        if self._dataset is None:
            return
        iterator = iter(self._dataset.iter_rows())
        while (row := await asyncio.to_thread(next, iterator, None)) is not None:
            yield self._parse(row["row"])


def read_files(
    paths: Sequence[str],
    *,
    filesystem: pyarrow.fs.FileSystem,
    check: Callable[[str, bytes], R],
    unreadable: Callable[[str, OSError], R],
    parse: Callable[[str], R],
    refused: Sequence[R],
    noun: str,
) -> DataRows[R]:
    """A row for each file, and those that are refused without being read.

    Args:
        check: makes a row of a path and what is in the file, on any node; a bad file is a row, too.
        unreadable: makes the row of a file that can't be read there.
        parse: makes a row of its JSON.
        refused: rows of files whose names can't be read.
        noun: what people call a row.

    Raises:
        PathNotVisible: a local file that not every node sees.
    """
    if not paths:
        return DataRows(None, parse=parse, refused=refused)
    if filesystem.type_name == "local":
        _check_visible_everywhere(paths[0], noun)
    # A worker process for each file of a small batch would take longer than all of its files.
    blocks = math.ceil(len(paths) / _FILES_PER_BLOCK)
    files = ray.data.from_items([{"path": path} for path in paths], override_num_blocks=blocks)
    read = functools.partial(_row, filesystem=filesystem, check=check, unreadable=unreadable)
    return DataRows(files.map(read).materialize(), parse=parse, refused=refused)


def open_path(option: str, path: str, roots: Iterable[Path]) -> tuple[pyarrow.fs.FileSystem, str]:
    """The filesystem of what an option names, and its path there.

    Args:
        path: relative to the first of `roots` that has it, or a URI such as `s3://…`.

    Raises:
        PathNotVisible: nothing is there.
    """
    if "://" in path:
        try:
            filesystem, base = pyarrow.fs.FileSystem.from_uri(path)
        except (OSError, ValueError) as error:
            raise PathNotVisible(f"{option} {path}: can't be opened: {error}") from error
        return filesystem, base
    candidates = [Path(os.path.normpath(root / Path(path).expanduser())) for root in roots]
    found = next((each for each in candidates if each.exists()), None)
    if found is None:
        looked = ", ".join(str(each) for each in dict.fromkeys(candidates))
        raise PathNotVisible(f"{option} {path}: nothing is there, seen from this job (looked at {looked})")
    return pyarrow.fs.LocalFileSystem(), str(found)


def _row(
    file: dict[str, str],
    *,
    filesystem: pyarrow.fs.FileSystem,
    check: Callable[[str, bytes], Row],
    unreadable: Callable[[str, OSError], Row],
) -> dict[str, Any]:
    # Not by `read_binary_files`: one file that can't be read would end all of them.
    try:
        content = _content(filesystem, file["path"])
    except OSError as error:
        if _is_away(filesystem, error):
            raise
        row = unreadable(file["path"], error)
    else:
        row = check(file["path"], content)
    return {"head": row.head().model_dump_json(), "row": row.model_dump_json()}


def _content(filesystem: pyarrow.fs.FileSystem, path: str) -> bytes:
    """What is in a file. What may pass is tried again for a while."""
    for pause in (*_PAUSES, None):
        try:
            with filesystem.open_input_stream(path) as stream:
                return bytes(stream.read())
        except _OF_THE_FILE:
            raise
        except OSError as error:
            if pause is None or (pause > _PAUSES[0] and not _is_away(filesystem, error)):
                raise
            time.sleep(pause)
    raise AssertionError("the last try returns or raises")


def _is_away(filesystem: pyarrow.fs.FileSystem, error: OSError) -> bool:
    """Whether the storage is away, which is no fault of the file: the batch ends, and goes on when submitted
    again."""
    if isinstance(error, _OF_THE_FILE):
        return False
    return filesystem.type_name != "local" or error.errno in _NETWORK


def _check_visible_everywhere(path: str, noun: str) -> None:
    """Ray Data may read a file on any node, so on several nodes a local path must be shared."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    nodes = [node for node in ray.nodes() if node["Alive"]]  # type: ignore[no-untyped-call]
    if len(nodes) < 2:
        return
    seen = ray.remote(num_cpus=0)(lambda: Path(path).is_file())
    answers = ray.get(
        [
            seen.options(
                scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
            ).remote()
            for node in nodes
        ]
    )
    blind = [node["NodeManagerHostname"] for node, answer in zip(nodes, answers, strict=True) if not answer]
    if blind:
        told = f"{path} can't be seen on {', '.join(blind)}"
        raise PathNotVisible(f"{told}: put the {noun}s on a shared path")
