"""Renders a draft as Markdown: statements with footnotes, and the sources they name.

Called by the last step of drafting. Names, addresses and the statements themselves were written by pages and
models: nothing of them becomes Markdown, except an http(s) address as a link.
"""

from collections.abc import Sequence
from urllib.parse import quote, urlsplit

from actors.platform.extractive.places import article, characters, resource, rows
from actors.platform.text.language import Language
from actors.platform.text.markdown import opening, unlinked
from actors.platform.text.quotation_marks import quoted
from actors.systems.drafting.draft import Draft, Source
from models.content.drafting import SAMPLE, origin
from models.text import one_line, shortened

_MOST_OF_ADDRESS = 2000
_MOST_OF_REASON = 300
_TITLE = 200


def render(draft: Draft, sources: Sequence[Source]) -> str:
    """The article's Markdown: its paragraphs and its footnotes. What its desk has to know is not in it.

    In prose the footnote of source n is `[^n]`, and only sources that are named have one; in quotations every
    statement has a footnote of its own, which says where in its source it stands.
    """
    body, notes = _quoted(draft, sources) if draft.written == "quotes" else _prose(draft, sources)
    return "\n\n".join([*body, *notes]) + "\n"


def _quoted(draft: Draft, sources: Sequence[Source]) -> tuple[list[str], list[str]]:
    """The paragraphs and the footnotes of a draft of quotations."""
    paragraphs: list[list[str]] = []
    notes = []
    for number, statement in enumerate(draft.statements, start=1):
        place = statement.place
        assert place is not None, "a quotation says where it stands"
        source = sources[place.source - 1]
        is_text = place.start is not None
        if statement.new_paragraph or not paragraphs:
            title = quoted(shortened(source.finding.name, _TITLE) or "…", draft.language)
            paragraphs.append([f"{unlinked(title)}:"] if is_text else [])
        text = quoted(unlinked(statement.text), draft.language) if is_text else unlinked(statement.text)
        paragraphs[-1].append((text if paragraphs[-1] else opening(text)) + f"[^{number}]")
        if place.start is not None and place.end is not None:
            where = characters(place.start, place.end, draft.language)
        else:
            where = rows(place.cells, draft.language)
        notes.append(f"[^{number}]: {_definition(source, draft.language)}, {where}")
    return [" ".join(paragraph) for paragraph in paragraphs], notes


def _prose(draft: Draft, sources: Sequence[Source]) -> tuple[list[str], list[str]]:
    """The paragraphs and the footnotes of a draft that a model wrote."""
    paragraphs: list[list[str]] = []
    for statement in draft.statements:
        if statement.new_paragraph or not paragraphs:
            paragraphs.append([])
        marks = "".join(f"[^{number}]" for number in statement.sources)
        text = unlinked(statement.text)
        paragraphs[-1].append((opening(text) if not paragraphs[-1] else text) + marks)
    notes = [f"[^{number}]: {_definition(sources[number - 1], draft.language)}" for number in draft.named]
    return [" ".join(paragraph) for paragraph in paragraphs], notes


def _definition(source: Source, language: Language) -> str:
    finding = source.finding
    where = origin(SAMPLE) if finding.is_sample else unlinked(finding.source)
    if finding.article_id is not None:
        where = article(finding.article_id, language)
    told = [opening(unlinked(finding.name)) or "Untitled", " — ", where or "unknown"]
    if address := _address(finding.url):
        told += [", ", address]
    return "".join(told) + f" ({resource(source.resource_id, language)})"


def _address(url: str | None) -> str | None:
    """A link to where it was read; what is no http(s) address is shown as text."""
    if not url or not one_line(url):
        return None
    whole = url.strip()
    try:
        parts = urlsplit(whole)
        linked = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.username is None
    except ValueError:
        linked = False
    if not linked or len(whole) > _MOST_OF_ADDRESS or one_line(whole) != whole:
        return unlinked(shortened(url, _MOST_OF_REASON))
    return f"<{quote(whole, safe=':/?#[]@!$&()*+,;=%~-._')}>"
