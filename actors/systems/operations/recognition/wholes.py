"""Whether a clause tells of the whole of a payment, and that it has happened, in the writer's own words.

Called by `statuses`. "40 % paid", "paid 400 of 1,200", "the first item of it was paid" are of a part; "is
paid on Friday" is yet to come; what stands between quotation marks is somebody's. In doubt it is not told.
"""

import re
import unicodedata

from actors.platform.text.numbers.amounts import amounts
from actors.platform.text.numbers.dates import days
from actors.platform.text.numbers.number_words import months
from actors.systems.operations.recognition.clauses import Clause
from actors.systems.operations.recognition.status_words import listed

_SHARE = re.compile(r"[%‰]|(?<![\d/])\d{1,2}/\d{1,2}(?![\d/])")
_WHOLE_SHARE = re.compile(r"(?<![\d.,])100\s?%")
_FIGURE = re.compile(r"\s{0,3}[:=]?\s{0,3}(\d{1,12})(?![\d/-]|\.\d|\s?%)")
_NEXT_WORD = re.compile(r"(?:st|nd|rd|th|\.)?\s{0,3}([^\W\d_]{1,20})")
_MARKS = re.compile(r'["“”„‟«»＂]')
_TRAILS = ("..", "…")
# So far before a word is looked for marks that are open there.
_LOOKED_BACK = 2000


def is_whole(clause: Clause, begun: int, ended: int, text: str) -> bool:
    """Whether what is paid, by some words of a clause, is all of it and is paid by now."""
    said = text[clause.start : clause.end]
    if text[clause.end : clause.end + 2].startswith(_TRAILS) or said.endswith(_TRAILS) or "?" in said:
        return False
    if _SHARE.search(_WHOLE_SHARE.sub("", said)) or any(unicodedata.category(one) == "No" for one in said):
        return False
    sums = {normal for _, _, normal in amounts(said)}
    if len(sums) > 1 or any(not float(one.partition(" ")[0]) for one in sums):
        return False
    pairs = zip(clause.words, clause.words[1:], strict=False)
    return not (
        listed("only", "or").intersection(clause.words)
        or listed("limits").intersection(clause.words[ended + 1 :])
        or any(one in listed("pieces") and after in listed("of") for one, after in pairs)
        or _is_bare_figure(clause, ended, text)
        or _is_yet_to_come(clause, begun, said)
    )


def is_between_marks(place: int, text: str) -> bool:
    """Whether a quotation mark is open at a place, in its paragraph, or words are struck there."""
    first = max(place - _LOOKED_BACK, 0)
    first = max(text.rfind("\n\n", first, place), first)
    marks = len(_MARKS.findall(text, first, place))
    return marks % 2 == 1 or text.count("~~", first, place) % 2 == 1


def _is_bare_figure(clause: Clause, ended: int, text: str) -> bool:
    """Whether a figure stands right behind: `paid 0`; neither a number, a day, a time nor a sum."""
    place = clause.places[ended][1]
    figure = _FIGURE.match(text, place, clause.end)
    if figure is None or figure[1] in clause.numbers:
        return False
    spans = [
        (start, end)
        for start, end, _ in (*days(text[place : clause.end]), *amounts(text[place : clause.end]))
    ]
    if any(start <= figure.start(1) - place < end for start, end in spans):
        return False
    word = _NEXT_WORD.match(text, figure.end(), clause.end)
    return word is None or not (word[1].casefold() in months() or word[1].casefold() in listed("times"))


def _is_yet_to_come(clause: Clause, begun: int, said: str) -> bool:
    """Whether it `is paid` at a time: that is a plan, if not since then."""
    words = clause.words
    if words[begun] not in listed("present") or listed("since").intersection(words):
        return False
    spelled = zip(words, clause.spelled, strict=True)
    in_month = any(not word and name.casefold() in months() for word, name in spelled)
    return in_month or bool(listed("times").intersection(words)) or next(days(said), None) is not None
