"""The clauses of a text, each with its words and with what in it may be a number of something.

Called by `statuses`. A clause that names a number is about that; one that names none goes on about what was
named before it.
"""

import re
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from typing import NamedTuple

from actors.knowledge.entities.names import without_accents
from actors.operations.linking.reading.amounts import amounts
from actors.operations.linking.reading.dates import MONTHS
from actors.operations.linking.reading.invoices import number_like_tokens
from actors.operations.linking.reading.sentences import SentenceSpan, sentences
from actors.operations.linking.reading.status_words import language_of_words, of_language, spelled

_DAY_BEFORE = re.compile(r"(?<!\d)\d{1,2}(?:st|nd|rd|th|\.)?\s\Z")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")


class Clause(NamedTuple):
    """From where to where it goes; its words as they stand, in small letters, and their places.

    In `words`, letters of a number and the month of a day are empty: they are neither words nor names.
    """

    start: int
    end: int
    sentence: SentenceSpan
    spelled: list[str]
    words: list[str]
    places: list[tuple[int, int]]
    numbers: frozenset[str]


def clauses(text: str) -> Iterator[list[Clause]]:
    """The clauses of each sentence that is the writer's own."""
    sums = [(start, end) for start, end, _ in amounts(text)]
    every = (
        _clause(text, sentence, start, end, sums)
        for sentence in sentences(text)
        for start, end in _parts(text, sentence.start, sentence.end)
    )
    for _, some in groupby(every, key=lambda one: one.sentence.start):
        yield _of_one_language(list(some))


def _of_one_language(some: list[Clause]) -> list[Clause]:
    """The clauses of a sentence: a word that others have too is that of the sentence's language."""
    language = language_of_words([word for one in some for word in one.words])
    return [one._replace(words=[of_language(word, language) for word in one.words]) for one in some]


def _clause(text: str, sentence: SentenceSpan, start: int, end: int, sums: list[tuple[int, int]]) -> Clause:
    some = [
        (first, last)
        for first, last in number_like_tokens(text, start, end)
        if not any(begun < last and first < ended for begun, ended in sums)
    ]
    found = list(_WORD.finditer(text, start, end))
    spelled = [word[0] for word in found]
    numbers = frozenset(text[first:last].casefold() for first, last in some)
    letters = set(
        place for place, word in enumerate(found) if any(first <= word.start() < last for first, last in some)
    )
    # `3 May`: no word that leaves anything open.
    letters |= {
        place
        for place, word in enumerate(found)
        if word[0].casefold() in MONTHS
        and _DAY_BEFORE.search(text, max(start, word.start() - 8), word.start())
    }
    places = [word.span() for word in found]
    words = ["" if place in letters else word for place, word in enumerate(plain(spelled))]
    return Clause(start, end, sentence, spelled, words, places, numbers)


def plain(words: list[str]) -> list[str]:
    """Words in small letters, without accents."""
    return [without_accents(word.replace("’", "'")) for word in words]


@cache
def parting() -> re.Pattern[str]:
    """What parts clauses: words of the languages, a dash, a colon, or a comma before a number."""
    comma, bare, before, starts = (
        "|".join(sorted(map(re.escape, spelled(key))))
        for key in ("parts_behind_comma", "parts", "parts_before_invoice", "invoice_starts")
    )
    return re.compile(
        rf",\s{{1,3}}(?=(?:{comma})\s)|(?<!\s)\s{{1,3}}(?=(?:{bare})\s)"
        rf"|(?<!\s)\s{{1,3}}(?=(?:{before})\s(?:{starts}))"
        r"|\s[-–—]\s|:\s|,\s(?=[^\W_]{1,12}[-/]\d)",
        re.IGNORECASE,
    )


def _parts(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for found in parting().finditer(text, start, end):
        if found.start() > start:
            yield start, found.start()
        start = found.end()
    yield start, end
