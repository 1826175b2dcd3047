"""What a word is called in other languages: by a list of the field's words, and Babel's names of countries.

Called by `bearing`. Words are in the form of `normal_form.words`; what has a name of several words is a
tuple of them. Read once in a process.
"""

from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

import yaml
from babel import Locale
from babel.core import get_global
from babel.languages import get_official_languages

from actors.platform.text.language import Language
from actors.platform.text.lexicon import FOLDER, languages
from actors.platform.text.normal_form import words
from actors.platform.text.word_forms import stem
from models.errors import ConfigInvalid

_COLUMNS: tuple[Language, ...] = ("en", "de", "pl")


class Naming(NamedTuple):
    """What a thing is called in a language."""

    language: Language
    words: tuple[str, ...]


class _Thing(NamedTuple):
    is_place: bool
    names: frozenset[Naming]


def other_names(word: str, language: Language) -> frozenset[Naming]:
    """All that the things are called which a word of this language names; none where it is not listed."""
    return frozenset().union(*(thing.names for thing in _named(word, language)))


def is_place(word: str) -> bool:
    """Whether a word names a country, or its people or language, in any of the languages."""
    return any(thing.is_place for language in languages() for thing in _named(word, language))


def _named(word: str, language: Language) -> tuple[_Thing, ...]:
    return _by_stem(language).get(stem(word, language), ())


@cache
def _by_stem(language: Language) -> Mapping[str, tuple[_Thing, ...]]:
    found: defaultdict[str, dict[_Thing, None]] = defaultdict(dict)
    for thing in (*_listed(), *_countries()):
        for name in thing.names:
            if name.language == language and len(name.words) == 1:
                found[stem(name.words[0], language)][thing] = None
    return {each: tuple(things) for each, things in found.items()}


@cache
def _listed() -> tuple[_Thing, ...]:
    path = FOLDER / "glossary.yaml"
    try:
        lines = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
        columns = [line.split("|") for line in lines]
        return tuple(
            _Thing(
                is_place=False,
                names=frozenset(
                    Naming(language, tuple(name.split("_")))
                    for language, names in zip(_COLUMNS, each, strict=True)
                    for name in names.split()
                ),
            )
            for each in columns
        )
    except (OSError, yaml.YAMLError, AttributeError, TypeError, ValueError) as error:
        fault = f"{path}: it lists `English | German | Polish` ({error}): take it from the release"
        raise ConfigInvalid(fault) from error


@cache
def _countries() -> tuple[_Thing, ...]:
    spoken = get_global("likely_subtags")
    countries: defaultdict[str, set[Naming]] = defaultdict(set)
    for language in languages():
        locale = Locale(language)
        for code, name in locale.territories.items():
            if code.isalpha():
                countries[code].add(Naming(language, tuple(words(name).split())))
        for code, name in locale.languages.items():
            country = spoken.get(code, "").rpartition("_")[2]
            if code in get_official_languages(country):
                countries[country].add(Naming(language, tuple(words(name).split())))
    return tuple(_Thing(is_place=True, names=frozenset(names)) for names in countries.values())
