"""The Parquet file of a scraping batch: a row for each address, with its text or why there is none.

`docs/knowledge.md` describes the columns. It is written as rows come, a thousand to a row group, as a draft
that is put in its place when it is whole: an object store shows it only then anyway.
"""

import contextlib
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.fs
import pyarrow.parquet

from models.files import DraftFile
from models.knowledge.pages import ScrapedPage

SCHEMA = pa.schema(
    [
        ("url", pa.string()),
        ("final_url", pa.string()),
        ("engine", pa.string()),
        ("status", pa.int32()),
        ("fetched_at", pa.timestamp("us", tz="UTC")),
        ("content_type", pa.string()),
        ("sha256", pa.string()),
        ("bytes", pa.int64()),
        ("title", pa.string()),
        ("author", pa.string()),
        ("date", pa.string()),
        ("language", pa.string()),
        ("text", pa.string()),
        ("links", pa.list_(pa.string())),
        ("redacted", pa.map_(pa.string(), pa.int32())),
        ("seen_characters", pa.int64()),
        ("kept_characters", pa.int64()),
        ("left_out", pa.list_(pa.string())),
        ("fault", pa.string()),
        ("reason", pa.string()),
        ("held", pa.bool_()),
    ]
)

# Of a row group: readers skip and read by those, and a small one costs as much as a large one.
_ROWS, _CHARACTERS = 1_000, 32_000_000


class PageTable:
    """The file, being written. Use it as a context: left by an error, or discarded, there is none.

    An object store shows what was written by then as a whole file, so that is taken away again.
    """

    def __init__(self, filesystem: pyarrow.fs.FileSystem, path: str) -> None:
        self._filesystem = filesystem
        self._path = path
        self._draft: DraftFile | None = None
        self._rows: list[dict[str, Any]] = []
        self._characters = 0
        self._discarded = False
        # Rows are added in threads, one of which may be left behind when a batch is stopped.
        self._lock = threading.Lock()

    def __enter__(self) -> "PageTable":
        if self._filesystem.type_name == "local":
            self._draft = DraftFile(Path(self._path))
            self._writer = pyarrow.parquet.ParquetWriter(self._draft.file, SCHEMA)
            return self
        if folder := self._path.rpartition("/")[0]:
            self._filesystem.create_dir(folder, recursive=True)
        self._writer = pyarrow.parquet.ParquetWriter(self._path, SCHEMA, filesystem=self._filesystem)
        return self

    def __exit__(self, failed: type[BaseException] | None, *_: object) -> None:
        with self._lock:
            if failed is not None or self._discarded:
                self._discarded = True
                with contextlib.suppress(OSError):  # what went wrong before says more
                    self._writer.close()
                self._take_away()
                return
            try:
                self._write()
                self._writer.close()
                if self._draft is not None:
                    self._draft.keep()
            except BaseException:
                self._take_away()
                raise

    def discard(self) -> None:
        """Let there be no file: it would not be whole."""
        self._discarded = True

    def add(self, pages: Iterable[tuple[ScrapedPage, bool]]) -> None:
        """Write pages, each with whether it was held before this batch; many of them together."""
        with self._lock:
            if self._discarded:
                return
            for page, held in pages:
                self._rows.append(as_row(page, held=held))
                self._characters += len(page.page.text) if page.page else 0
            if len(self._rows) >= _ROWS or self._characters >= _CHARACTERS:
                self._write()

    def _write(self) -> None:
        if self._rows:
            self._writer.write_table(pa.Table.from_pylist(self._rows, schema=SCHEMA))
            self._rows, self._characters = [], 0

    def _take_away(self) -> None:
        with contextlib.suppress(OSError):  # it was not even begun
            if self._draft is not None:
                self._draft.drop()
            else:
                self._filesystem.delete_file(self._path)


def as_row(page: ScrapedPage, *, held: bool) -> dict[str, Any]:
    """A row of the file."""
    text = page.page
    coverage = text.coverage if text else None
    return {
        **page.model_dump(include={"url", "final_url", "engine", "status", "fetched_at", "content_type"}),
        **page.model_dump(include={"sha256", "bytes", "fault", "reason"}),
        "title": text and text.title,
        "author": text and text.author,
        "date": text and text.date,
        "language": text and text.language,
        "text": text and text.text,
        "links": list(text.links) if text else [],
        "redacted": list(page.redacted.items()),
        "seen_characters": coverage and coverage.seen,
        "kept_characters": coverage and coverage.kept,
        "left_out": [*coverage.left_out, *coverage.notes] if coverage else [],
        "held": held,
    }
