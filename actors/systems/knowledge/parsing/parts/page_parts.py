"""What is seen of a page, as its parts: blocks that lie in each other, and the runs of text in them.

`main_text` makes them once for a page; `choosing` marks which runs are its text, `page_markdown` writes them.
A run is what stands in one block without a break, with its marks as Markdown. What a reader does not see is
in no part: scripts, and what is hidden and not merely folded. The tree was made ready by `settling`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from actors.systems.knowledge.parsing.parts.inline_marks import LinePiece, code_of, flowing, inline_marks
from models.text import word_list

_UNSEEN = frozenset(
    word_list("""
        script style noscript template head iframe object canvas audio video map select textarea datalist
        option input meta link title rp rt svg math img picture amp-ad amp-sticky-ad amp-embed
    """)
)
_AROUND = frozenset(word_list("nav footer aside button dialog menu"))
BLOCKS = frozenset(
    word_list("""
        address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption
        figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol p pre section
        summary table tbody td tfoot th thead tr ul
    """)
)
_SAYS_WHO = frozenset(("footer", "figcaption", "cite"))
# What is folded until it is asked for, and what is meant for whoever reads the text, is called so.
_FOLDED = re.compile(
    r"accordion|collaps|faq|toggle|fold|panel|expand|tab(?:s|[_-]|\b)|disclos|answer|read-?more|spoiler",
    re.IGNORECASE,
)
_UNFOLDS = re.compile(r"accordion|collaps|\bfaq|disclosure|tab-?(?:content|pane)|\btabs\b", re.IGNORECASE)
_NOTE = re.compile(
    r"\b(?:note|admonition|callout|tip|hint|warning|caution|danger|important|info|alert|pull-?quote)s?\b"
    r"|fact-?box|info-?box|key-?facts",
    re.IGNORECASE,
)
# A cell that holds more is a column of a page that is laid out by a table.
_LONGEST_CELL = 1_000
_OF_PAGES, _BOXES = frozenset(("h1", "h2", "h3", "h4", "table")), frozenset(("div", "section", "center"))
_WORD = re.compile(r"[^\W_]+")


@dataclass(eq=False, slots=True)
class TextRun:
    """Text of one block without a break; `linked` of its characters are links. `kept`: it is the text."""

    text: str
    linked: int
    around: bool
    is_code: bool = False
    kept: bool = False
    words: tuple[str, ...] = ()


@dataclass(eq=False, slots=True)
class PageBlock:
    """A block of the page. `around`: it is no text of the page by its tag, as menus are.

    What is somebody's words, and which part says whose, `quotations` marks.
    """

    tag: str
    element: Any
    around: bool
    children: "list[PageBlock | TextRun]" = field(default_factory=list)
    is_quotation: bool = False
    is_speaker: bool = False

    def runs(self) -> "Iterator[TextRun]":
        """All text within, in order."""
        for child in self.children:
            if isinstance(child, TextRun):
                yield child
            else:
                yield from child.runs()


def names_of_part(element: Any) -> str:
    """What the page calls an element: its classes, id and role, for whoever goes by them."""
    told = (element.get("class"), element.get("id"), element.get("role"))
    return " ".join(name for name in told if name)[:300]


def words_of(text: str) -> tuple[str, ...]:
    """The words of a text, whatever their case and the marks around them."""
    return tuple(_WORD.findall(text.lower()))


def parts_of(tree: Any) -> PageBlock:
    """The parts of a page.

    Args:
        tree: an lxml tree of the page or of a part of it, no deeper than the parser lets trees be.
    """
    body = tree.find(".//body")
    root = tree if body is None else body
    return _Parts(root).root


class _Parts:
    def __init__(self, root: Any) -> None:
        self._breaks = _elements_with_blocks(root)
        self._runs: list[LinePiece] = []
        self.root = PageBlock(tag="body", element=root, around=False)
        self._fill(self.root, root)
        self._flush(self.root)

    def _fill(self, part: PageBlock, element: Any) -> None:
        self._say(element.text)
        for child in element:
            if isinstance(child.tag, str):
                self._child(part, child)
            self._say(child.tail)

    def _child(self, part: PageBlock, child: Any) -> None:
        tag = child.tag
        if tag in _UNSEEN:
            return
        if (
            tag in BLOCKS
            or (tag == "button" and not opens(child))
            or (tag == "cite" and (_ends_quotation(child) or _stands_behind(child)))
        ):
            self._flush(part)
            self._block(part, child)
        elif child in self._breaks:
            self._fill(part, child)
        else:
            before, self._runs = self._runs, []
            self._fill(part, child)
            inner, self._runs = self._runs, before
            self._runs.extend(inline_marks(child, inner, before))

    def _block(self, part: PageBlock, child: Any) -> None:
        found = PageBlock(tag=child.tag, element=child, around=part.around or _is_around(child))
        if child.tag == "pre":
            code = code_of(child)
            found.children.append(
                TextRun(text=code, linked=0, around=found.around, is_code=True, words=words_of(code))
            )
        else:
            self._fill(found, child)
            self._flush(found)
        if found.children or found.tag == "hr":
            part.children.append(found)

    def _say(self, text: str | None) -> None:
        if text:
            self._runs.append(LinePiece(text=text))

    def _flush(self, part: PageBlock) -> None:
        pieces, self._runs = self._runs, []
        if not pieces:
            return
        text = flowing(pieces)
        if text:
            linked = sum(len(piece.text) for piece in pieces if piece.is_link)
            part.children.append(TextRun(text=text, linked=linked, around=part.around, words=words_of(text)))


def is_layout(table: PageBlock) -> bool:
    """Whether a table is there for the looks: it says so, or a cell holds what is a column of a page.

    One that names its columns or rows is none, however much its cells hold.
    """
    if table.element.get("role") in ("presentation", "none"):
        return True
    cells = [cell for row in rows_of(table) for cell in row.children if isinstance(cell, PageBlock)]
    if any(sum(len(run.text) for run in cell.runs()) > _LONGEST_CELL for cell in cells):
        return True
    return not any(cell.tag == "th" for cell in cells) and any(map(_is_column, cells))


def _is_column(cell: PageBlock) -> bool:
    """Whether a cell holds blocks as a page does: a heading, another table, or paragraphs."""
    tags = list(_tags_in(cell))
    return not _OF_PAGES.isdisjoint(tags) or tags.count("p") > 1


def _tags_in(part: PageBlock) -> Iterator[str]:
    for child in part.children:
        if isinstance(child, PageBlock):
            yield child.tag
            if child.tag in _BOXES:
                yield from _tags_in(child)


def rows_of(table: PageBlock) -> Iterator[PageBlock]:
    """The rows of a table, without those of tables in its cells."""
    for child in table.children:
        if isinstance(child, PageBlock):
            if child.tag == "tr":
                yield child
            elif child.tag in ("thead", "tbody", "tfoot"):
                yield from rows_of(child)


def _elements_with_blocks(root: Any) -> set[Any]:
    """What holds a block, however deep: each element is looked at once."""
    found: set[Any] = set()
    for element in root.iter():
        if element.tag in BLOCKS:
            for above in element.iterancestors():
                if above in found:
                    break
                found.add(above)
    return found


def _ends_quotation(cite: Any) -> bool:
    """Whether it says at the end of a quotation whose it is; elsewhere it is the title of a work."""
    if (cite.tail or "").strip() or any(
        (after.text or after.tail or "").strip() for after in cite.itersiblings()
    ):
        return False
    above = [one.tag for one, _ in zip(cite.iterancestors(), range(3), strict=False)]
    return "blockquote" in above and _SAYS_WHO.isdisjoint(above)


def _stands_behind(cite: Any) -> bool:
    """Whether it stands by itself behind a block: there it says whose words that holds."""
    before, above = cite.getprevious(), cite.getparent()
    alone = not (cite.tail or "").strip() and above.tag in BLOCKS and above.tag != "p"
    return (
        alone and before is not None and before.tag in ("p", "blockquote") and not (before.tail or "").strip()
    )


def opens(button: Any) -> bool:
    """Whether a button is the heading of what it unfolds."""
    above = button.getparent()
    if button.get("aria-expanded") is not None or button.get("aria-controls") is not None:
        return True
    return above is not None and (
        above.tag in ("h1", "h2", "h3", "h4", "h5", "h6", "dt", "summary")
        or _FOLDED.search(names_of_part(above)) is not None
    )


def _is_around(element: Any) -> bool:
    tag = element.tag
    if tag == "aside":
        return not (is_note(element) or _is_aside_of_text(element))
    if tag == "footer":
        return not any(
            above.tag == "blockquote" for above, _ in zip(element.iterancestors(), range(4), strict=False)
        )
    return tag in _AROUND or (element.get("role") or "") in ("navigation", "search", "contentinfo")


def is_folded(element: Any) -> bool:
    """Whether an element, or what it lies in, is called what is folded until it is asked for."""
    above = element.getparent()
    return _FOLDED.search(names_of_part(element)) is not None or (
        above is not None and _FOLDED.search(names_of_part(above)) is not None
    )


def unfolds(name: str) -> bool:
    """Whether a part is called what is folded until it is asked for."""
    return _UNFOLDS.search(name) is not None


def is_meant_for_readers(name: str) -> bool:
    """Whether a part is called what is folded until it is asked for, or a note to the text."""
    return unfolds(name) or _NOTE.search(name) is not None


def _is_aside_of_text(aside: Any) -> bool:
    """Whether it lies in the text, and is called nothing: a site calls what it puts there."""
    return not names_of_part(aside).strip() and any(
        above.tag in ("article", "main") for above in aside.iterancestors()
    )


def is_note(element: Any) -> bool:
    """Whether a part beside the text is called what a reader of the text is meant to read."""
    return _NOTE.search(names_of_part(element)) is not None
