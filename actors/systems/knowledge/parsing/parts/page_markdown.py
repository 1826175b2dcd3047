"""The text of a page as Markdown: the runs that are kept, in their blocks.

Called by `main_text` with the parts of a page. What others say has a form that quoting goes by: a quotation
is a block of lines that begin with `> `; the last one, `> — Ann Example, spokeswoman`, says whose words they
are, if the page does. `<q>` is in “…”. U+FFFC stands for a formula or a picture within a sentence: it can't
be quoted.
"""

import re
from collections.abc import Iterator

from actors.systems.knowledge.parsing.parts.page_parts import (
    PageBlock,
    TextRun,
    is_layout,
    rows_of,
)
from actors.systems.knowledge.parsing.parts.quotations import speakers_of

_HEADINGS = {f"h{level}": "#" * level for level in range(1, 7)}
_GAP = re.compile(r"\n{3,}")
# Items of a list follow each other.
_LIST_GAP = re.compile(r"(?m)^(\0? *- [^\n]*(?:\n\0[^\n]*)*)\n\n(?=\0? *- )")
# Begins lines whose white space stays; no tree holds it.
_KEPT = "\0"
_MOST_CELLS = 50_000
# Of what is kept, in one quotation: then the page is set in by it.
_MOST_QUOTED, _LONG = 0.6, 1_000
_MOST_NESTED = 10
_NAMED = re.compile(r"[—–―-]{1,2} ?[^\W\d_][^.!?\n]{2,120}")
_DASHES = "—–―-"


def page_markdown(page: PageBlock) -> str:
    """The kept text, with its headings, lists, tables, quotations and code."""
    return _BlockWriter(page).written()


class _BlockWriter:
    def __init__(self, page: PageBlock) -> None:
        self._page = page
        self._kept = {part for part in _with_kept(page)}
        self._size = _size(page)
        self._within = 0

    def written(self) -> str:
        return _tidy("".join(self._inside(self._page))).replace(_KEPT, "")

    def _inside(self, part: PageBlock) -> Iterator[str]:
        named: PageBlock | None = None
        for place, child in enumerate(part.children):
            if isinstance(child, TextRun):
                yield child.text if child.kept else ""
            elif child in self._kept and child is not named:
                if child.is_quotation:
                    named = self._named_behind(part, place)
                yield from self._block(child, named)

    def _named_behind(self, part: PageBlock, place: int) -> PageBlock | None:
        """The paragraph behind a quotation, where it only says whose words that was: `— Ann Example`."""
        behind = part.children[place + 1] if place + 1 < len(part.children) else None
        if not isinstance(behind, PageBlock) or behind not in self._kept or behind.tag not in ("p", "div"):
            return None
        said = _one_line("".join(run.text for run in behind.runs()))
        return behind if _NAMED.fullmatch(said) else None

    def _block(self, part: PageBlock, named: PageBlock | None = None) -> Iterator[str]:
        tag = part.tag
        if tag == "pre":
            yield _code("".join(run.text for run in part.runs() if run.kept))
        elif tag == "table" and (rows := self._rows(part)):
            yield "\n\n" + "\n".join(rows) + "\n\n"
        elif tag in _HEADINGS:
            text = _one_line("".join(self._inside(part)))
            yield f"\n\n{_HEADINGS[tag]} {text}\n\n" if text else ""
        elif part.is_quotation and self._within < _MOST_NESTED and not self._is_layout(part):
            yield self._quotation(part, named)
        elif tag in ("li", "dd"):
            yield self._item(part)
        else:
            edge = "" if tag == "cite" else "\n\n"
            yield edge
            yield from self._inside(part)
            yield edge

    def _item(self, part: PageBlock) -> str:
        text = _tidy("".join(self._inside(part)))
        if not text:
            return ""
        first, *others = (line for line in text.split("\n") if line)
        return "\n" + "\n".join([f"- {first}", *(f"{_KEPT}  {line}" for line in others)]) + "\n"

    def _is_layout(self, part: PageBlock) -> bool:
        return self._size > _LONG and _size(part) > _MOST_QUOTED * self._size

    def _quotation(self, part: PageBlock, behind: PageBlock | None) -> str:
        """The lines of a quotation, and last whose words it is."""
        speakers = [one for one in (*speakers_of(part), *([behind] if behind else ())) if one in self._kept]
        named = [_one_line("".join(self._inside(one))).lstrip(f"{_DASHES} ") for one in speakers]
        self._kept.difference_update(speakers)
        self._within += 1
        text = _tidy("".join(self._unquoted(part)))
        self._within -= 1
        self._kept.update(speakers)
        lines = [*(text.split("\n") if text else ()), *(f"— {name}" for name in named if name)]
        return "\n\n" + "\n".join(f"{_KEPT}> {line}".rstrip() for line in lines) + "\n\n"

    def _unquoted(self, part: PageBlock) -> Iterator[str]:
        """What is within; of a figure, within its quotation, too."""
        for child in part.children:
            if part.tag == "figure" and isinstance(child, PageBlock) and child.tag == "blockquote":
                yield from self._inside(child)
            elif isinstance(child, TextRun):
                yield child.text if child.kept else ""
            elif child in self._kept:
                yield from self._block(child)

    def _rows(self, table: PageBlock) -> list[str]:
        """A table's rows; none where it is there for the looks, or has one column."""
        if is_layout(table):
            return []
        rows: list[list[str]] = []
        cells = 0
        for row in rows_of(table):
            found = [self._cell(cell) for cell in row.children if isinstance(cell, PageBlock)]
            cells += len(found)
            if cells > _MOST_CELLS:
                break
            if any(found):
                rows.append(found)
        width = max((len(row) for row in rows), default=0)
        if width < 2:
            return []
        told = [f"| {' | '.join([*row, *[''] * (width - len(row))])} |" for row in rows]
        captions = [
            _one_line("".join(self._inside(child)))
            for child in table.children
            if isinstance(child, PageBlock) and child.tag == "caption"
        ]
        return [*(f"{one}\n" for one in captions if one), told[0], "|" + "---|" * width, *told[1:]]

    def _cell(self, cell: PageBlock) -> str:
        """A cell is one line: its blocks follow each other, behind a semicolon or what ends them."""
        told = ""
        for line in self._lines_in(cell):
            gap = " " if not told or told[-1] in ".!?:;…" else "; "
            told = f"{told}{gap}{line}".strip()
        return told.replace("|", "\\|")

    def _lines_in(self, part: PageBlock) -> Iterator[str]:
        for child in part.children:
            if isinstance(child, TextRun):
                if child.kept:
                    yield _one_line(child.text)
            elif child.tag == "tr":
                cells = (
                    _one_line(" ".join(self._lines_in(cell)))
                    for cell in child.children
                    if isinstance(cell, PageBlock)
                )
                if line := _one_line(" ".join(cells)):
                    yield line
            else:
                yield from self._lines_in(child)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _code(text: str) -> str:
    if not text.strip():
        return ""
    fence = "```"
    while fence in text:
        fence += "`"
    lines = (fence, *text.split("\n"), fence)
    return "\n\n" + "\n".join(_KEPT + line for line in lines) + "\n\n"


def _tidy(text: str) -> str:
    """Lines without white space around them, but for those that stay as they are."""
    lines = (line if line.startswith(_KEPT) else line.strip() for line in text.split("\n"))
    return _LIST_GAP.sub(r"\1\n", _GAP.sub("\n\n", "\n".join(lines))).strip("\n")


def _with_kept(part: PageBlock) -> Iterator[PageBlock]:
    """The parts that hold kept text, at any depth."""
    has = False
    for child in part.children:
        if isinstance(child, TextRun):
            has = has or child.kept
        else:
            for inner in _with_kept(child):
                has = True
                yield inner
    if has:
        yield part


def _size(part: PageBlock) -> int:
    return sum(len(run.text) for run in part.runs() if run.kept)


def _parts_within(part: PageBlock) -> Iterator[PageBlock]:
    for child in part.children:
        if isinstance(child, PageBlock):
            yield child
            yield from _parts_within(child)
