"""PDFs of the web: fetched through the URL guard, and read in a process of their own. It stores nothing.

Called by the tool `download_pdf`, and by the agent `data_download`. What a PDF says is untrusted text.
"""

import asyncio
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from pydantic import ValidationError

from actors.platform import node_places
from actors.platform.web.fetching import fetch
from actors.platform.web.plain_text import plain_text
from models.config import Config
from models.config.outside import PdfConfig
from models.content.pdf import PdfContents, PdfTable
from models.errors import DocumentUnreadable
from models.record import Record
from models.text import one_line, seen

_READER = Path(__file__).with_name("pdf_reader.py")
# Where readers of PDFs look for its mark (ISO 32000-1, Annex H.3.4.1).
_MARK, _MARK_WITHIN = b"%PDF-", 1024
_LONGEST_TEXT = 1_000_000
_LONGEST_NAME = 200
# More than the reader may tell.
_MOST_TOLD = 64 * 1024**2
_FAULTS = {
    "encrypted": "is encrypted: take its password off, and put the text in by create_text_resource",
    "without_text": "has no text, as scanned pages do: run it through text recognition (OCR) first",
    "broken": "is broken, and can't be read",
    "too_large": "unpacks into more than can be read",
}


class _Told(Record):
    """What the reader tells: `fault`, or the rest."""

    fault: str | None = None
    detail: str | None = None
    title: str = ""
    pages: int = 0
    texts: tuple[tuple[int, str], ...] = ()
    tables: tuple[PdfTable, ...] = ()
    notes: tuple[str, ...] = ()


async def read_pdf(url: str, *, config: Config) -> PdfContents:
    """Fetch a PDF and read it; stores nothing.

    Raises:
        DocumentUnreadable: no PDF, too large, encrypted, without text, broken, or not read in time.
        PlacesTaken: this node reads as many as it may, and went on doing so.
        AddressRefused, ProviderFailed, ProviderLimited: it can't be fetched; see `fetching.fetch`.
    """
    limits = config.outside.pdf
    # Taken before the document is fetched: what waits for its turn holds no document.
    async with node_places.taken("pdf-reader", limits.readers, seconds=limits.timeout_seconds):
        return await _read(url, config)


async def read_pdf_bytes(data: bytes, *, url: str, limits: PdfConfig) -> PdfContents:
    """Read a PDF that was fetched from `url` by others; what it raises is of `read_pdf`."""
    async with node_places.taken("pdf-reader", limits.readers, seconds=limits.timeout_seconds):
        return _contents(url, await _told(data, limits))


async def _read(url: str, config: Config) -> PdfContents:
    limits = config.outside.pdf
    answer = await fetch(
        url,
        config=config,
        provider=plain_text(_host(url), 100) or "url",
        headers={"Accept": "application/pdf"},
        max_bytes=limits.max_bytes,
        timeout=limits.timeout_seconds,
        oversized=DocumentUnreadable(
            f"url: the document is over {limits.max_bytes:,} bytes (outside.pdf.max_bytes)"
        ),
    )
    if _MARK not in answer.body[:_MARK_WITHIN]:
        kind = plain_text(answer.headers.get("content-type"), 60) or "of no stated kind"
        raise DocumentUnreadable(f"url: what is there is no PDF ({kind}): give the address of the PDF itself")
    return _contents(answer.url, await _told(answer.body, limits))


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


async def _told(data: bytes, limits: PdfConfig) -> _Told:
    """What the reader tells of a PDF. It is killed when its time is up, or ours."""
    # By its path and without its folder, which holds modules that others are called like.
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", str(_READER), str(limits.max_pages), str(limits.timeout_seconds)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(limits.timeout_seconds):
            _, raw = await asyncio.gather(_feed(process, data), _listen(process))
            code = await process.wait()
    except TimeoutError as error:
        raise _out_of_time(limits) from error
    finally:
        if process.returncode is None:
            process.kill()
            await _forget(process)
    if code == -signal.SIGXCPU:
        raise _out_of_time(limits)
    if code:
        raise DocumentUnreadable(f"url: the PDF {_FAULTS['broken']}: its reader ended with {code}")
    try:
        told = _Told.model_validate_json(raw)
    except ValidationError as error:
        raise DocumentUnreadable(f"url: the PDF {_FAULTS['broken']}: its reader made no sense") from error
    if told.fault == "late":
        raise _out_of_time(limits)
    return told


async def _forget(process: asyncio.subprocess.Process) -> None:
    """Wait for the end of a process that was killed. It is not seen before its pipe was read to its end."""
    assert process.stdout is not None
    while await process.stdout.read(2**16):
        pass
    await process.wait()


def _out_of_time(limits: PdfConfig) -> DocumentUnreadable:
    seconds = limits.timeout_seconds
    return DocumentUnreadable(
        f"url: the PDF can't be read within {seconds:g} s (outside.pdf.timeout_seconds)"
    )


async def _feed(process: asyncio.subprocess.Process, data: bytes) -> None:
    assert process.stdin is not None
    try:
        process.stdin.write(data)
        await process.stdin.drain()
    except (BrokenPipeError, ConnectionResetError):
        pass  # it ended early; its exit tells why
    finally:
        process.stdin.close()


async def _listen(process: asyncio.subprocess.Process) -> bytes:
    assert process.stdout is not None
    told = bytearray()
    while part := await process.stdout.read(2**16):
        told += part
        if len(told) > _MOST_TOLD:
            raise DocumentUnreadable("url: the PDF unpacks into more than can be kept")
    return bytes(told)


def _contents(url: str, told: _Told) -> PdfContents:
    if told.fault is not None:
        why = _FAULTS.get(told.fault, told.fault)
        detail = f": {plain_text(told.detail, 200)}" if told.detail else ""
        raise DocumentUnreadable(f"url: the PDF {why}{detail}")
    pages = [f"[page {number}]\n\n{seen(text).strip()}" for number, text in told.texts]
    return PdfContents(
        url=url,
        title=plain_text(told.title, _LONGEST_NAME) or _file_name(url),
        pages=told.pages,
        texts=tuple(_split(pages)),
        tables=tuple(_seen_table(table) for table in told.tables),
        note=one_line("; ".join(told.notes)) or None,
    )


def _split(pages: list[str]) -> Iterator[str]:
    """Texts of at most a resource's length, at ends of pages where it can be."""
    part = ""
    for page in pages:
        for start in range(0, len(page), _LONGEST_TEXT - 2):
            piece = page[start : start + _LONGEST_TEXT - 2]
            if part and len(part) + len(piece) + 2 > _LONGEST_TEXT:
                yield part
                part = ""
            part = f"{part}\n\n{piece}" if part else piece
    if part:
        yield part


def _seen_table(table: PdfTable) -> PdfTable:
    def cell(value: Any) -> Any:
        return seen(value).strip() or None if isinstance(value, str) else value

    columns = tuple(cell(name) or f"column {place}" for place, name in enumerate(table.columns, 1))
    return PdfTable(page=table.page, columns=columns, rows=tuple(tuple(map(cell, row)) for row in table.rows))


def _file_name(url: str) -> str:
    last = unquote(urlsplit(url).path.rstrip("/").rpartition("/")[2])
    return plain_text(last, _LONGEST_NAME) or "PDF"
