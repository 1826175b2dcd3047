"""A text as a reader sees it, with the way back: what Markdown marks, and how a text is encoded, don't count.

Called by spans. Characters are mapped one cluster at a time, by classes, and marks are skipped; nothing is
compared by likeness. Case, accents, digits and every mark that is not said here count.

- Line breaks and runs of blanks are one blank; invisible characters are none.
- Canonically equal characters (NFC, NFD) are equal; so is a sign with and without its variation selector.
- Typographic quotation marks, dashes and the ellipsis are their ASCII forms.
- Of Markdown: pairs of emphasis and of code, the target of a link, what a line begins with, escapes.
"""

import re
import unicodedata
from bisect import bisect_left
from functools import lru_cache

from actors.knowledge.extraction.graphemes import clusters

_CLASSES = str.maketrans(
    dict.fromkeys("“”„‟«»″＂", '"')
    | dict.fromkeys("‘’‚‛‹›ʼ′＇", "'")
    | dict.fromkeys("‐‑‒–—―−", "-")
    | dict.fromkeys("\ufe0e\ufe0f", "")
    | {"…": "..."}
)
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
# Scripts that are written without blanks between words, and Korean, which glues its particles to them.
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u0f00-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u30ff\u3100-\u31ff\u3400-\u9fff\ua000-\ua4cf"
    r"\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f\U0001b000-\U0001b2ff\U00020000-\U0003ffff]"
)


class NormalText:
    """The normal form of `text[start:end]`, and of each of its characters where it comes from.

    Args:
        lines: whether what begins a line may be a mark of Markdown. In a quotation it isn't: `> 5` says more.
    """

    def __init__(self, text: str, start: int, end: int, *, lines: bool = True) -> None:
        form: list[str] = []
        # What stands around it: a quotation may not begin or end within a word there either.
        self._before, self._behind = text[max(start - 1, 0) : start], text[end : end + 1]
        self._starts: list[int] = []
        self._ends: list[int] = []
        skipped = _skipped(text, start, end, lines=lines)
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
        self.form = "".join(form)

    def source(self, first: int, last: int) -> tuple[int, int] | None:
        """Where `form[first:last]` comes from; None where it begins or ends within a character or a word."""
        if self._cuts(first) or self._cuts(last) or self._cuts_a_sign(first):
            return None
        return self._starts[first], self._ends[last - 1]

    def shown(self, text: str, start: int, end: int) -> str:
        """What a reader sees of `text[start:end]`, on one line, in its own characters."""
        seen = list[str]()
        place, last = bisect_left(self._starts, start), bisect_left(self._starts, end)
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
        before, after = self.form[max(place - 2, 0) : place], self.form[place : place + 2]
        before, after = before or self._before, after or self._behind
        if not before or not after:
            return False
        if _in_word(before[-1]) and _in_word(after[0]):
            return True
        if place in (0, len(self.form)) and len(list(clusters(before[-1] + after[0], 0, 2))) == 1:
            return True
        # A number goes on behind its point, and before it.
        if after[0] in ".,":
            return before[-1].isdigit() and after[1:].isdigit()
        return before[-1] in ".," and after[0].isdigit() and before[:-1].isdigit()

    def _cuts_a_sign(self, place: int) -> bool:
        """Whether a number begins at `place` that a minus sign stands before."""
        before = self.form[max(place - 2, 0) : place]
        return before[-1:] == "-" and self.form[place].isdigit() and before[:-1] in ("", " ", "(")


def normal_form(text: str) -> str:
    """A quotation, or a name, in its normal form; no blank before and behind it."""
    return NormalText(text, 0, len(text), lines=False).form.strip()


@lru_cache(maxsize=16384)
def _plain(cluster: str) -> str:
    composed = unicodedata.normalize("NFC", cluster)
    return composed.translate(_CLASSES) or composed


def _in_word(character: str) -> bool:
    letter = character.isalnum() or unicodedata.category(character).startswith("M")
    return letter and not _UNSPACED.match(character)


def _skipped(text: str, start: int, end: int, *, lines: bool) -> set[int]:
    """The places of what only marks: pairs of emphasis, links but for their text, beginnings of lines."""
    found: set[int] = set()
    if lines:
        begins = [start] if start == 0 or _BREAK.match(text, start - 1) else []
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
