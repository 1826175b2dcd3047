"""How much of what a query names a text has: words by their beginnings, numbers as they are.

Called by scoring, for what embeddings miss: names, numbers, years, and languages that the model knows little
of. Polish and German words are found by their other forms (`stopy`, `stopach`), and in compounds
(`Inflation` in `Kerninflation`). Linear in the text.
"""

from collections.abc import Iterable
from typing import NamedTuple

from actors.platform.text.normal_form import words
from actors.platform.text.relevance import content_words

_MOST_TERMS = 32
# What a term weighs: numbers and names tell more than other words.
_PLAIN, _NAME, _NUMBER = 1.0, 1.5, 2.0
_KEY = 3
# From where on two words of one beginning are forms of one: so much of their mean length is that beginning.
_LEAST_LONG, _LEAST_SHORT, _SHORT = 0.65, 0.75, 4
# A word inside a compound, from so many letters on, and what it counts.
_LEAST_INSIDE, _INSIDE = 5, 0.7
_ENDING = 2
# What is only in the snippet counts a little less than what the title says.
_IN_SNIPPET = 0.85


class QueryTerm(NamedTuple):
    """A word or number of a query in normal form; `forms` are the ways its stem is written."""

    text: str
    weight: float
    forms: tuple[str, ...]

    @property
    def is_number(self) -> bool:
        return any(character.isdigit() for character in self.text)


def query_terms(query: str) -> tuple[QueryTerm, ...]:
    """The terms of a query, each once, at most 32. A word of two letters counts in capitals: `EU`, `AI`."""
    found: dict[str, QueryTerm] = {}
    for place, written in enumerate(query.split()):
        for term in words(written).split():
            weight = _weight(written, term, first=place == 0)
            if weight and term not in found and len(found) < _MOST_TERMS:
                found[term] = QueryTerm(term, weight, _forms(term))
    return tuple(found.values())


def share_of_terms(terms: Iterable[QueryTerm], title: str, snippet: str) -> float:
    """The weight of the terms that a text has of all their weight, 0 to 1; 0 where there are none."""
    terms = tuple(terms)
    whole = sum(term.weight for term in terms)
    if not whole:
        return 0.0
    in_title, in_snippet = _Words(title), _Words(snippet)
    met = sum(
        term.weight * max(in_title.credit(term), _IN_SNIPPET * in_snippet.credit(term)) for term in terms
    )
    return min(1.0, met / whole)


def _weight(written: str, term: str, *, first: bool) -> float:
    """0 for a word that says nothing of the subject."""
    if any(character.isdigit() for character in term):
        return _NUMBER if len(term) > 1 or not term.isdigit() else _PLAIN
    letters = [character for character in written if character.isalpha()]
    shouted = len(letters) > 1 and all(character.isupper() for character in letters)
    if shouted:
        return _NAME
    if not content_words(term):
        return 0.0
    return _NAME if letters[:1] and letters[0].isupper() and not first else _PLAIN


def _forms(term: str) -> tuple[str, ...]:
    # Polish: the `e` of `rynek`, `spadek` goes in all other cases.
    return (term, f"{term[:-2]}k") if len(term) > 4 and term.endswith("ek") else (term,)


class _Words:
    """A text's words, by their first letters."""

    def __init__(self, text: str) -> None:
        normal = words(text)
        self._text = f" {normal} "
        self._all = set(normal.split())
        self._by_key: dict[str, list[str]] = {}
        for word in self._all:
            self._by_key.setdefault(word[:_KEY], []).append(word)

    def credit(self, term: QueryTerm) -> float:
        """How surely the text has a term, 0 to 1."""
        if term.text in self._all:
            return 1.0
        if term.is_number:
            return 0.0
        best = max(
            (_alike(form, word) for form in term.forms for word in self._by_key.get(form[:_KEY], ())),
            default=0.0,
        )
        stem = term.text[: max(_LEAST_INSIDE, len(term.text) - _ENDING)]
        if best < _INSIDE and len(stem) >= _LEAST_INSIDE and stem in self._text:
            return _INSIDE
        return best


def _alike(one: str, other: str) -> float:
    """How much of two words is one beginning, where they may be forms of one word; else 0."""
    same = 0
    for first, second in zip(one, other, strict=False):
        if first != second:
            break
        same += 1
    # The longer one may go on, as compounds do.
    shorter = min(len(one), len(other))
    if same >= max(_LEAST_INSIDE, len(one) - _ENDING):
        return max(_INSIDE, 2 * same / (len(one) + len(other)))
    share = 2 * same / (len(one) + len(other))
    return share if share >= (_LEAST_SHORT if shorter <= _SHORT else _LEAST_LONG) else 0.0
