"""Reads pages, each in a process apart: one that takes too long, or too much, ends its reader and no more.

A scraper has one. HTML and text are read by its readers, a PDF by the reader of PDFs, a process, too.
"""

from collections.abc import Callable

from actors.platform.pdf.pdf import read_pdf_bytes
from actors.systems.knowledge.fetching.fetched_page import FetchedPage
from actors.systems.knowledge.parsing.page_kinds import page_kind
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
