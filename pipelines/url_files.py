"""Files of addresses, as people have them: CSV, JSON lines, Parquet, plain lines, or a sitemap.

On any filesystem that pyarrow knows. What a line says wrong is that line's row; it never ends the others. The
same address twice is one row. A file is read as it is unpacked: no more of it is held than its addresses.
"""

import csv
import json
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.fs
import pyarrow.parquet

from actors.platform.web.unpacking import NotUnpacked, Unpacked, cut_lines, gunzipped
from actors.systems.knowledge.fetching.sitemap import MOST_BYTES, NotASitemap, read_sitemap
from models.errors import PageFailed, PathNotVisible
from models.knowledge.pages import ScrapedPage
from models.record import Record
from models.text import cut, storable
from pipelines.rows import open_path

_COLUMNS = ("url", "loc", "link", "address", "adres", "href")
_LONGEST = 2000
_SHOWN = 200
# What one file comes to at most: bytes, unpacked, of which addresses; and lines, of which a table's row.
_MOST_UNPACKED, _MOST_HELD = 2 * 1024**3, 256 * 1024**2
_MOST_LINES, _MOST_LINES_IN_ROW = 50_000_000, 1000
_LONGEST_LINE = 1024**2
_PART = 8192
Normal = Callable[[str], str]


class UrlRow(Record):
    """An address in its one form, or the page that says what is wrong with it."""

    url: str
    refused: ScrapedPage | None = None


def read_urls(path: str, *, roots: Iterable[Path], normal: Normal) -> tuple[list[UrlRow], int]:
    """The addresses in a file, or in the files of a folder, each once, and how many there were twice.

    Args:
        path: relative to the first of `roots` that has it, or a URI such as `s3://…`.
        normal: an address in its one form; PageFailed where it is none.

    Raises:
        PathNotVisible: nothing is there, or nothing that holds addresses.
    """
    filesystem, files = _files(path, roots)
    rows: dict[str, UrlRow] = {}
    twice = held = 0
    for file in files:
        for text in _addresses(filesystem, file):
            row = _row(text, normal)
            if row.url in rows:
                twice += 1
                continue
            rows[row.url] = row
            held += len(row.url)
            if held > _MOST_HELD:
                raise PathNotVisible(
                    f"--urls {path}: holds over {_MOST_HELD:,} bytes of addresses: divide it"
                )
    return list(rows.values()), twice


def interleaved(urls: Iterable[str], host_of: Callable[[str], str]) -> list[str]:
    """Addresses in an order in which each host is asked in its turn: the first of each, the second, …"""
    seen: dict[str, int] = {}
    ranked = []
    for place, url in enumerate(urls):
        host = host_of(url)
        seen[host] = seen.get(host, -1) + 1
        ranked.append((seen[host], place, url))
    return [url for _, _, url in sorted(ranked)]


def _row(text: str, normal: Normal) -> UrlRow:
    try:
        return UrlRow(url=normal(cut(text, 2 * _LONGEST)))  # it is refused then, too
    except PageFailed as failed:
        shown = storable(cut(text, _LONGEST))
        page = ScrapedPage(url=shown, fault=failed.facts["fault"], reason=str(failed))
        return UrlRow(url=shown, refused=page)


def _files(path: str, roots: Iterable[Path]) -> tuple[pyarrow.fs.FileSystem, list[str]]:
    if path.lower().startswith(("http://", "https://")):
        raise PathNotVisible(
            f"--urls {path}: is a web address: give a sitemap's to --sitemap, or a file here"
        )
    filesystem, base = open_path("--urls", path, roots)
    try:
        [info] = filesystem.get_file_info([base])
        if info.type == pyarrow.fs.FileType.Directory:
            chosen = filesystem.get_file_info(pyarrow.fs.FileSelector(base, recursive=True))
            names = sorted(each.path for each in chosen if each.type == pyarrow.fs.FileType.File)
            files = [name for name in names if not name.rpartition("/")[2].startswith((".", "_"))]
        else:
            files = [base] if info.type == pyarrow.fs.FileType.File else []
    except OSError as error:
        raise PathNotVisible(f"--urls {path}: can't be read: {error}") from error
    if not files:
        raise PathNotVisible(f"--urls {path}: there is no file in it")
    return filesystem, files


def _addresses(filesystem: pyarrow.fs.FileSystem, file: str) -> Iterator[str]:
    """The texts in a file that should be addresses."""
    name = file.lower()
    try:
        if name.endswith((".parquet", ".pq")):
            yield from _of_parquet(filesystem, file)
            return
        with filesystem.open_input_stream(file, compression=None) as stream:
            parts = iter(lambda: bytes(stream.read(_PART)), b"")
            if name.endswith((".xml", ".xml.gz")):
                yield from _of_sitemap(file, Unpacked(parts, most=MOST_BYTES).readall())
                return
            if name.endswith(".gz"):
                parts, name = gunzipped(parts), name[:-3]
            lines = cut_lines(parts, most=_MOST_UNPACKED, longest=_LONGEST_LINE)
            yield from _of_text(lines, name)
    except NotUnpacked as error:
        raise PathNotVisible(f"--urls {file}: can't be unpacked: {error}") from error
    except (OSError, pa.ArrowException) as error:
        raise PathNotVisible(f"--urls {file}: can't be read: {error}") from error


def _of_sitemap(file: str, body: bytes) -> Iterator[str]:
    try:
        sitemap = read_sitemap(body)
    except NotASitemap as error:
        raise PathNotVisible(f"--urls {file}: is no sitemap: {error}") from error
    if sitemap.broken is not None:
        raise PathNotVisible(f"--urls {file}: {sitemap.broken}: mend or divide it")
    if sitemap.sitemaps:
        raise PathNotVisible(f"--urls {file}: names other sitemaps: give those, or its address to --sitemap")
    yield from sitemap.urls


def _of_text(lines: Iterator[str], name: str) -> Iterator[str]:
    if name.endswith((".jsonl", ".ndjson", ".json")):
        yield from _of_json_lines(lines)
    elif name.endswith((".csv", ".tsv")):
        yield from _of_csv(lines, "\t" if name.endswith(".tsv") else None)
    else:
        yield from (line.strip() for line in lines if line.strip() and line.strip()[0] != "#")


def _of_parquet(filesystem: pyarrow.fs.FileSystem, file: str) -> Iterator[str]:
    with filesystem.open_input_file(file) as opened:
        about = pyarrow.parquet.read_metadata(opened)
        column = _column(about.schema.to_arrow_schema().names)
        if column is None:
            told = ", ".join(about.schema.to_arrow_schema().names)
            raise PathNotVisible(f"--urls {file}: has no column url (but {cut(told, _SHOWN)})")
        size = sum(
            about.row_group(group).column(place).total_uncompressed_size
            for group in range(about.num_row_groups)
            for place in range(about.num_columns)
            if about.row_group(group).column(place).path_in_schema == column
        )
        if size > _MOST_UNPACKED or about.num_rows > _MOST_LINES:
            most = f"{_MOST_UNPACKED:,} bytes unpacked, or {_MOST_LINES:,} rows"
            raise PathNotVisible(f"--urls {file}: is over {most}: divide it")
        # A text that many rows share stays one: a small file may repeat a long one for ever.
        parquet = pyarrow.parquet.ParquetFile(opened, metadata=about, read_dictionary=[column])
        for batch in parquet.iter_batches(columns=[column], batch_size=_PART):
            values = batch.column(0)
            if isinstance(values, pa.DictionaryArray):
                shared = values.dictionary.to_pylist()
                yield from (str(shared[at]) for at in values.indices.to_pylist() if at is not None)
            else:
                yield from (str(value) for value in values.to_pylist() if value is not None)


def _of_json_lines(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        if not line.strip():
            continue
        try:
            told: Any = json.loads(line)
        except (ValueError, RecursionError):
            yield line.strip()
            continue
        if isinstance(told, dict):
            column = _column(told)
            told = told.get(column) if column is not None else line.strip()
        yield told if isinstance(told, str) else line.strip()


def _of_csv(text: Iterator[str], delimiter: str | None) -> Iterator[str]:
    """The addresses in a table; of one without a head, its first column. What is no CSV is a bad one."""
    head = next(text, "")
    if delimiter is None:
        delimiter = max(",;\t", key=head.count)
    lines = _csv_lines(chain((head,), text), delimiter)
    first = next(lines, [])
    column = _column(first)
    place = first.index(column) if column is not None else 0
    # What stands behind the only column is of the address: it may hold commas, and nobody has quoted it.
    alone = len(first) == 1
    if column is None and first:
        yield first[0]
    for line in lines:
        if alone:
            if joined := delimiter.join(line).strip():
                yield joined
        elif place < len(line) and line[place].strip():
            yield line[place].strip()
        elif any(cell.strip() for cell in line):
            yield delimiter.join(line)


class _Lines:
    """The lines of a table. One row takes no more than so many, or a mark is not closed."""

    def __init__(self, text: Iterator[str]) -> None:
        self._text = text
        self._of_row = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        self._of_row += 1
        if self._of_row > _MOST_LINES_IN_ROW:
            raise csv.Error("a quotation mark is not closed")
        return next(self._text)

    def next_row(self) -> None:
        self._of_row = 0


def _csv_lines(text: Iterator[str], delimiter: str) -> Iterator[list[str]]:
    """The rows of a table; one that the reader refuses, as its one cell, cut."""
    lines = _Lines(text)
    reader = csv.reader(lines, delimiter=delimiter)
    while True:
        lines.next_row()
        try:
            yield next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield [f"line {reader.line_num} is no CSV: {error}"]


def _column(names: Iterable[str]) -> str | None:
    """The column that holds addresses."""
    known = {name.strip().lower(): name for name in names}
    return next((known[name] for name in _COLUMNS if name in known), None)
