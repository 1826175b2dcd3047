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

from actors.platform.text.names.generic_mentions import is_generic_mention
from actors.platform.text.names.legal_forms import different_forms, without_legal_forms
from actors.platform.text.names.name_tokens import has_sign, tokenize_name
from actors.platform.text.names.scripts import syllables
from actors.platform.text.normal_form import without_accents
from models.knowledge.points import EntityType
from models.text import one_line, word_list

# In capitals these are others than in small letters: `WHO` is not `Who`; nor is `CO` `Co`, in two letters.
_WORDS_TOO = frozenset(
    word_list(
        "act age aid aids aim air all and any ape are arm art ask bad bag bar bat bay bed bet big bin bit "
        "box boy bus but can cap car care case cash cat cop cost cup cut date day deal dna doc dog ear "
        "east eat end eye fan far fast fat few fit fly for fun gap gas get gift god gun hat help her hip "
        "his hit home hot how ice idea its jet job key kid last law led leg let life lift link lip list "
        "live log lot love low mad main make man map mat may mean men mess mind mine mix mom mud net new "
        "news next nod not now nut odd off oil old one open our out own pan park pass past pay pen pet pie "
        "pig pin pit plan play pop pot ram rat raw red rich rim ring rock row run sad safe salt sand save "
        "say sea see self set sex she ship shop sin sir sit six ski sky smart snow some son song spa star "
        "stem step stop sum sun tan tap tax tea team ten the them they tie time tin tip toe top toy try "
        "two van vat war way web well west wet who why win wolf wood work yes yet you bez bok byk cel dom "
        "gaz jak kot las lek lis los mat nad nie nos ode pas pies pis pod pole rak raz rok ryba sam sen "
        "ser sos tak tam tor wam was wół zus alt amt aus bad ball berg bein ort dach ding eis ende erde "
        "feld fest frau geld gut hand haus herr hof hut kind kuh land mann mehr mond mut neu ost rad rat "
        "rot see spur tag tal tat tee tier tod tor uhr und volk wald wand weg wein welt wort zahl zeit "
        "ziel zoll zug"
    )
)
_LONGEST_SYMBOL = 2
_ALIKE = 60.0

_ROMAN = re.compile(r"(?=.)M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})\Z")
_ROMAN_LETTERS = frozenset("IVX")
_GERMAN = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})

_ARTICLES: dict[str, frozenset[str]] = {
    "organization": frozenset({"the", "der", "die", "das"}),
    "person": frozenset(),
}
_ANY_ARTICLE = frozenset({"the"})
_TITLES = frozenset(
    word_list("mr mrs ms miss dr prof professor sir dame lord lady herr frau pan pani mgr inż hab")
)
# With one of these, a surname is one name still; `Lady Gaga` and `Dr. Dre` are two.
_CIVIL = frozenset(word_list("mr mrs ms miss herr frau pan pani the der die das"))
_FULL_NAME = 3
_SMALL_WORDS = frozenset(
    word_list("of the and for in on at to de la le des du der die das und für von zu im am i w we na z ze do")
)
_NUMBER_WORDS = frozenset(
    word_list(
        "one two three four five six seven eight nine ten first second third fourth fifth sixth seventh "
        "eighth ninth tenth jeden dwa trzy cztery pięć sześć pierwszy pierwsza pierwsze drugi druga drugie "
        "trzeci trzecia trzecie czwarty czwarta piąty piąta erster erste erstes zweiter zweite zweites "
        "dritter dritte drittes eins zwei drei vier fünf sechs"
    )
)


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
        while len(written) > 2 and written[0].casefold() in _TITLES:
            written = written[1:]
    if len(written) > 1 and written[0].casefold() in _ARTICLES.get(entity_type, _ANY_ARTICLE):
        written = written[1:]
    words = tuple(written) if _is_acronym(written) else tuple(word.casefold() for word in written)
    words = words or (one_line(name).casefold() or name,)
    return NameForm(" ".join(words), words, legal, _marks(written, entity_type), nobody, vague)


def _is_acronym(written: Sequence[str]) -> bool:
    """Whether a name is one word in capitals that are not to be taken for small letters."""
    if len(written) != 1 or not written[0].isupper():
        return False
    return len(written[0]) <= _LONGEST_SYMBOL or written[0].casefold() in _WORDS_TOO


def _is_one_name(written: Sequence[str]) -> bool:
    """Whether a person is given by a surname or a given name alone; `毛泽东` is both."""
    names = [word for word in written if word.casefold() not in _CIVIL]
    return len(names) == 1 and syllables(names[0]) < _FULL_NAME


def _marks(written: Sequence[str], entity_type: EntityType) -> tuple[str, ...]:
    """What counts things among a name's words: numbers, numerals, signs, and letters by themselves."""
    found = []
    for word, after in pairwise([*written, " "]):
        letter = len(word) == 1 and word.isalpha()
        alone = letter and (after[0].isdigit() or (entity_type != "person" and word.isupper()))
        roman = _ROMAN.match(word) and (not letter or word in _ROMAN_LETTERS)
        number = any(map(str.isdigit, word)) or word.casefold() in _NUMBER_WORDS
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
    return frozenset(name.words) - _SMALL_WORDS


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
