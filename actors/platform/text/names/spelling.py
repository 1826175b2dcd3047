"""What may join two names: another name that a source gives, or how they are spelled.

Of spelling, only what is hardly ever meant is let pass: accents left out, words joined or
parted, British for American, a letter doubled, two letters of a long word swapped. `Hansen` and `Hanson`,
`Kingston` and `Kingstown`, `Iran` and `Iraq` are two: a letter that is another one is no misspelling.
"""

from collections.abc import Iterator
from functools import cache
from itertools import pairwise

from actors.platform.text.lexicon import words_of_all
from actors.platform.text.names.generic_mentions import is_pointing
from actors.platform.text.names.name_form import (
    NameForm,
    cannot_be_same,
    in_german_ascii,
    likeness,
    names_overlap_but_differ,
)
from actors.platform.text.names.scripts import is_alphabetic
from actors.platform.text.normal_form import without_accents
from models.knowledge.points import EntityType

_SHORTEST = 5
_SHORTEST_JOINED = 6
_SHORTEST_DOUBLED = 6
_SHORTEST_OF_PEOPLE = 8
_DOUBLED_IN_NAMES = frozenset("ns")
# Letters swapped in a shorter word make another word: `casual`, `silver`, `martial`, `perfect`.
_SHORTEST_SWAPPED = 8
_ROMAN_LETTERS = frozenset("ivxlcdm")
_LEAST_LIKENESS = 85.0
_LOOKS_LIKE = 60.0
# Types whose accents carry meaning: `sąd` is a court, `sad` an orchard.
_ACCENTED: frozenset[EntityType] = frozenset({"concept", "other"})
_FILE = "names"
# Two words that many have in their names name nothing.
_FEW = 2


def may_be_alias(name: NameForm, alias: NameForm, entity_type: EntityType) -> bool:
    """Whether another name, as a source gives it, may name the same entity in other sources."""
    if name.nobody or alias.vague:
        return False
    if not any(character.isalpha() for character in alias.text) or alias.text == name.text:
        return False
    common = len(alias.words) <= _FEW and all(
        word in words_of_all(_FILE, "common") or is_pointing(word) for word in alias.words
    )
    if common or len(alias.text) < 2:
        return False
    if cannot_be_same(name, alias, entity_type) or names_overlap_but_differ(name, alias):
        return False
    part = set(alias.words) < set(name.words) or set(name.words) < set(alias.words)
    if part:
        # A surname, or a word of a place's name, is others' as well.
        return entity_type not in ("person", "location") and name.marks == alias.marks
    return likeness(name, alias) < _LOOKS_LIKE or spelled_alike(name, alias, entity_type)


def spelled_alike(first: NameForm, second: NameForm, entity_type: EntityType) -> bool:
    """Whether two names differ only as misspellings do."""
    if first.vague or second.vague or first.marks != second.marks or first.text == second.text:
        return False
    if any(map(str.isupper, first.text + second.text)) or likeness(first, second) < _LEAST_LIKENESS:
        return False
    return (
        _without_accents(first, second, entity_type)
        or _joined(first, second, entity_type)
        or (entity_type != "person" and _american(first) == _american(second))
        or _misspelt(first, second, entity_type)
    )


def spelling_keys(name: NameForm, entity_type: EntityType) -> Iterator[str]:
    """Keys of which two names that are spelled alike share one."""
    if name.vague:
        return
    plain = [without_accents(word) for word in name.words]
    yield "accents " + " ".join(plain)
    yield "accents " + " ".join(map(in_german_ascii, name.words))
    yield "joined " + "".join(name.words)
    yield "american " + _american(name)
    yield "single " + " ".join(map(_single, name.words))
    if entity_type != "person":
        yield "swapped " + " ".join("".join(sorted(word)) for word in name.words)


def _without_accents(first: NameForm, second: NameForm, entity_type: EntityType) -> bool:
    # One of them was typed without any; two different accents are two different letters.
    if entity_type in _ACCENTED or not (first.text.isascii() or second.text.isascii()):
        return False
    accented, plain = (second, first) if first.text.isascii() else (first, second)
    if len(plain.text) < _SHORTEST:
        return (
            len(plain.text) == len(accented.text) >= _SHORTEST - 1
            and entity_type == "location"
            and ([without_accents(word) for word in accented.words] == list(plain.words))
        )
    return list(plain.words) in (
        [without_accents(word) for word in accented.words],
        [in_german_ascii(word) for word in accented.words],
    )


def _joined(first: NameForm, second: NameForm, entity_type: EntityType) -> bool:
    joined = "".join(first.words)
    return entity_type != "person" and len(joined) >= _SHORTEST_JOINED and joined == "".join(second.words)


def _american(name: NameForm) -> str:
    return " ".join(map(_american_word, name.words))


def _american_word(word: str) -> str:
    if american := _pairs("british").get(word):
        return american
    for british, american in _pairs("british_endings").items():
        if len(word) > len(british) + 2 and word.endswith(british):
            return word.removesuffix(british) + american
    return word


def _misspelt(first: NameForm, second: NameForm, entity_type: EntityType) -> bool:
    """Whether one long word has a letter doubled, or two swapped, and all other words are equal."""
    if entity_type in _ACCENTED or len(first.words) != len(second.words):
        return False
    if entity_type == "person" and len(first.words) < 2:
        return False
    different = [pair for pair in zip(first.words, second.words, strict=True) if pair[0] != pair[1]]
    if len(different) != 1:
        return False
    one, other = sorted(different[0], key=len)
    if not (one + other).isalpha() or not is_alphabetic(one + other) or one[0] != other[0]:
        return False
    if len(other) == len(one) + 1 >= _SHORTEST_DOUBLED:
        return _doubled(one, other, entity_type)
    return entity_type != "person" and _swapped(one, other)


def _doubled(one: str, other: str, entity_type: EntityType) -> bool:
    if _single(one) != _single(other) or _ROMAN_LETTERS.issuperset(other):
        return False
    if entity_type != "person":
        return True
    # `Hanson` and `Hansson`, `Zimmerman` and `Zimmermann`, `Philip` and `Phillip` are people of their own.
    place = next((at for at in range(len(one)) if one[at] != other[at]), len(one))
    return len(one) >= _SHORTEST_OF_PEOPLE and other[place] not in _DOUBLED_IN_NAMES


def _swapped(one: str, other: str) -> bool:
    if len(one) != len(other) or len(one) < _SHORTEST_SWAPPED or one[-1] != other[-1]:
        return False
    both = _pairs("both_words")
    if both.get(one) == other or both.get(other) == one:
        return False
    places = [place for place in range(len(one)) if one[place] != other[place]]
    return (
        len(places) == 2
        and places[1] == places[0] + 1
        and one[places[0]] == other[places[1]]
        and one[places[1]] == other[places[0]]
        # `Reiter` and `Rieter`, `Weiden` and `Wieden`: both are written.
        and {one[places[0]], one[places[1]]} != {"e", "i"}
    )


def _single(word: str) -> str:
    return word[:1] + "".join(after for before, after in pairwise(word) if before != after)


@cache
def _pairs(key: str) -> dict[str, str]:
    """What two spellings are listed as `one=other`, the longer first."""
    pairs = (one.partition("=") for one in words_of_all(_FILE, key))
    return {one: other for one, _, other in sorted(pairs, key=lambda pair: (-len(pair[0]), pair))}
