"""The words that numbers, months, quarters and shares are written with, of each language's `numbers.yaml`.

All are in small letters; whether a capital is wanted is said where it matters. A language that writes numbers
in one word has `ones` and `tens`, and what joins them.
"""

from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import NamedTuple

from actors.platform.text.language import Language
from actors.platform.text.lexicon import (
    folders,
    lexicon,
    phrase_set,
    word_set,
    words_listed,
    words_of_all,
)
from actors.platform.text.normal_form import without_accents

_FILE = "numbers"
SHORT_QUARTERS = frozenset(["q1", "q2", "q3", "q4"])


class NumberWords(NamedTuple):
    """The words of a language. `beginnings`: what anything to be found may begin with, in any of them."""

    small: dict[str, int]
    one: frozenset[str]
    hundreds: dict[str, int]
    scales: dict[str, int]
    shares: dict[tuple[str, ...], str]
    beginnings: frozenset[str]


@cache
def number_words(language: Language) -> NumberWords:
    """The words that a language writes numbers with."""
    small, hundreds = _valued(language, "small"), _valued(language, "hundreds")
    ones, tens = _valued(language, "ones"), _valued(language, "tens")
    joined = lexicon(language, _FILE)
    small |= tens
    for (one, value), (ten, more) in product(ones.items(), tens.items()):
        small[f"{one}{joined['joined_and']}{ten}"] = value + more
    if ones:
        hundreds |= _compounds(ones, small, joined["joined_hundred"], joined["joined_thousand"])
    pairs = (one.split("=") for one in phrase_set(language, _FILE, "shares"))
    shares = {tuple(share.split()): value for share, value in pairs}
    counts_one = word_set(language, _FILE, "one")
    beginnings = frozenset().union(
        *(small, hundreds, counts_one, words("alone"), ordinals(), SHORT_QUARTERS, months()),
        {share[0] for share in shares},
    )
    return NumberWords(small, counts_one, hundreds, _valued(language, "scales"), shares, beginnings)


def _compounds(ones: dict[str, int], small: dict[str, int], hundred: str, thousand: str) -> dict[str, int]:
    found = {f"{one}{thousand}": 1000 * value for one, value in (*ones.items(), *small.items()) if value}
    for (one, value), (rest, more) in product((*ones.items(), ("", 1)), (*small.items(), ("", 0))):
        if (one or rest) and (more or not rest):
            found[f"{one}{hundred}{rest}"] = 100 * value + more
    return found


def words(key: str) -> frozenset[str]:
    """The words under a name of the file, of all languages."""
    return words_of_all(_FILE, key)


@cache
def ordinals() -> dict[str, int]:
    """The first to the fourth, in all languages."""
    return _of_all("ordinals")


@cache
def short_months() -> dict[str, int]:
    """Names of months that are months only beside a day or a year."""
    return _of_all("short_months")


@cache
def listed_months(key: str) -> dict[str, int]:
    """The months by their names: the `capital_months` or the `small_months` of all languages."""
    listed = (words_listed(code, _FILE, key) for code in folders(_FILE))
    return {name: n for some in listed for n, names in enumerate(some, 1) for name in names.split("/")}


@cache
def months() -> dict[str, int]:
    """The months by all their names, with and without accents."""
    some = listed_months("capital_months") | listed_months("small_months") | short_months()
    return {form: n for name, n in some.items() for form in (name, without_accents(name))}


def _of_all(key: str) -> dict[str, int]:
    return {word: value for code in folders(_FILE) for word, value in _pairs(code, key)}


def _valued(language: Language, key: str) -> dict[str, int]:
    return dict(_pairs(language, key))


def _pairs(language: Language, key: str) -> Iterator[tuple[str, int]]:
    for one in words_listed(language, _FILE, key):
        word, _, value = one.partition("=")
        yield word, int(value)


def begins_number(word: str, language: Language) -> bool:
    """Whether a number in words may begin with a word."""
    known = number_words(language)
    return word in known.small or word in known.hundreds or word in known.one or word in words("alone")


def number_of(said: list[str], language: Language) -> tuple[int | None, int]:
    """The number that words such as `two hundred and fifty thousand` begin with, and how many it takes."""
    known, alone, joins = number_words(language), words("alone"), words("and")
    total, part, taken = 0, None, 0
    least = 10**15
    for n, word in enumerate(said):
        scale = known.scales.get(word, 0)
        follows = said[n + 1] if n + 1 < len(said) else ""
        if word in joins and part is not None and part >= 100 and part % 100 == 0 and follows in known.small:
            continue
        small = known.small.get(word, known.hundreds.get(word))
        if small is None and word in known.one:
            tens = part is not None and word != "a" and part % 10 == 0 and part % 100 >= 20
            small = 1 if tens or (part is None and known.scales.get(follows)) else None
        if small is not None and (part is None or _fits(part, small)):
            part = small + (part or 0)
        elif scale == 100 and (part or 0) < 100 and (part is not None or (word in alone and not total)):
            part = 100 * (1 if part is None else part)
        elif 100 < scale < least and (part is not None or (word in alone and not total)):
            total, part, least = total + scale * (1 if part is None else part), None, scale
        else:
            break
        taken = n + 1
    return (total + (part or 0), taken) if taken else (None, 0)


def _fits(part: int, small: int) -> bool:
    """Whether a number goes on with a smaller one: hundreds with tens, tens with ones."""
    return (part >= 100 and part % 100 == 0 and 0 < small < 100) or (
        part % 100 >= 20 and part % 10 == 0 and 0 < small < 10
    )
