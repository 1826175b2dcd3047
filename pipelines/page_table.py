"""The Parquet file of a scraping batch: a row for each address, with its text or why there is none.

`docs/knowledge.md` describes the columns. It is written as rows come, under a name of its own, and renamed
when it is whole: an object store shows it only then anyway.
"""

from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pyarrow.fs
import pyarrow.parquet

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
        ("fault", pa.string()),
        ("reason", pa.string()),
        ("held", pa.bool_()),
    ]
)


class PageTable:
    """The file, being written. Use it as a context: left by an error, it is not renamed."""

    def __init__(self, filesystem: pyarrow.fs.FileSystem, path: str) -> None:
        self._filesystem = filesystem
        self._path = path
        self._local = filesystem.type_name == "local"
        self._writing = f"{path}.tmp" if self._local else path

    def __enter__(self) -> "PageTable":
        folder = self._path.rpartition("/")[0]
        if folder:
            self._filesystem.create_dir(folder, recursive=True)
        self._writer = pyarrow.parquet.ParquetWriter(self._writing, SCHEMA, filesystem=self._filesystem)
        return self

    def __exit__(self, failed: type[BaseException] | None, *_: object) -> None:
        self._writer.close()
        if failed is None and self._local:
            self._filesystem.move(self._writing, self._path)

    def add(self, pages: Iterable[tuple[ScrapedPage, bool]]) -> None:
        """Write pages, each with whether it was held before this batch."""
        rows = [as_row(page, held=held) for page, held in pages]
        self._writer.write_table(pa.Table.from_pylist(rows, schema=SCHEMA))


def as_row(page: ScrapedPage, *, held: bool) -> dict[str, Any]:
    """A row of the file."""
    text = page.page
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
        "held": held,
    }
