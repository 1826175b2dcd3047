"""The sentences of a source, each with the place it comes from, so that they can be quoted word for word.

A source is Markdown, the plain text of a web page, or a transcript. What of it is prose, and which lines are
one paragraph, is told here; where its sentences end, by `sentence_spans`.
"""

import re
from collections.abc import Iterator
from itertools import islice, pairwise

from actors.platform.text.language import Language, is_of_another, language_of
from actors.platform.text.sentences.sentence_boundaries import ends, opens_sentences
from actors.platform.text.sentences.sentence_spans import (
    EMPHASIS,
    FOOTNOTE,
    LONGEST,
    LOOKED_AT,
    OPENING,
    QUOTED_LINE,
    Span,
    sentence_spans,
)
from models.record import Record
from models.text import one_line, seen

_MOST_SENTENCES = 20_000

_LINE = re.compile(r"([^\n\r\v\f\x1c-\x1e\x85\u2028\u2029]*)(?:\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]|\Z)")
_FENCE = re.compile(r"^[ ]{0,3}(```|~~~)", re.MULTILINE)
_FRONT_MATTER = re.compile(r"\ufeff?---[ \t]*\r?\n[\w-]{1,60}:")
_FRONT_MATTER_END = re.compile(r"^(?:---|\.\.\.)[ \t]*\r?$", re.MULTILINE)
_MOST_FRONT_MATTER = 5_000
_QUOTED = re.compile(r"[ \t]{0,3}(?:>[ \t]?){1,9}")
ITEM = re.compile(r"[ \t]{0,40}(?:([-*+•·▪◦‣])|(\d{1,3})[.)]|[a-zA-Z][)])[ \t]+(?:\[[ xX]\][ \t]+)?(?=\S)")
_SPEECH_DASH = re.compile(r"[ \t]{0,40}[–—][ \t]")
_DEFINITION = re.compile(r"[ ]{0,3}\[[^\[\]]{1,80}\]:(?:[ \t]|\Z)")
_TIMES = re.compile(r"[\d:.,\s\[\]()>-]{1,80}\Z")
_CLOCK = re.compile(r"\d:\d\d")
_UNDERLINE = re.compile(r"(?:=+|-+)[ \t]*\Z")
_RULE = re.compile(r"[-*_=~#+.•·\s]{3,}\Z")
_HEADING = re.compile(r"[ \ufeff]{0,3}#{1,6}(?:\s|\Z)")
_TAG = re.compile(r"[ ]{0,3}</?[a-zA-Z!]")
_FEWEST_BARS = 2
# Of a block with wrapped lines, how full a line is; and how wide it is at least, if no captions.
_WRAPPED = 0.6
_NARROW = 60

_ESCAPE = re.compile(r"\\(?=[\\`*{}\[\]<>|~&$#])")
_BLANK = " \t\u00a0\u200b\ufeff"


class Sentence(Record):
    """A sentence of a source, and the slice of it that it is."""

    text: str
    start: int
    end: int
    paragraph: int


def sentences(text: str, language: Language | None = None) -> tuple[Sentence, ...]:
    """The sentences of a text in their order, at most 20,000, and none of more than 1,500 characters.

    Headings, tables, code, footnotes and front matter have none; an item of a list has if it ends like one.
    """
    spoken = language or language_of(text)
    is_other = spoken == "en" and is_of_another(text)
    found: list[Sentence] = []
    number = 0
    for begun, done, is_torn in _paragraphs(text, spoken):
        first = len(found)
        for start, end in islice(sentence_spans(text, begun, done, spoken, is_other=is_other), is_torn, None):
            said = as_read(text[start:end])
            if end - start <= LONGEST and any(map(str.isalnum, said)):
                found.append(Sentence(text=said, start=start, end=end, paragraph=number))
            if len(found) == _MOST_SENTENCES:
                return tuple(found)
        number += len(found) > first
    return tuple(found)


def as_read(source: str) -> str:
    """A slice of a source as its reader sees it: one line without emphasis, escapes and footnote marks."""
    bare = FOOTNOTE.sub("", seen(QUOTED_LINE.sub(" ", source)))
    return one_line(_ESCAPE.sub("", EMPHASIS.sub("", bare)))


def _paragraphs(text: str, language: Language) -> Iterator[tuple[int, int, bool]]:
    """The prose of a text, paragraph by paragraph; an item of a list is one if it ends like a sentence.

    With whether it may begin in the middle of a sentence.
    """
    for kind, lines in _blocks(text):
        begun, last, is_torn = lines[0][0], lines[-1], False
        if kind in ("text", "item"):
            for above, below, may_go_on in _hard_breaks(text, lines, language, wrapped=kind == "item"):
                # What stands above in an item is its heading.
                if kind == "text":
                    yield begun, above[1], is_torn
                begun, is_torn = below[0], may_go_on
        if kind == "text" or (kind == "item" and _ends_like_a_sentence(text, last)):
            yield begun, last[1], is_torn


def _blocks(text: str) -> Iterator[tuple[str, list[Span]]]:
    """Lines that belong together, without what marks them, and what they are: `text`, `item` or `note`."""
    kind, was_quoted = "text", False
    lines: list[Span] = []
    behind, code = _behind_front_matter(text), _code(text)
    for found in _LINE.finditer(text, behind):
        start, end = found.span(1)
        if start < behind:
            continue
        quoted = _QUOTED.match(text, start, end)
        begun = quoted.end() if quoted else start
        line = text[begun:end].strip(_BLANK)
        opened = None
        if start in code:
            behind = code[start]
            opened, line = "text", ""
        elif not line or _is_no_prose(line):
            if kind == "text" and len(lines) == 1 and _UNDERLINE.match(line):
                lines = []  # it was a heading
            opened, line = "text", ""
        elif _DEFINITION.match(line):
            opened = "note"
        elif (item := ITEM.match(text, begun, end)) and (
            item[2] in (None, "1") or kind == "item" or not lines
        ):
            opened, begun = "item", item.end()
        elif _SPEECH_DASH.match(line) or bool(quoted) != was_quoted:
            opened = "text"
        if opened:
            if lines:
                yield kind, lines
            kind, lines = opened, []
        if line:
            lines.append((begun, end))
        was_quoted = bool(quoted)
    if lines:
        yield kind, lines


def _behind_front_matter(text: str) -> int:
    if not _FRONT_MATTER.match(text):
        return 0
    end = _FRONT_MATTER_END.search(text, 4, _MOST_FRONT_MATTER)
    return end.end() if end else 0


def _code(text: str) -> dict[int, int]:
    """Where code begins and ends: from a fence up to the next of its kind, if there is one."""
    found: dict[int, int] = {}
    opened: dict[str, int] = {}
    for fence in _FENCE.finditer(text):
        kind = fence[1]
        if kind in opened:
            found[opened.pop(kind)] = fence.end()
            opened.clear()
        else:
            opened[kind] = fence.start()
    # One that is never closed is a line without words.
    found.update({start: start + 1 for start in opened.values()})
    return found


def _is_no_prose(line: str) -> bool:
    """A heading, a rule, a row of a table or of links, a tag, or the time of a caption."""
    return bool(
        _HEADING.match(line)
        or _RULE.match(line)
        or line.startswith("|")
        or line.count(" | ") >= _FEWEST_BARS
        or (_TAG.match(line) and line.endswith(">"))
        or (_TIMES.match(line) and _CLOCK.search(line))
    )


def _ends_like_a_sentence(text: str, line: Span) -> bool:
    return ends(as_read(text[max(line[0], line[1] - LOOKED_AT) : line[1]]))


def _hard_breaks(
    text: str, lines: list[Span], language: Language, *, wrapped: bool
) -> Iterator[tuple[Span, Span, bool]]:
    """Neighbouring lines that aren't one sentence wrapped: the next word would have had room above.

    Where lines may be `wrapped` in any case, much room. With whether they may be one nevertheless: short ones
    that all begin with a capital, where a word that opens sentences had no room.
    """
    if len(lines) == 1:
        return
    width = max(end - start for start, end in lines)
    starts = [text[start : start + LOOKED_AT].lstrip(_BLANK + OPENING) for start, _ in lines]
    is_wrapped = wrapped or any(start[:1].islower() for start in starts[1:])
    if is_wrapped and not wrapped and width < _NARROW:
        return  # captions
    for (above, below), start in zip(pairwise(lines), starts[1:], strict=True):
        word = start.split(maxsplit=1)[0] if start.strip() else ""
        has_room = above[1] - above[0] + 1 + len(word) < (width * _WRAPPED if is_wrapped else width)
        is_break = has_room or (width < _NARROW and not is_wrapped and opens_sentences(word, language))
        if is_break and start[:1].isupper() and not _ends_like_a_sentence(text, above):
            yield above, below, not has_room
