"""Names of entities in the form in which they are compared, and what tells two names apart for good.

Case, punctuation, legal forms and articles don't count; accents, numbers, signs and words
do. What differs in a number, a letter that stands alone or a given name is never the same, however alike.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from rapidfuzz import fuzz

from actors.platform.text.lexicon import ENGLISH, word_set, words_of_all
from actors.platform.text.names.generic_mentions import is_generic_mention
from actors.platform.text.names.legal_forms import different_forms, without_legal_forms
from actors.platform.text.names.name_tokens import has_sign, tokenize_name
from actors.platform.text.names.scripts import syllables
from actors.platform.text.normal_form import without_accents
from models.knowledge.points import EntityType
from models.text import one_line

_FILE = "names"
_LONGEST_SYMBOL = 2
_ALIKE = 60.0

_ROMAN = re.compile(r"(?=.)M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})\Z")
_ROMAN_LETTERS = frozenset("IVX")
_GERMAN = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})

_FULL_NAME = 3


class NameForm(NamedTuple):
    """A name to be compared: its words, its legal forms, and what it counts by.

    `nobody`: it is made of roles or pronouns, and names nobody outside its text. `vague`: it names too many
    to be the same one in two texts: a person's one name, and whatever names nobody.
    """

    text: str
    words: tuple[str, ...]
    legal: frozenset[str]
    marks: tuple[str, ...]
    nobody: bool
    vague: bool


def normal_name(name: str, entity_type: EntityType = "organization") -> str:
    """A name without case, punctuation, legal form, article or title; with its accents. Never empty."""
    return name_form(name, entity_type).text


@lru_cache(maxsize=65536)
def name_form(name: str, entity_type: EntityType) -> NameForm:
    """A name as it is compared."""
    written = tokenize_name(name, entity_type)
    nobody = is_generic_mention(written, entity_type)
    vague = nobody or (entity_type == "person" and _is_one_name(written))
    legal: frozenset[str] = frozenset()
    if entity_type == "organization":
        written, legal = without_legal_forms(written)
    elif entity_type == "person":
        while len(written) > 2 and written[0].casefold() in words_of_all(_FILE, "titles"):
            written = written[1:]
    if len(written) > 1 and written[0].casefold() in _articles(entity_type):
        written = written[1:]
    words = tuple(written) if _is_acronym(written) else tuple(word.casefold() for word in written)
    words = words or (one_line(name).casefold() or name,)
    return NameForm(" ".join(words), words, legal, _marks(written, entity_type), nobody, vague)


def _articles(entity_type: EntityType) -> frozenset[str]:
    """Articles that may stand before such a name: of companies, those of all languages."""
    if entity_type == "person":
        return frozenset()
    if entity_type == "organization":
        return words_of_all(_FILE, "articles")
    return word_set(ENGLISH, _FILE, "articles")


def _is_acronym(written: Sequence[str]) -> bool:
    """Whether a name is one word in capitals that are no small letters: `WHO` is not `Who`, nor `CO` `Co`."""
    if len(written) != 1 or not written[0].isupper():
        return False
    return len(written[0]) <= _LONGEST_SYMBOL or written[0].casefold() in words_of_all(_FILE, "also_words")


def _is_one_name(written: Sequence[str]) -> bool:
    """Whether a person is given by a surname or a given name alone; `毛泽东` is both."""
    # `Lady Gaga` and `Dr. Dre` are two names.
    civil = words_of_all(_FILE, "civil_titles") | words_of_all(_FILE, "articles")
    names = [word for word in written if word.casefold() not in civil]
    return len(names) == 1 and syllables(names[0]) < _FULL_NAME


def _marks(written: Sequence[str], entity_type: EntityType) -> tuple[str, ...]:
    """What counts things among a name's words: numbers, numerals, signs, and letters by themselves."""
    found = []
    for word, after in pairwise([*written, " "]):
        letter = len(word) == 1 and word.isalpha()
        alone = letter and (after[0].isdigit() or (entity_type != "person" and word.isupper()))
        roman = _ROMAN.match(word) and (not letter or word in _ROMAN_LETTERS)
        number = any(map(str.isdigit, word)) or word.casefold() in words_of_all(_FILE, "number_words")
        if alone or roman or number or has_sign(word):
            found.append(word.casefold())
    return tuple(sorted(found))


def in_german_ascii(word: str) -> str:
    """A word with `ue` for `ü`, as in `Mueller`, and otherwise without accents."""
    return without_accents(unicodedata.normalize("NFC", word.casefold()).translate(_GERMAN))


def likeness(first: NameForm, second: NameForm) -> float:
    """How alike two names are written, accents aside: rapidfuzz's ratio, 0 to 100."""
    return fuzz.ratio(without_accents(first.text), without_accents(second.text))


def names_overlap_but_differ(first: NameForm, second: NameForm) -> bool:
    """Whether two names share a word, and each has one of its own: the Banks of England and of Japan."""
    one, other = distinctive_words(first), distinctive_words(second)
    return bool(one & other and one - other and other - one)


def distinctive_words(name: NameForm) -> frozenset[str]:
    """The words of a name that say something."""
    return frozenset(name.words) - words_of_all(_FILE, "small_words")


def cannot_be_same(first: NameForm, second: NameForm, entity_type: EntityType) -> bool:
    """Whether two names can't be of one entity, whatever else speaks for it."""
    if first.words == second.words:
        return different_forms(first.legal, second.legal)
    if first.marks != second.marks and (
        not set(first.words).isdisjoint(second.words) or likeness(first, second) >= _ALIKE
    ):
        return True
    return entity_type == "person" and _other_given_name(first.words, second.words)


def _other_given_name(first: tuple[str, ...], second: tuple[str, ...]) -> bool:
    if len(first) < 2 or len(second) < 2 or without_accents(first[-1]) != without_accents(second[-1]):
        return False
    one, other = without_accents(first[0]), without_accents(second[0])
    initial = 1 in (len(one), len(other)) and one[:1] == other[:1]
    return one != other and not initial and in_german_ascii(first[0]) != in_german_ascii(second[0])
