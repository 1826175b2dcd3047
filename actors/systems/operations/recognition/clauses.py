"""The clauses of a text, each with its words and with what in it may be a number of something.

Called by `statuses`. A clause that names a number is about that; one that names none goes on about what was
named before it.
"""

import re
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from typing import NamedTuple

from actors.platform.text.language import Language
from actors.platform.text.normal_form import without_accents
from actors.platform.text.numbers.amounts import amounts
from actors.platform.text.numbers.number_words import months
from actors.platform.text.sentences.mail_sentences import SentenceSpan, sentences
from actors.systems.operations.recognition.invoices import number_like_tokens
from actors.systems.operations.recognition.status_words import (
    is_foreign,
    language_of_words,
    listed,
    of_language,
    pattern_of,
    spelled,
)

_DAY_BEFORE = re.compile(r"(?<!\d)\d{1,2}(?:st|nd|rd|th|\.)?\s\Z")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")

_LOOKED_AHEAD = 20
_NAMES = re.compile(r"(?:\s{1,3}[^\W\d_a-zäöüßąćęłńóśźż][\w.-]{0,30}){0,4}\s?[,!](?=\s)")


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
    sums = frozenset(place for start, end, _ in amounts(text) for place in range(start, end))
    own = list(sentences(text))
    spans = [found.span() for found in pattern_of("asides").finditer(text)]
    spans += [span for sentence in own for span in _openings(text, sentence)]
    leading = frozenset(place for span in spans for place in range(*span))
    every = (
        _clause(text, sentence, start, end, sums, leading)
        for sentence in own
        for start, end in _parts(text, sentence.start, sentence.end)
    )
    for _, some in groupby(every, key=lambda one: one.sentence.start):
        yield _of_one_language(list(some))


def _of_one_language(some: list[Clause]) -> list[Clause]:
    """The clauses of a sentence: a word that others have too is that of the sentence's language."""
    language = language_of_words([word for one in some for word in one.words])
    return [one._replace(words=_as_meant(one, language)) for one in some]


def _as_meant(clause: Clause, language: Language | None) -> list[str]:
    words = [
        of_language(word, language) if not is_foreign(word, language) else f"{word}~" for word in clause.words
    ]
    has_names = any(map(str.islower, clause.spelled))
    # `zu INV-7`, `to our account`: nothing that is yet to come.
    nouns = [
        not word or word in listed("determiners", "objects") or (has_names and not spelled.islower())
        for word, spelled in zip(words, clause.spelled, strict=True)
    ]
    return [
        f"{word.partition('~')[0]}~noun" if word in listed("before_verbs") and is_noun else word
        for word, is_noun in zip(words, [*nouns, False][1:], strict=True)
    ]


def _openings(text: str, sentence: SentenceSpan) -> Iterator[tuple[int, int]]:
    """Where a sentence greets somebody, and leads to what it says: `Hello Anna, please note that`."""
    start = _first_of(text, sentence.start, sentence.end)
    if (greets := pattern_of("greetings").match(text, start, sentence.end)) and (
        named := _NAMES.match(text, greets.end(), sentence.end)
    ):
        yield start, named.end()
        start = _first_of(text, named.end(), sentence.end)
    if leads := pattern_of("openings").match(text, start, sentence.end):
        yield leads.span()


def _first_of(text: str, start: int, end: int) -> int:
    """Where the first word stands from a place on."""
    word = _WORD.search(text, start, min(end, start + _LOOKED_AHEAD))
    return word.start() if word else start


def _clause(
    text: str,
    sentence: SentenceSpan,
    start: int,
    end: int,
    sums: frozenset[int],
    leading: frozenset[int],
) -> Clause:
    some = [
        (first, last)
        for first, last in number_like_tokens(text, start, end)
        if sums.isdisjoint(range(first, last))
    ]
    # `Please note that` only leads to what is said.
    found = [word for word in _WORD.finditer(text, start, end) if word.start() not in leading]
    spelled = [word[0] for word in found]
    numbers = frozenset(text[first:last].casefold() for first, last in some)
    numbered = frozenset(place for first, last in some for place in range(first, last))
    letters = {place for place, word in enumerate(found) if word.start() in numbered}
    # `3 May`: no word that leaves anything open.
    letters |= {
        place
        for place, word in enumerate(found)
        if word[0].casefold() in months()
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
