"""What a recogniser is, what it finds, and how a bare number is judged by what stands around it.

A recogniser gives candidates by a pattern and says of each where it truly ends, or that it is none. Numbers
that a checksum lets through by chance are the danger: a statistics table holds thousands. So each says
whether it needs a label (`tel.`, `PESEL:`), or stands for itself where it is no amount, no part and no id.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from actors.platform.text.lexicon import pattern, words_of_all
from actors.systems.knowledge.redaction.folding import Folded
from actors.systems.knowledge.redaction.labels import labelled
from models.knowledge.redaction import PiiKind

# Of a candidate: the end of what it truly is, as a place of the text; None where it is none of the kind.
Judge = Callable[[re.Match[str]], int | None]


@dataclass(frozen=True)
class Recognised:
    """A find in a folded text. Where two overlap, the lower `rank` gives its name."""

    start: int
    end: int
    kind: PiiKind
    rank: int


@dataclass(frozen=True)
class Recogniser:
    """How one form of a kind is found. It begins at the pattern's group `it`, or with the pattern.

    `stands_alone`: without a label too, outside addresses. `anywhere`: nothing around it is asked.
    `digits`: six of its signs or more are digits, so that most of a text need not be looked at.
    """

    kind: PiiKind
    pattern: re.Pattern[str]
    judge: Judge
    stands_alone: bool = True
    anywhere: bool = False
    digits: bool = True

    def find(self, folded: Folded, rank: int) -> list[Recognised]:
        """All of the kind, in order."""
        hits: list[Recognised] = []
        known: dict[str, bool] = {}
        for first, last in folded.dense() if self.digits else ((0, len(folded.text)),):
            for match in self.pattern.finditer(folded.text, first, last):
                end = self.judge(match)
                start = match.start("it" if "it" in self.pattern.groupindex else 0)
                if end is None:
                    continue
                listed = bool(hits) and _LISTED.fullmatch(folded.text, hits[-1].end, start) is not None
                if self.anywhere or self._fits(folded, start, end, listed=listed, known=known):
                    hits.append(Recognised(start, end, self.kind, rank))
        return hits

    def _fits(self, folded: Folded, start: int, end: int, *, listed: bool, known: dict[str, bool]) -> bool:
        text = folded.text
        if _is_amount(text, start, end):
            return False
        alone = (
            self.stands_alone
            and not _LEFT.search(text, max(start - 2, 0), start)
            and not _RIGHT.match(text, end)
            and not folded.in_address(start)
            and not self._is_cell(text, start, end, known)
        )
        return alone or listed or labelled(text, start, self.kind)

    def _is_cell(self, text: str, start: int, end: int, known: dict[str, bool]) -> bool:
        """Whether it is one of a row of long numbers that are mostly none of the kind: a table of figures."""
        if not text[start:end].isdigit():
            return False
        left = text.rfind("\n", max(start - _ROW, 0), start) + 1 or max(start - _ROW, 0)
        right = text.find("\n", end, end + _ROW)
        row = text[left : right if right >= 0 else end + _ROW]
        numbers = _LONG_NUMBER.findall(row)
        known.update((number, self._is_one(number)) for number in numbers if number not in known)
        return sum(not known[number] for number in numbers) >= _MANY

    def _is_one(self, number: str) -> bool:
        match = self.pattern.fullmatch(number)
        return match is not None and self.judge(match) is not None


# Between two of one list, where what is said of the first is said of the second.
_BETWEEN = "|".join(map(re.escape, sorted(words_of_all("labels", "listed"))))
_LISTED = re.compile(rf"[\s,;/|]{{1,4}}(?:(?:{_BETWEEN})\s{{1,2}})?")
_ROW, _MANY = 160, 3
_LONG_NUMBER = re.compile(r"(?<![0-9])[0-9]{10,14}(?![0-9])")
# Beside these a number is a part of something longer: a word, a decimal, a path, an id, a file's name.
_LEFT = re.compile(r"[\w#/=&$%@+_-]\Z|[0-9][.,:]\Z")
_RIGHT = re.compile(r"[\w#=&%@_]|[-.,/:][0-9]|[-/.][A-Za-z]")
_AMOUNT_AFTER = pattern("labels", "counted", r"(?: ?[€$£¥%‰]| {0,2}{}(?!\w)|,[0-9]{1,2}(?! ?[0-9]))")
_AMOUNT_BEFORE = re.compile(r"(?:[€$£¥]|(?<!\w)(?:eur|usd|gbp|pln|chf)) ?\Z", re.IGNORECASE)


def _is_amount(text: str, start: int, end: int) -> bool:
    return bool(_AMOUNT_AFTER.match(text, end) or _AMOUNT_BEFORE.search(text[max(start - 16, 0) : start]))
