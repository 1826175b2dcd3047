"""Files of addresses, as people have them: CSV, JSON lines, Parquet, plain lines, or a sitemap.

On any filesystem that pyarrow knows. What a line says wrong is that line's row; it never ends the others. The
same address twice is one row.
"""

import csv
import gzip
import io
import json
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.fs
import pyarrow.parquet

from actors.knowledge.fetching.sitemap import NotASitemap, read_sitemap
from models.errors import PageFailed, PathNotVisible
from models.knowledge.pages import ScrapedPage
from models.record import Record
from models.text import cut, storable

_COLUMNS = ("url", "loc", "link", "address", "adres", "href")
_LONGEST = 2000
_SHOWN = 200
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
    twice = 0
    for file in files:
        for text in _addresses(filesystem, file):
            row = _row(text, normal)
            twice += row.url in rows
            rows.setdefault(row.url, row)
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
        return UrlRow(url=normal(text))
    except PageFailed as failed:
        shown = storable(cut(text, _LONGEST))
        page = ScrapedPage(url=shown, fault=failed.facts["fault"], reason=str(failed))
        return UrlRow(url=shown, refused=page)


def _files(path: str, roots: Iterable[Path]) -> tuple[pyarrow.fs.FileSystem, list[str]]:
    if path.lower().startswith(("http://", "https://")):
        raise PathNotVisible(
            f"--urls {path}: is a web address: give a sitemap's to --sitemap, or a file here"
        )
    if "://" in path:
        try:
            filesystem, base = pyarrow.fs.FileSystem.from_uri(path)
        except (OSError, ValueError) as error:
            raise PathNotVisible(f"--urls {path}: can't be opened: {error}") from error
    else:
        candidates = [Path(os.path.normpath(root / Path(path).expanduser())) for root in roots]
        found = next((each for each in candidates if each.exists()), None)
        if found is None:
            looked = ", ".join(str(each) for each in dict.fromkeys(candidates))
            raise PathNotVisible(f"--urls {path}: nothing is there, seen from this job (looked at {looked})")
        filesystem, base = pyarrow.fs.LocalFileSystem(), str(found)
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
            body = bytes(stream.read())
    except (OSError, pa.ArrowException) as error:
        raise PathNotVisible(f"--urls {file}: can't be read: {error}") from error
    if name.endswith((".xml", ".xml.gz")):
        try:
            sitemap = read_sitemap(body)
        except NotASitemap as error:
            raise PathNotVisible(f"--urls {file}: is no sitemap: {error}") from error
        if sitemap.broken is not None:
            raise PathNotVisible(f"--urls {file}: {sitemap.broken}: mend or divide it")
        if sitemap.sitemaps:
            raise PathNotVisible(
                f"--urls {file}: names other sitemaps: give those, or its address to --sitemap"
            )
        yield from sitemap.urls
        return
    if name.endswith(".gz"):
        try:
            body, name = gzip.decompress(body), name[:-3]
        except (OSError, EOFError) as error:
            raise PathNotVisible(f"--urls {file}: can't be unpacked: {error}") from error
    text = body.decode("utf-8-sig", errors="replace")
    if name.endswith((".jsonl", ".ndjson", ".json")):
        yield from _of_json_lines(text)
    elif name.endswith((".csv", ".tsv")):
        yield from _of_csv(text, "\t" if name.endswith(".tsv") else None)
    else:
        yield from (line.strip() for line in text.splitlines() if line.strip() and line.strip()[0] != "#")


def _of_parquet(filesystem: pyarrow.fs.FileSystem, file: str) -> Iterator[str]:
    with filesystem.open_input_file(file) as opened:
        parquet = pyarrow.parquet.ParquetFile(opened)
        column = _column(parquet.schema_arrow.names)
        if column is None:
            told = ", ".join(parquet.schema_arrow.names)
            raise PathNotVisible(f"--urls {file}: has no column url (but {cut(told, _SHOWN)})")
        for batch in parquet.iter_batches(columns=[column]):
            yield from (str(value) for value in batch.column(0).to_pylist() if value is not None)


def _of_json_lines(text: str) -> Iterator[str]:
    for line in text.splitlines():
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


def _of_csv(text: str, delimiter: str | None) -> Iterator[str]:
    """The addresses in a table; of one without a head, its first column. What is no CSV is a bad one."""
    if delimiter is None:
        head = text.partition("\n")[0]
        delimiter = max(",;\t", key=head.count)
    lines = _csv_lines(text, delimiter)
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


def _csv_lines(text: str, delimiter: str) -> Iterator[list[str]]:
    """The lines of a table; one that the reader refuses, as its one cell, cut."""
    lines = csv.reader(io.StringIO(text), delimiter=delimiter)
    while True:
        try:
            yield next(lines)
        except StopIteration:
            return
        except csv.Error as error:
            yield [f"line {lines.line_num} is no CSV: {error}"]


def _column(names: Iterable[str]) -> str | None:
    """The column that holds addresses."""
    known = {name.strip().lower(): name for name in names}
    return next((known[name] for name in _COLUMNS if name in known), None)
