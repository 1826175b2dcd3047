"""Which parts of a page are its text: what trafilatura found, and what it lost between and behind that.

`main_text` calls it. Trafilatura knows the text of a page from what stands around it, and loses lists,
captions and tables: what stands among what it found, is no heap of links and is not called anything else, is
text as well. Parts are found again by their words, five in a row, or by whole lines.
"""

from collections.abc import Iterator

from actors.systems.knowledge.parsing.parts.page_parts import (
    PageBlock,
    TextRun,
    is_layout,
    is_meant_for_readers,
    names_of_part,
    unfolds,
    words_of,
)
from actors.systems.knowledge.parsing.parts.part_names import is_called
from actors.systems.knowledge.parsing.parts.quotations import speakers_of

_IN_A_ROW = 5
_FEW = range(3, _IN_A_ROW)
_ENOUGH = 0.75
_MOST_LINKED = 0.3
# A part holds the text if it has so much of it; only there what comes last belongs to it.
_HOLDS = 0.6
# A shorter one that stands in no paragraph is asked of the reader, or said of the page.
_LEAST = 40
_OF_TABLE, _MOST_LINKED_IN_TABLE = 0.2, 0.6
# What text is in. A part that holds others is gone into only where its name says what it is.
_FLOW = frozenset(("p", "ul", "ol", "dl", "table", "blockquote", "figure", "pre", "details", "aside"))
_TEXT = _FLOW | frozenset(("h2", "h3", "h4", "h5", "h6", "hr"))
_LISTS = frozenset(("ul", "ol", "dl"))
_FORMS = frozenset(("form", "fieldset", "legend", "h1", "h2", "h3", "h4", "h5", "h6"))


def choose(page: PageBlock, found: str, *, is_dump: bool = False) -> None:
    """Mark the runs whose words stand in a text; of a dump of all lines there are, none around the text."""
    rows, lines = _index(found)
    said: set[tuple[str, ...]] = set()
    runs = list(page.runs())
    for run in runs:
        words = run.words
        is_long = len(words) >= _IN_A_ROW
        run.kept = bool(words) and words not in said and (not run.around or (is_long and not is_dump))
        run.kept = run.kept and _is_in(words, rows, lines)
        if run.kept and is_long:
            said.add(words)
    # A short line that was broken up is found by what stands next to it.
    few = {row[:size] for row in rows for size in _FEW}
    for before, run, after in zip([None, *runs], runs, [*runs[1:], None], strict=False):
        if not run.kept and not run.around and len(run.words) in _FEW and run.words in few:
            run.kept = (before is not None and before.kept) or (after is not None and after.kept)


def held_in(page: PageBlock, text: str) -> Iterator[tuple[TextRun, bool]]:
    """Each run of a page, and whether its words stand in a text, however often the page has them."""
    rows, lines = _index(text)
    for run in page.runs():
        yield run, _is_in(run.words, rows, lines)


def share_shown(page: PageBlock, found: str) -> float:
    """How much of a text stands on the page: little of what is made of data that the page holds."""
    shown = {row for run in page.runs() for row in _rows_of(run.words)}
    rows = list(_rows_of(words_of(found)))
    return sum(row in shown for row in rows) / len(rows) if rows else 1.0


def choose_all(page: PageBlock) -> None:
    """Mark all that is not around the text; where that is nothing, all but links."""
    runs = list(page.runs())
    for run in runs:
        run.kept = not run.around
    if not any(run.kept for run in runs):
        for run in runs:
            run.kept = not run.linked


def regain(page: PageBlock) -> None:
    """Mark what was lost among the runs that are marked."""
    _Regaining(page).regain()


def _index(found: str) -> tuple[set[tuple[str, ...]], set[tuple[str, ...]]]:
    words = words_of(found)
    rows = {words[at : at + _IN_A_ROW] for at in range(len(words) - _IN_A_ROW + 1)}
    lines = set()
    for line in found.split("\n"):
        lines.add(words_of(line))
        if line.startswith("|"):
            lines.update(words_of(cell) for cell in line.split("|"))
    return rows, lines


def _is_in(words: tuple[str, ...], rows: set[tuple[str, ...]], lines: set[tuple[str, ...]]) -> bool:
    if words in lines:
        return True
    count = len(words) - _IN_A_ROW + 1
    if count < 1:
        return False
    return sum(words[at : at + _IN_A_ROW] in rows for at in range(count)) >= _ENOUGH * count


class _Regaining:
    def __init__(self, page: PageBlock) -> None:
        self._page = page
        self._kept: dict[PageBlock, int] = {}
        self._linked: dict[PageBlock, int] = {}
        self._size: dict[PageBlock, int] = {}
        self._rows: set[tuple[str, ...]] = set()
        for run in page.runs():
            if run.kept:
                self._rows.update(_rows_of(run.words))

    def regain(self) -> None:
        self._measure(self._page)
        self._all = self._kept[self._page]
        if self._all:
            self._go(self._page)
            _keep_speakers(self._page)

    def _measure(self, part: PageBlock) -> None:
        kept = linked = size = 0
        for child in part.children:
            if isinstance(child, TextRun):
                size += len(child.text)
                linked += child.linked
                kept += len(child.text) if child.kept else 0
            else:
                self._measure(child)
                kept += self._kept[child]
                linked += self._linked[child]
                size += self._size[child]
        self._kept[part], self._linked[part], self._size[part] = kept, linked, size

    def _has_kept(self, child: PageBlock | TextRun) -> bool:
        return child.kept if isinstance(child, TextRun) else self._kept[child] > 0

    def _go(self, part: PageBlock) -> None:
        if part.tag == "table" and self._is_data(part):
            for run in part.runs():
                run.kept = run.kept or not run.around
            return
        places = [place for place, child in enumerate(part.children) if self._has_kept(child)]
        first, last = places[0], places[-1]
        holds = self._kept[part] >= _HOLDS * self._all
        name = names_of_part(part.element)
        gathers = part.tag in _LISTS or part.is_quotation or unfolds(name)
        gathers = gathers and not is_called(name, "others")
        near = self._beside_text(part)
        for place, child in enumerate(part.children):
            if self._has_kept(child):
                if isinstance(child, PageBlock):
                    self._go(child)
            elif gathers:
                if self._is_little_linked(child):
                    self._add_all(child)
            elif first < place < last:
                self._add(child, beside=near[place])
            elif holds and (place > last or part.tag in ("article", "main")):
                # Paragraphs that trafilatura leaves out there are about the site.
                is_text = place > last and isinstance(child, PageBlock) and child.tag != "p"
                self._add(child, beside=is_text and near[place])

    def _beside_text(self, block: PageBlock) -> list[bool]:
        """Of each place, whether text stands next to it, and no part that holds others."""
        near = [False] * len(block.children)
        for places in (range(len(near)), range(len(near) - 1, -1, -1)):
            is_text = False
            for place in places:
                child = block.children[place]
                near[place] |= is_text
                if self._has_kept(child):
                    is_text = isinstance(child, TextRun) or child.tag in _TEXT
        return near

    def _is_data(self, table: PageBlock) -> bool:
        """Whether a table was found by a good part of it, and is no layout of a page."""
        return (
            self._kept[table] >= _OF_TABLE * self._size[table]
            and self._linked[table] <= _MOST_LINKED_IN_TABLE * self._size[table]
            and not is_layout(table)
        )

    def _add(self, child: PageBlock | TextRun, *, beside: bool) -> None:
        if isinstance(child, TextRun):
            if beside and _is_sentence(child):
                self._keep(child)
            return
        if child.around or child.tag in _FORMS or not self._is_little_linked(child):
            return
        name = names_of_part(child.element)
        if is_called(name, "others"):
            return
        is_meant = child.tag in ("figure", "details") or is_meant_for_readers(name) or child.is_quotation
        if child.tag == "figure":
            if not _is_told(child):
                return
        elif not is_meant and not (beside and (child.tag in _FLOW or _is_plain(child))):
            return
        for inner in child.children:
            self._add_all(inner)

    def _add_all(self, child: PageBlock | TextRun) -> None:
        if isinstance(child, TextRun):
            self._keep(child)
        elif not child.around and not is_called(names_of_part(child.element), "others"):
            for inner in child.children:
                self._add_all(inner)

    def _is_little_linked(self, child: PageBlock | TextRun) -> bool:
        if isinstance(child, TextRun):
            return child.linked <= _MOST_LINKED * len(child.text)
        return self._linked[child] <= _MOST_LINKED * self._size[child]

    def _keep(self, run: TextRun) -> None:
        if not run.around and self._is_new(run) and self._is_little_linked(run):
            run.kept = True

    def _is_new(self, run: TextRun) -> bool:
        """Whether it is not said already, as a quotation that a page pulls out of its text is."""
        own = list(_rows_of(run.words))
        return not own or sum(row in self._rows for row in own) < _ENOUGH * len(own)


def _keep_speakers(part: PageBlock) -> bool:
    """Mark who is named with each quotation that is kept. Gives whether anything in a part is kept."""
    has = False
    for child in part.children:
        has |= child.kept if isinstance(child, TextRun) else _keep_speakers(child)
    if has and part.is_quotation:
        for named in speakers_of(part):
            for run in named.runs():
                run.kept = True
    return has


def _is_plain(block: PageBlock) -> bool:
    """Whether it is a paragraph in all but name: a sentence, and no block in it."""
    return all(
        isinstance(child, TextRun) and len(child.text) >= _LEAST and _is_sentence(child)
        for child in block.children
    )


def _is_told(figure: PageBlock) -> bool:
    """Whether a figure's words are a sentence: a name or a credit alone is none."""
    return any(_is_sentence(run) for run in figure.runs())


def _is_sentence(run: TextRun) -> bool:
    return run.text.rstrip('”"*)').endswith((".", "!", "?", "。"))


def _rows_of(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    return (words[at : at + _IN_A_ROW] for at in range(len(words) - _IN_A_ROW + 1))
