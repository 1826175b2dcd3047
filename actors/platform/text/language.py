"""Which language a text is in, of those that have a folder.

Called by whoever reads or writes sentences. What tells a language is in its `language.yaml`. Of a long text
only the beginning is looked at.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from actors.platform.text.lexicon import ENGLISH, languages, word_set, words_of_all
from actors.platform.text.lexicon import Language as Language

_FILE = "language"
_BEGINNING = 2_000
# Letters alone are left to `alone`: the I of English, the W of a name, the O of O'Neill.
_WORD = re.compile(r"[^\W\d_]{2,}")
_LATIN = "abcdefghijklmnopqrstuvwxyzó"
# How long words end, where only one of the languages has words that end so.
_LONG = 7


class _Signs(NamedTuple):
    """What tells a language beside its words: letters, endings, short words (also at a text's beginning)."""

    letters: frozenset[str]
    endings: tuple[str, ...]
    alone: frozenset[str]
    alone_at_start: frozenset[str]


def language_of(text: str) -> Language:
    """The language of a text, by its words, their endings and their letters; English if in doubt.

    A text with more words of other languages than of any that has a folder is read as English, too.
    """
    return language_told_by(text) or ENGLISH


def language_told_by(text: str) -> Language | None:
    """The same; None where nothing tells it: a number, a name, a language without a folder."""
    points = _points_of(text)
    best = max(points.values())
    return next((language for language in languages() if best and points[language] == best), None)


def is_of_another(text: str) -> bool:
    """Whether a text has more words of other languages than of any that has a folder."""
    points = _points_of(text)
    return points.pop(None) > max(points.values())


def _points_of(text: str) -> dict[Language | None, int]:
    """How much says that a text is in each language; None: in one without a folder."""
    beginning = text[:_BEGINNING].strip()
    beginning = beginning.lower() if beginning.isupper() else beginning
    words, pieces = _WORD.findall(beginning), beginning.split()
    points: dict[Language | None, int] = {None: 0}
    named: dict[Language, int] = {}
    for language, signs in _signs().items():
        # Each once: Portuguese has an `o` in every line.
        alone = signs.alone.intersection(pieces)
        if len(pieces) > 1 and pieces[0] in signs.alone_at_start:
            alone |= {pieces[0].lower()}
        points[language], named[language] = 2 * len(alone), 0
    known, letters, names = _function_words(), _known_letters(), words_of_all(_FILE, "names")
    for word in words:
        plain = word.lower()
        if plain in known:
            for spoken in known[plain]:
                # Of capitals alone it is an abbreviation: MIT, WHO.
                points[spoken] += 0 if word.isupper() else 2
            continue
        # With a letter that none of them has, a word is of another.
        points[None] += not letters.issuperset(plain)
        for language, signs in _signs().items():
            has_letters = not signs.letters.isdisjoint(plain)
            ends_so = len(plain) >= _LONG and plain.endswith(signs.endings) and plain not in names
            if has_letters and word[0].isupper() and not ends_so:
                named[language] += 1
            else:
                points[language] += has_letters or ends_so
    for language, count in named.items():
        # One name among other words says nothing: `Gdańsk shipyard strike`.
        if count > 1 or 2 * count >= len(words):
            points[language] += count
    return points


@cache
def _function_words() -> Mapping[str, tuple[Language | None, ...]]:
    """The languages of each word; a word of languages without a folder is theirs where no other has it."""
    known: dict[str, tuple[Language | None, ...]] = dict.fromkeys(
        words_of_all(_FILE, "function_words"), (None,)
    )
    for language in languages():
        for word in word_set(language, _FILE, "function_words"):
            known[word] = (*filter(None, known[word]), language)
    return known


@cache
def _signs() -> Mapping[Language, _Signs]:
    keys = ("letters", "endings", "alone", "alone_at_start")
    told = {one: [word_set(one, _FILE, key) for key in keys] for one in languages()}
    return {one: _Signs(letters, tuple(endings), *rest) for one, (letters, endings, *rest) in told.items()}


@cache
def _known_letters() -> frozenset[str]:
    """Latin letters, ó that too many have, and those of the languages."""
    return frozenset(_LATIN).union(*(signs.letters for signs in _signs().values()))
