"""The sentences of a text, and which part of it is somebody else's earlier words.

Called by `statuses` and by whatever reads claims. Mails are wrapped: a line's end within a sentence parts
nothing. What a mail answers, below `On … wrote:` or behind `>`, says what was.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from actors.platform.text.numbers.number_words import MONTHS
from models.text import word_list

_END = re.compile(r"[!?](?=\s|\Z)|\.(?=\s+[^\Wa-zäöüßąćęłńóśźż_\d]|\s*\Z)|[\n\r]+|;\s")
_ABBREVIATED = frozenset(
    word_list("no nr inc ltd co corp sp z o dr mr mrs ms st ul tel ref art pkt bzw ca z.o.o lt wg")
)
_LONGEST_WORD = 40
_ORDINAL = re.compile(r"\d{1,2}")
_NEXT_WORD = re.compile(r"\s{1,3}([^\W\d_]{3,12})")
# A line of so many characters was broken because it was full.
_FULL_LINE = 55
_NEW_LINE = re.compile(r"[>|*•\-–\d]|[^\W\d_]{1,20}:")
_ANSWERED = re.compile(
    r"^[ \t>*_-]{0,12}(?:(?:original(?: message| appointment)"
    r"|ursprüngliche nachricht|wiadomość oryginalna"
    r"|oryginalna wiadomość)[ \t*_-]{0,12}$"
    r"|(?:on|am|w dniu|dnia)\s[^\n]{4,120}(?:wrote|schrieb|napisał(?:\(a\)|a)?|pisze|you wrote)"
    r"[^\n]{0,80}:\s*$)",
    re.IGNORECASE | re.MULTILINE,
)
_HEADER = re.compile(
    r"^[*_]{0,2}(?:from|von|od):[^\n]{1,200}\n[*_]{0,2}(?:sent|date|to|gesendet|datum|an|wysłano|data|do):",
    re.IGNORECASE | re.MULTILINE,
)
_FORWARDED = re.compile(r"forwarded|weitergeleitete?|przekazan[ay]", re.IGNORECASE)
_LOOKED_BACK = 80


class SentenceSpan(NamedTuple):
    """From where to where a sentence goes, and the mark that ends it."""

    start: int
    end: int
    mark: str


def sentences(text: str) -> Iterator[SentenceSpan]:
    """The sentences that are the writer's own: none of what is answered."""
    whole = own_end(text)
    for one in _sentences(text, whole):
        if not text[one.start : one.end].lstrip().startswith((">", "|")):
            yield one


def own_end(text: str) -> int:
    """Where the mail that a text answers begins; its length where there is none."""
    answered = _ANSWERED.search(text)
    header = _HEADER.search(text)
    ends = [answered.start()] if answered else []
    # What is passed on, with nothing said of it, is what the mail says.
    if header and text[: header.start()].strip():
        passed_on = _FORWARDED.search(text, max(0, header.start() - _LOOKED_BACK), header.start())
        ends += [] if passed_on else [header.start()]
    return min(ends, default=len(text))


def _sentences(text: str, whole: int) -> Iterator[SentenceSpan]:
    start = line = 0
    for found in _END.finditer(text, 0, whole):
        if found[0][0] in "\n\r":
            full = found.start() - line >= _FULL_LINE and len(found[0].replace("\r", "")) == 1
            line = found.end()
            if full and not _NEW_LINE.match(text, line) and text[found.start() - 1] not in ".!?:;":
                continue
        elif found[0] == "." and _goes_on(text, start, found.start()):
            continue
        yield SentenceSpan(start, found.start(), found[0][0])
        start = found.end()
    yield SentenceSpan(start, whole, "")


def _goes_on(text: str, start: int, stop: int) -> bool:
    """Whether a full stop is that of an abbreviation, or of a day before its month: `am 5. Mai`."""
    last = _last_word(text, start, stop)
    following = _NEXT_WORD.match(text, stop + 1)
    is_day = following is not None and _ORDINAL.fullmatch(last) and following[1].casefold() in MONTHS
    return last in _ABBREVIATED or bool(is_day)


def _last_word(text: str, start: int, end: int) -> str:
    return text[max(start, end - _LONGEST_WORD) : end].rpartition(" ")[2].casefold()
