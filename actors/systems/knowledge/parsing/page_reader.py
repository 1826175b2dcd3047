"""Reads pages, each in a process apart: one that takes too long, or too much, ends its reader and no more.

A scraper has one. HTML and text are read by its readers, a PDF by the reader of PDFs, a process, too.
"""

import re
from collections.abc import Callable
from typing import Literal

from actors.platform.pdf.pdf import read_pdf_bytes
from actors.platform.web.plain_text import plain_text
from actors.systems.knowledge.fetching.fetched_page import FetchedPage
from actors.systems.knowledge.parsing.page_reading import (
    PageReading,
    UnreadablePage,
    read_html_page,
    read_plain_page,
    read_text_page,
)
from actors.systems.knowledge.parsing.reading_pool import ReadingPool
from models.config import RedactionConfig, ScrapingConfig
from models.config.outside import PdfConfig
from models.errors import DocumentUnreadable, PlacesTaken
from models.knowledge.pages import PageCoverage, PageText

PageKind = Literal["html", "pdf", "text"]

_KINDS: dict[str, PageKind] = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "application/pdf": "pdf",
    "application/x-pdf": "pdf",
    "text/plain": "text",
    "text/markdown": "text",
    "text/x-markdown": "text",
    "text/x-rst": "text",
}
# What servers say of anything that they do not know.
_UNKNOWN = ("", "application/octet-stream", "application/unknown", "unknown/unknown", "binary/octet-stream")
_PDF, _PDF_WITHIN = b"%PDF-", 1024
_TAG = re.compile(
    rb"<(!doctype html|html|head|body|title|meta|script|div|p|h1|table|br|a|!--)[\s>!-]", re.IGNORECASE
)
_XML_OF_HTML = re.compile(rb"<html[\s>]", re.IGNORECASE)
_SNIFFED = 4096
_UNPRINTABLE = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


class PageReader:
    """Reads pages. Its processes are begun with the first page."""

    def __init__(self, *, scraping: ScrapingConfig, redaction: RedactionConfig, pdf: PdfConfig) -> None:
        self._redaction = redaction
        self._pdf_limits = pdf
        self._pool = ReadingPool(
            readers=scraping.readers, seconds=scraping.reading_seconds, names_model=redaction.names_model
        )

    async def close(self) -> None:
        """End the readers."""
        await self._pool.close()

    async def read(self, page: FetchedPage) -> PageReading:
        """What is in a page.

        Raises:
            UnreadablePage: nothing that is read here; the fault says why.
        """
        kind = page_kind(page.content_type, page.body)
        kinds, names = self._redaction.kinds, self._redaction.names_model
        if kind == "html":
            return await self._apart(read_html_page, page.body, page.url, page.content_type, kinds, names)
        if kind == "text":
            return await self._apart(read_plain_page, page.body, page.content_type, kinds, names)
        return await self.read_text(await self._pdf(page))

    async def read_text(self, page: PageText) -> PageReading:
        """What is text already, without personal data.

        Raises:
            UnreadablePage: it took too long.
        """
        return await self._apart(read_text_page, page, self._redaction.kinds, self._redaction.names_model)

    async def _pdf(self, page: FetchedPage) -> PageText:
        try:
            found = await read_pdf_bytes(page.body, url=page.url, limits=self._pdf_limits)
        except DocumentUnreadable as error:
            raise UnreadablePage(str(error).removeprefix("url: "), "unreadable") from error
        except PlacesTaken as error:
            raise UnreadablePage(str(error), "later") from error
        text = "\n\n".join(found.texts)
        notes = (found.note,) if found.note else ()
        coverage = PageCoverage(seen=len(text), kept=len(text), notes=notes)
        return PageText(
            text=text, title=found.title, author=None, date=None, language=None, links=(), coverage=coverage
        )

    async def _apart(self, work: Callable[..., PageReading], *arguments: object) -> PageReading:
        try:
            return await self._pool.read(work, *arguments, shape=PageReading)
        except DocumentUnreadable as error:
            raise UnreadablePage(str(error), error.facts.get("fault") or "unreadable") from error


def page_kind(content_type: str | None, body: bytes) -> PageKind:
    """What is to be read.

    Raises:
        UnreadablePage: `unsupported_type`, with the name of what it is.
    """
    said = (content_type or "").partition(";")[0].strip().lower()
    start = body[:_SNIFFED]
    # A PDF is one whatever it is called, and nothing else is.
    if _PDF in start[:_PDF_WITHIN]:
        return "pdf"
    found = _KINDS.get(said)
    if found == "text" and _UNPRINTABLE.search(start):
        found, said = None, "application/octet-stream"
    if found in ("html", "text"):
        return found
    if said in ("application/xml", "text/xml") and _XML_OF_HTML.search(start):
        return "html"
    if said in _UNKNOWN and not _UNPRINTABLE.search(start):
        return "html" if _TAG.search(start) else "text"
    if found == "pdf":
        raise UnreadablePage("what is there is no PDF, though it is called one", "unreadable")
    told = plain_text(said, 60) or "what has no stated kind"
    raise UnreadablePage(f"{told} is not read here: HTML, PDF and plain text are", "unsupported_type")
