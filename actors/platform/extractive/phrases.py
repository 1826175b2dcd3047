"""Phrases that tell what a sentence is: boilerplate, or leaning on others.

Read by `self_contained`. Each is in the form of `normal_form.words`, and found by its first word. They are in
the folders of the languages (`quoting.yaml`).
"""

from collections.abc import Iterable
from functools import cache

from actors.platform.text.lexicon import Language, lexicon, phrases_listed, word_set
from actors.platform.text.normal_form import words

# Phrases by their first words.
Phrases = dict[str, tuple[tuple[str, ...], ...]]
_FILE = "quoting"


def _index(phrases: Iterable[str]) -> Phrases:
    found: dict[str, tuple[tuple[str, ...], ...]] = {}
    for phrase in phrases:
        first, *rest = words(phrase).split()
        found[first] = (*found.get(first, ()), tuple(rest))
    return found


BOILERPLATE = _index(phrases_listed(_FILE, "boilerplate"))
# These only where a sentence begins: elsewhere they are words like others.
BOILERPLATE_AT_START = _index(phrases_listed(_FILE, "boilerplate_at_start"))


@cache
def leaning(language: Language) -> Phrases:
    """What a sentence can begin with only where something went before."""
    listed = lexicon(language, _FILE).get("leans", "").split(";")
    return _index(phrase for phrase in listed if phrase.strip())


@cache
def connecting(language: Language) -> frozenset[str]:
    """The same behind its first words."""
    return frozenset(word for one in word_set(language, _FILE, "connects") for word in words(one).split())


def stands_at(phrases: Phrases, told: list[str], place: int) -> bool:
    """Whether one of the phrases stands there."""
    if place >= len(told):
        return False
    return any(told[place + 1 : place + 1 + len(rest)] == list(rest) for rest in phrases.get(told[place], ()))
