"""Where a sentence ends: behind which full stops it goes on, and which quotation marks and brackets pair.

Where that is not certain it goes on: two
sentences in one piece are still the source's words, half of one may say what the source does not.
Abbreviations are listed by language (`abbreviations.yaml`); a text is only looked at where it ends.
"""

import re
from itertools import islice

from actors.platform.text.language import Language
from actors.platform.text.lexicon import languages, word_set
from actors.platform.text.numbers.number_words import listed_months

_WORD = re.compile(r"[^\W\d_]+")
_INITIAL = re.compile(r"(?:\w\.-?)?[^\W\d_a-z]\.")
_ORDINAL = re.compile(r"\d{1,2}\.")
# "W 2024 r. Narodowy Bank …": so far there is only the date.
_ROMAN = re.compile(r"[IVXL]{1,7}")
_VOWEL = re.compile(r"[aeiouyąęóäöü]", re.IGNORECASE)
_FILE = "abbreviations"
_INITIALS = 2
_SHORT = 6
_RANGE = re.compile(r"(?<=\.)[-–—/]")
_MOST_DATE_WORDS = 10
_CLAUSE = 200
_TAIL = 40
# What a sentence ends in fits here.
_ENDING = 12
# German closes with what English opens with, and may turn French marks round.
_CLOSES = {"“": "”", "„": '”“"', "«": "»", "»": "«", '"': '"', "(": ")", "[": "]"}
_MARK = re.compile(r"[“”„«»\"()\[\]]")
_QUOTATION_MARK = re.compile(r"[“”„«»\"]")
# At the mark's place, or one before it.
_OPENS_HERE = re.compile(r"(?:[\s(\[–—-])?\"(?=\w)")
# "von Spanplatte » Montag": a mark between blanks is none.
_BETWEEN_BLANKS = re.compile(r"»\s")
_ENDED = re.compile(r"[.!?…][\"'”“»«’)\]]{0,4}\Z")


def goes_on(before: str, after: str, language: Language) -> bool:
    """Whether a sentence goes on behind the full stop that `before` ends in, by what stands there."""
    tail = before[-_TAIL:].split()
    if not tail:
        return False
    last, upcoming = _bare(tail[-1]), _WORD.search(after[:_TAIL])
    word, before_number = upcoming[0] if upcoming else "", after[:1].isdigit()
    # "0. 5 percent", "1. 234,5", "3 . 5": a number that was broken.
    if before_number and before.rstrip(" .")[-1:].isdigit():
        return True
    # "Sp. z o.o. Sp. k. wygrała": an abbreviation before one.
    if _is_listed(tail, language, "may_end") and _is_listed(
        after[:_TAIL].split()[:1] or [""], language, "goes_on"
    ):
        return True
    if _is_listed(tail, language, "goes_on") or (
        before_number and _is_listed(tail, language, "before_numbers")
    ):
        return True
    # "am 5. Mai", whatever the words around are in.
    if _ORDINAL.fullmatch(last) and word.lower() in listed_months("capital_months"):
        return True
    opens = opens_sentences(word, language)
    # "Alfa sp. z o.o. Payment is due": names and addresses of one country stand in texts of others.
    if not opens and any(_is_listed(tail, one, "in_names") for one in languages() if one != language):
        return True
    is_initial = _INITIAL.fullmatch(last) is not None
    if (is_initial and last.isupper()) or not _is_listed(tail, language, "may_end"):  # no "m." for metres
        if before_number:
            return is_initial or _is_word_in_doubt(last, language)
        return not opens and (is_initial or _is_cut_short(last) or _is_ordinal(tail, language))
    if before_number:
        return True
    if language == "de" or _is_listed(tail, language, "before_names"):
        return not opens
    return language == "pl" and _goes_on_in_polish(before, last.lower(), word)


def opens_sentences(word: str, language: Language) -> bool:
    """Whether a word with a capital is no name: it has one as it begins a sentence."""
    return word.lower() in word_set(language, _FILE, "openers")


def abbreviated(text: str, language: Language) -> bool:
    """Whether the full stop that a text ends in is an abbreviation's."""
    tail = text[-_TAIL:].split()
    return bool(tail) and any(
        _is_listed(tail[-1:], language, key) for key in ("goes_on", "may_end", "before_numbers")
    )


def may_end(before: str, after: str, language: Language) -> bool:
    """Whether a sentence ends behind an abbreviation that may end one, or behind a word like one (`May.`)."""
    tail = before[-_TAIL:].split()
    if not tail or not after[:1].isupper():
        return False
    known = _is_listed(tail, language, "may_end") or _is_listed(tail, language, "like_abbreviations")
    return known and not goes_on(before, after, language)


def left_open(text: str) -> int:
    """How many quotation marks and brackets are open at the end; -1 where one closes that none opened."""
    opened: list[str] = []
    for found in _MARK.finditer(text):
        mark = found[0]
        if opened and mark in _CLOSES[opened[-1]]:
            opened.pop()
        elif mark in _CLOSES:
            opened.append(mark)
        else:
            return -1
    return len(opened)


class OpenQuotations:
    """Quotation marks that are open at a place of a text, which is read piece by piece."""

    def __init__(self) -> None:
        self._open: list[str] = []
        self._begins = self._is_marked = False

    @property
    def are_open(self) -> bool:
        """Whether what comes next stands within a quotation."""
        return bool(self._open)

    def read(self, piece: str) -> None:
        """Go on by a piece. What closes nothing is passed over; a straight mark opens only before a word."""
        for found in _QUOTATION_MARK.finditer(piece):
            mark = found[0]
            if self._begins:
                # The mark that a paragraph begins with only says that the quotation goes on.
                self._begins = False
            elif self._open and mark in _CLOSES[self._open[-1]]:
                self._open.pop()
            elif mark in _CLOSES and self._opens(piece, found.start()):
                self._open.append(mark)

    def _opens(self, piece: str, place: int) -> bool:
        if piece[place] == '"':
            return _OPENS_HERE.match(piece, max(0, place - 1)) is not None
        return _BETWEEN_BLANKS.match(piece, place) is None

    def begin(self, paragraph: str, *, under_heading: bool) -> None:
        """Go on to a paragraph: what is open goes on there if it begins with its mark, or closes first.

        Without any mark it may go on, but not under a heading, nor where each paragraph so far had one.
        """
        first = _QUOTATION_MARK.search(paragraph)
        if not self._open:
            goes_on = False
        elif first is None:
            goes_on = not (under_heading or self._is_marked)
        elif first.start() == 0 and (first[0] == self._open[-1] or first[0] in _CLOSES[self._open[-1]]):
            goes_on = self._begins = self._is_marked = True
        else:
            goes_on = first.start() == 0 or first[0] not in _CLOSES or first[0] in _CLOSES[self._open[-1]]
        if not goes_on:
            self._open.clear()
            self._is_marked = False


def ends(text: str) -> bool:
    """Whether a text ends as a sentence does, inside quotation marks or not."""
    return _ENDED.search(text[-_ENDING:]) is not None


def _bare(word: str) -> str:
    return word.lstrip("([„“\"'«»‚‘").rstrip(")]”“\"'»«’")


def _is_listed(tail: list[str], language: Language, key: str) -> bool:
    """Whether the last word, or the last two as one (`z. B.`), is in a list of the language's."""
    listed = word_set(language, _FILE, key)
    # "Mon.–Fri."
    last, pair = _bare(_RANGE.split(tail[-1])[-1]), _bare("".join(tail[-2:]))
    # A single capital is a name's initial, or a grade: "Vitamin D."
    return (last.lower() in listed and not (len(last) == _INITIALS and last.isupper())) or (
        len(tail) > 1 and pair.lower() in listed
    )


def _is_word_in_doubt(last: str, language: Language) -> bool:
    """Whether it may be an abbreviation that is not listed, before a number: few sentences begin with one."""
    return _is_cut_short(last) or (language == "pl" and last.islower() and len(last) <= _SHORT)


def _is_ordinal(tail: list[str], language: Language) -> bool:
    """The number of a day, a century or a war in German; in Polish that of a decade: "lata 60."."""
    if not _ORDINAL.fullmatch(_bare(tail[-1])):
        return False
    before = tail[-2].lower() if len(tail) > 1 else ""
    return language == "de" or before in word_set(language, _FILE, "before_ordinals")


def _is_cut_short(word: str) -> bool:
    """Whether no word of a language is spelled so: without a vowel, and not of capitals alone."""
    bare = word.rstrip(".")
    return bare.isalpha() and not bare.isupper() and _VOWEL.search(bare) is None


def _goes_on_in_polish(before: str, abbreviation: str, word: str) -> bool:
    if abbreviation in ("proc.", "pkt.") and (word.endswith("ów") or (len(word) > 1 and word.isupper())):
        return True  # "40 proc. Polaków", "3 proc. PKB"
    if abbreviation == "r." and _is_date_of_something(before[-_TAIL:].split()):
        return True
    clause = before[-_CLAUSE:].rpartition(",")[2]  # "…, że do końca 2025 r. Spółka …", "…, a w 1916 r. …"
    words = [found[0] for found in islice(_WORD.finditer(clause), _MOST_DATE_WORDS + 1)]
    of_dates = word_set("pl", _FILE, "date_words")
    return (
        abbreviation in ("r.", "w.", "n.e.", "p.n.e.")
        and len(clause) < _CLAUSE
        and len(words) <= _MOST_DATE_WORDS
        and all(word.lower() in of_dates or _ROMAN.fullmatch(word) for word in words)
    )


def _is_date_of_something(tail: list[str]) -> bool:
    """Whether a whole date says which one is meant: "ustawy z dnia 6 września 2001 r. Prawo …"."""
    _, year, month, day, of = [*reversed(tail), *[""] * 5][:5]
    of_days = word_set("pl", _FILE, "of_days")
    return year.isdigit() and month.isalpha() and day.isdigit() and of.lower().rstrip(".") in of_days
