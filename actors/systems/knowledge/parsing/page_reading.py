"""What is read of a page in a process apart: its text without personal data, and its signs.

Called in the readers of `page_reader`. All the work on outsiders' text that takes time is done here.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from actors.platform.text.text_language import language_of_text
from actors.systems.knowledge.parsing.charsets import decoded
from actors.systems.knowledge.parsing.main_text import read_html
from actors.systems.knowledge.parsing.page_signs import PageSigns, page_signs
from actors.systems.knowledge.redaction.names import ModelNames
from actors.systems.knowledge.redaction.redactor import Redactor
from models.errors import DocumentUnreadable
from models.knowledge.pages import PageFault, PageText
from models.knowledge.redaction import PiiKind
from models.record import Record
from models.text import one_line, seen


class UnreadablePage(Exception):
    """A page that can't be read; `fault` is the kind."""

    def __init__(self, message: str, fault: PageFault) -> None:
        super().__init__(message, fault)
        self.fault = fault

    def __str__(self) -> str:
        return str(self.args[0])


class PageReading(Record):
    """A page as it was read. `signs` are HTML's; other kinds have none."""

    page: PageText | None = None
    redacted: Mapping[str, int] = {}
    signs: PageSigns | None = None

    @property
    def text(self) -> str:
        """Its text, which may be empty."""
        return self.page.text if self.page else ""


def read_html_page(
    body: bytes, url: str, content_type: str | None, kinds: Sequence[PiiKind], names_model: Path | None
) -> PageReading:
    """A page's HTML. UnreadablePage where nothing can be made of it."""
    try:
        page = read_html(body, url=url, content_type=content_type)
    except DocumentUnreadable as error:
        raise UnreadablePage(str(error), "unreadable") from error
    return _redacted(page, kinds, names_model, page_signs(body))


def read_plain_page(
    body: bytes, content_type: str | None, kinds: Sequence[PiiKind], names_model: Path | None
) -> PageReading:
    """A page of plain text, as its bytes came."""
    text = decoded(body, content_type)
    page = PageText(text=text, title=None, author=None, date=None, language=None, links=())
    return read_text_page(page, kinds, names_model)


def read_text_page(page: PageText, kinds: Sequence[PiiKind], names_model: Path | None) -> PageReading:
    """What is text already. Where nobody says its language, the text itself does."""
    page = page.model_copy(update={"text": seen(page.text)})
    if page.language is None:
        page = page.model_copy(update={"language": language_of_text(page.text)})
    return _redacted(page, kinds, names_model, None)


def _redacted(
    page: PageText, kinds: Sequence[PiiKind], names_model: Path | None, signs: PageSigns | None
) -> PageReading:
    """Without personal data: in the text and in what the page says of itself; links that hold some go.

    Of what it says of itself nothing is kept that can't be seen, either: databases refuse some of that.
    """
    redactor = _redactor(tuple(kinds), names_model)
    text = redactor.redact(page.text)
    counts = dict(text.counts)
    plain: dict[str, str | None] = {}
    for name in ("title", "author"):
        value = one_line(getattr(page, name) or "")
        found = redactor.redact(value) if value else None
        plain[name] = found.text if found else None
        for kind, count in (found.counts if found else {}).items():
            counts[kind] = counts.get(kind, 0) + count
    coverage = page.coverage
    if coverage is not None:
        # Counted with the text's own, they would be counted though they were not taken out of it.
        told = tuple(redactor.redact(part).text for part in coverage.left_out)
        coverage = coverage.model_copy(update={"left_out": told})
    links = tuple(link for link in map(seen, page.links) if not redactor.redact(link).counts)
    kept = page.model_copy(update={"text": text.text, "links": links, "coverage": coverage, **plain})
    return PageReading(page=kept, redacted=counts, signs=signs)


@cache
def _redactor(kinds: tuple[PiiKind, ...], names_model: Path | None) -> Redactor:
    return Redactor(kinds, names=None if names_model is None else names_of(names_model))


@cache
def names_of(folder: Path) -> ModelNames:
    """The model of a folder, loaded once."""
    return ModelNames(folder)
