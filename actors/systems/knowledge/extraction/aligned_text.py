"""A text as a reader sees it, with the way back: what Markdown marks, and how a text is encoded, don't count.

Called by spans. Characters are mapped one cluster at a time, by classes, and marks are skipped; nothing is
compared by likeness. Case, accents, digits and every mark that is not said here count.

- Line breaks and runs of blanks are one blank; invisible characters are none.
- Canonically equal characters (NFC, NFD) are equal; so is a sign with and without its variation selector.
- Typographic quotation marks, dashes, full-width brackets, letters and digits, ligatures and the ellipsis are
  their ASCII forms.
- Of Markdown: pairs of emphasis and of code, the target of a link, what a line begins with, escapes.
"""

import re
import unicodedata
from bisect import bisect_left
from functools import cached_property, lru_cache

from actors.platform.text.numbers.number_spans import AROUND, UNSPACED, numbers
from actors.platform.text.numbers.number_spans import may_join as may_join_number
from actors.systems.knowledge.extraction.graphemes import clusters

# Dashes that part what is said, and are never a minus.
_LONG_DASHES = "—―"
_CLASSES = str.maketrans(
    dict.fromkeys("“”„‟«»″＂", '"')
    | dict.fromkeys("‘’‚‛‹›ʼ′＇", "'")
    | dict.fromkeys(f"‐‑‒–−{_LONG_DASHES}", "-")
    | dict.fromkeys("\ufe0e\ufe0f", "")
    | {"（": "(", "）": ")", "［": "[", "］": "]", "【": "[", "】": "]"}
    # Not U+FF0C, the comma: between figures it may part thousands, or sentences.
    | {chr(wide): chr(wide - 0xFEE0) for wide in range(0xFF10, 0xFF5B) if chr(wide).isalnum()}
    | dict(zip("ﬀﬁﬂﬃﬄﬅﬆ", ["ff", "fi", "fl", "ffi", "ffl", "st", "st"], strict=True))
    | {"…": "..."}
)
_AS_CONTEXT = {
    code: plain for code, plain in _CLASSES.items() if chr(code) not in _LONG_DASHES
} | dict.fromkeys(map(ord, "*`~"), "")
_UNSEEN = frozenset(
    "\u00ad\u061c\u180e\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff"
)
# Putting many accents in order takes quadratic time: a cluster with more stays as it is.
_MOST_COMPOSED = 32
_PREFIX = re.compile(
    r"[ \t]{0,40}(?:(?:#{1,6}[ \t]|[>*+•-][ \t](?![ \t]{0,9}\d)|[>*•]{1,3}(?=[ \t]?\n))[ \t]{0,9}){1,6}"
)
_BREAK = re.compile(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_MARK = re.compile(
    r"\\[\\`*_{}\[\]<>()#+.!|~&$-]|(?P<blank>\n[ \t\r]{0,40}\n)|(?P<opened>!?\[)"
    r"|(?P<closed>\]\([^()\s]{0,500}(?:\([^()\s]{0,200}\)[^()\s]{0,200}){0,3}(?: \"[^\"\n]{0,200}\")?\))"
    r"|\]|\*+|_+|~~|`+"
)
_LONGEST_RUN = 3
_PARAGRAPH = re.compile(r"\n[^\S\n]*\n")
_BLANKS = re.compile(r"\s+")
# What may stand before a mark at the beginning of its line.
_INDENT = 40
_UNSPACED = re.compile(f"[{UNSPACED}]")
# Characters that are clusters by themselves and their own normal form: most of most texts, many at a time.
_PLAIN = "!-~\u00c0-\u024f\u0400-\u0481\u048a-\u052f\u3001\u3002\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff"
_PLAIN_TEXT = re.compile(rf"[{_PLAIN}]+(?: [{_PLAIN}]+)*")
_PLAIN_RUN = re.compile(rf"{_PLAIN_TEXT.pattern}(?=[{_PLAIN}\s]|\Z)")
_FIRST_JOINING = "\u0300"


class NormalizedText:
    """The normal form of `text[start:end]`, and of each of its characters where it comes from.

    Args:
        lines: whether what begins a line may be a mark of Markdown. In a quotation it isn't: `> 5` says more.
    """

    def __init__(self, text: str, start: int, end: int, *, lines: bool = True) -> None:
        form: list[str] = []
        self._text, self._start, self._end = text, start, end
        self._starts: list[int] = []
        self._ends: list[int] = []
        skipped = _skipped(text, start, end, lines=lines)
        at = start
        for run in _PLAIN_RUN.finditer(text, start, end):
            begun, done = run.span()
            if begun > start and text[begun - 1] >= _FIRST_JOINING:
                # It may join the run's first character.
                begun += 2 if text[begun + 1 : begun + 2] == " " else 1
            if begun >= done or not skipped.isdisjoint(range(begun, done)):
                continue
            self._add(form, at, begun, skipped)
            form += text[begun:done]
            self._starts += range(begun, done)
            self._ends += range(begun + 1, done + 1)
            at = done
        self._add(form, at, end, skipped)
        self.form = "".join(form)

    def _add(self, form: list[str], start: int, end: int, skipped: set[int]) -> None:
        """Add what is between plain runs, a cluster at a time."""
        text = self._text
        for begun, done in clusters(text, start, end):
            if all(place in skipped or text[place] in _UNSEEN for place in range(begun, done)):
                continue
            cluster = text[begun:done]
            if cluster.isspace():
                if form and form[-1] == " ":
                    self._ends[-1] = done
                    continue
                plain = " "
            else:
                plain = _plain(cluster) if done - begun <= _MOST_COMPOSED else cluster
            form += plain
            self._starts += [begun] * len(plain)
            self._ends += [done] * len(plain)

    def source(self, first: int, last: int) -> tuple[int, int] | None:
        """Where `form[first:last]` comes from; None where its ends cut a character, a word or a number."""
        if self._cuts(first) or self._cuts(last):
            return None
        return self._starts[first], self._ends[last - 1]

    def is_whole(self, start: int, end: int) -> bool:
        """Whether `text[start:end]` says something, and cuts no character, word or number at its ends."""
        first, last = bisect_left(self._starts, start), bisect_left(self._starts, end)
        if not self.form[first:last].strip():
            return False
        # Of a run of blanks a part is as good as all.
        begins_within = first > 0 and self._ends[first - 1] > start and self.form[first - 1] != " "
        ends_within = self._ends[last - 1] > end and self.form[last - 1] != " "
        return not begins_within and not ends_within and self.source(first, last) is not None

    def shown(self, text: str, start: int, end: int) -> str:
        """What a reader sees of `text[start:end]`, on one line, in its own characters."""
        place, last = bisect_left(self._starts, start), bisect_left(self._starts, end)
        form = self.form[place:last]
        if form and text[self._starts[place] : self._ends[last - 1]] == form:
            return form.strip()
        seen = list[str]()
        while place < last:
            begun, done = self._starts[place], self._ends[place]
            behind = place + 1
            while behind < len(self.form) and self._starts[behind] == begun:
                behind += 1
            # A blank may have marks among it; one that carries an accent is no blank.
            seen.append(" " if self.form[place:behind] == " " else text[begun:done])
            place = behind
        return "".join(seen).strip()

    def _cuts(self, place: int) -> bool:
        """Whether the form goes on at `place` with the same character, word or number."""
        if 0 < place < len(self.form) and self._starts[place - 1] == self._starts[place]:
            return True
        begins, ends = self._numbers
        number = bisect_left(begins, place) - 1
        if number >= 0 and place < ends[number]:
            return True
        edge = place in (0, len(self.form))
        before = self.form[place - 1] if place > 0 else self._text[max(self._start - 1, 0) : self._start]
        after = self.form[place] if place < len(self.form) else self._text[self._end : self._end + 1]
        if not before or not after:
            return False
        if _in_word(before) and _in_word(after):
            return True
        return edge and len(list(clusters(before + after, 0, 2))) == 1

    @cached_property
    def _numbers(self) -> tuple[list[int], list[int]]:
        """Where numbers begin and where they end, as places in the form; what stands around it counts."""
        before = _context(self._text[max(self._start - AROUND, 0) : self._start], last=True)
        behind = _context(self._text[self._end : self._end + AROUND], last=False)
        begins, ends = list[int](), list[int]()
        for first, last in numbers(f"{before}{self.form}{behind}"):
            begun = first - len(before)
            for place in range(max(begun, 0), min(last - len(before), len(self.form))):
                if self.form[place] in " -" and self._parts(place):
                    begins.append(begun)
                    ends.append(place)
                    begun = place + 1 + self.form.startswith(" ", place + 1)
            begins.append(begun)
            ends.append(last - len(before))
        return begins, ends

    def _parts(self, place: int) -> bool:
        """Whether a blank or a dash within a number is of no number: a paragraph ends, or a list goes on."""
        begun, done = self._starts[place], self._ends[place]
        source = self._text[begun:done]
        if self.form[place] == " ":
            return bool(_PARAGRAPH.search(source))
        item = source == "-" and self._text[done : done + 1].isspace() and _begins_line(self._text, begun)
        return item or source in _LONG_DASHES


@lru_cache(maxsize=1024)  # an answer names the same again and again
def normal_form(text: str) -> str:
    """A quotation, or a name, in its normal form; no blank before and behind it."""
    if _PLAIN_TEXT.fullmatch(text) and not _MARK.search(text):
        return text
    return NormalizedText(text, 0, len(text), lines=False).form.strip()


@lru_cache(maxsize=16384)
def _plain(cluster: str) -> str:
    composed = unicodedata.normalize("NFC", cluster)
    return composed.translate(_CLASSES) or composed


@lru_cache(maxsize=16384)
def _in_word(character: str) -> bool:
    letter = character.isalnum() or unicodedata.category(character).startswith("M")
    return letter and not _UNSPACED.match(character)


def may_join(before: str, after: str) -> bool:
    """Whether a word, or a number, may go on from one character to the next."""
    return (_in_word(before) and _in_word(after)) or may_join_number(before, after)


def _context(text: str, *, last: bool) -> str:
    """What stands beside a form, about as it would be in one: of its own paragraph, and no longer dashes."""
    parts = _PARAGRAPH.split(text)
    part = "".join(character for character in parts[-1 if last else 0] if character not in _UNSEEN)
    return _BLANKS.sub(" ", part.translate(_AS_CONTEXT))


def _begins_line(text: str, place: int) -> bool:
    """Whether nothing but an indent stands before a place in its line."""
    before = text[max(place - _INDENT, 0) : place].rstrip(" \t")
    return bool(_BREAK.match(before[-1])) if before else place <= _INDENT


def _skipped(text: str, start: int, end: int, *, lines: bool) -> set[int]:
    """The places of what only marks: pairs of emphasis, links but for their text, beginnings of lines."""
    found: set[int] = set()
    if lines:
        begins = [start] if _begins_line(text, start) else []
        begins += [line.end() for line in _BREAK.finditer(text, start, end)]
        for begun in begins:
            if prefix := _PREFIX.match(text, begun, end):
                found.update(range(begun, prefix.end()))
    opened: dict[str, list[tuple[int, int]]] = {}
    at = start
    while mark := _MARK.search(text, at, end):
        at = mark.end()
        here = mark.span()
        if mark.start() in found:
            continue
        if mark["blank"] is not None:
            opened.clear()
            at -= 1  # it may be the first of the next blank line, too
        elif mark["opened"] is not None:
            opened.setdefault("[", []).append(here)
        elif mark[0][0] == "]":
            bracket = opened["["].pop() if opened.get("[") else None
            if mark["closed"] is None:
                continue
            if bracket:
                found.update(range(*bracket), range(*here))
            else:
                at = mark.start() + 1
        elif mark[0][0] == "\\":
            found.add(mark.start())
        elif len(mark[0]) <= _LONGEST_RUN:
            opens, closes = _flanks(text, start, end, here)
            waiting = opened.setdefault(mark[0], [])
            if closes and waiting:
                found.update(range(*waiting.pop()), range(*here))
            elif opens:
                waiting.append(here)
    return found


def _flanks(text: str, start: int, end: int, mark: tuple[int, int]) -> tuple[bool, bool]:
    """Whether a mark of emphasis may open, and whether it may close: never within a word or a number."""
    before = text[mark[0] - 1] if mark[0] > start else " "
    after = text[mark[1]] if mark[1] < end else " "
    if _in_word(before) and _in_word(after):
        return False, False
    return not after.isspace() and not _in_word(before), not before.isspace() and not _in_word(after)
