"""The knowledge base's files: which there are, what they say, and which have changed since the last look.

A look asks each file's size and times, and reads only those that differ. Who writes a file twice within
a tick of the disk's clock leaves its times alike: so what was changed just before it was read is read again.
"""

import hashlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, NoReturn, Protocol

from models.errors import KnowledgeBaseInvalid

_SUFFIXES = (".txt", ".md")
# Longer than a tick of any disk's clock, and than clocks of a file server and its client differ.
_SETTLED_SECONDS = 5.0


class Named(Protocol):
    """What tells one version of a file from another."""

    @property
    def name(self) -> str:
        """The path under the folder, with `/`."""
        ...

    @property
    def digest(self) -> str:
        """SHA-256 of the content, hex."""
        ...


@dataclass(frozen=True)
class Document:
    """A file of the knowledge base; `name` is its path under `data_dir`, with `/`."""

    name: str
    text: str
    digest: str


class _Seen(NamedTuple):
    """A file as it was when it was read. `name` and `digest` are those of its document."""

    name: str
    digest: str
    stat: tuple[int, ...]
    settled: bool


class DocumentFiles:
    """The `.txt` and `.md` files under a folder, by name; hidden files and folders are left out.

    Both verbs raise KnowledgeBaseInvalid: the folder or a file can't be read, is not UTF-8, or there is
    no file.
    """

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self._seen: dict[Path, _Seen] = {}

    def look(self) -> list[Named]:
        """Names and digests; files that are as they were at the last look are not read."""
        seen: dict[Path, _Seen] = {}
        for path in self._paths():
            try:
                stat = _stat(path)
            except OSError as error:
                _refuse(error)
            known = self._seen.get(path)
            if known is None or known.stat != stat or not known.settled:
                # The times before the reading: a change meanwhile makes them differ at the next look.
                settled = max(stat[:2]) / 1e9 < time.time() - _SETTLED_SECONDS
                document = _read(path, self._data_dir)
                known = _Seen(document.name, document.digest, stat, settled)
            seen[path] = known
        self._seen = seen
        return sorted(seen.values(), key=lambda file: file.name)

    def read(self) -> list[Document]:
        """All of them, with their texts."""
        documents = [_read(path, self._data_dir) for path in self._paths()]
        return sorted(documents, key=lambda document: document.name)

    def _paths(self) -> Iterator[Path]:
        found = False
        for folder, folders, names in os.walk(self._data_dir, onerror=_refuse):
            folders[:] = [name for name in folders if not name.startswith(".")]
            for name in names:
                if not name.startswith(".") and name.lower().endswith(_SUFFIXES):
                    found = True
                    yield Path(folder, name)
        if not found:
            raise KnowledgeBaseInvalid(
                f"knowledge_base.data_dir: {self._data_dir} holds no .txt or .md file: "
                "put the documents there"
            )


def _stat(path: Path) -> tuple[int, ...]:
    """Times first; the inode tells a file from another that was moved into its place."""
    found = path.stat()
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino


def _read(path: Path, data_dir: Path) -> Document:
    try:
        content = path.read_bytes()
        return Document(
            name=path.relative_to(data_dir).as_posix().encode().decode(),
            text=content.decode("utf-8-sig"),
            digest=hashlib.sha256(content).hexdigest(),
        )
    except OSError as error:
        _refuse(error)
    except UnicodeError as error:
        raise KnowledgeBaseInvalid(
            f"knowledge_base.data_dir: {os.fsencode(path).decode(errors='backslashreplace')} is not "
            f"UTF-8, name and content: {error}. Convert it, or move it away"
        ) from error


def _refuse(error: OSError) -> NoReturn:
    raise KnowledgeBaseInvalid(
        f"knowledge_base.data_dir: {error.filename} can't be read: {error.strerror}. Put the documents "
        "(.txt, .md) into a folder that this node sees and this user can read"
    ) from error
