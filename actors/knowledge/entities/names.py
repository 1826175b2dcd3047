"""Names of entities in the form in which they are compared, and what tells two names apart for good.

Called by merging. Case, punctuation, legal forms and articles don't count; accents, numbers and words do.
What differs in a number, a letter that stands alone or a given name is never the same, however alike.
"""

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from rapidfuzz import fuzz

from models.knowledge.points import EntityType
from models.text import one_line

_LONGEST = 200
# Written in capitals and no longer: `WHO` is not `Who`, `US` not `us`.
_LONGEST_ACRONYM = 4
_ALIKE = 60.0

_DOTTED = re.compile(r"(?<!\w)(?:[^\W\d_]\.){2,8}(?:[^\W\d_](?!\w))?")
_IN_WORD = re.compile(r"(?<=\w)['’ʼ](?=\w)")
_PARTED = re.compile(r"[^\w+#]|_")
_ROMAN = re.compile(r"(?=[IVX])X{0,3}(?:IX|IV|V?I{0,3})\Z")
_FOLDED = str.maketrans({"ł": "l", "ß": "ss", "ø": "o", "đ": "d", "æ": "ae", "œ": "oe", "ı": "i"})
_GERMAN = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})

# Legal forms at a name's end, as they are compared; those in capitals only as they are written here.
_FORMS: dict[tuple[str, ...], str] = {
    **{
        (form,): form
        for form in ("inc", "corp", "co", "ltd", "llc", "llp", "plc", "gmbh", "kgaa", "sarl", "srl")
    },
    **{(form,): form for form in ("sro", "doo", "pty", "bvba", "oyj", "mbh")},
    ("incorporated",): "inc",
    ("corporation",): "corp",
    ("company",): "co",
    ("limited",): "ltd",
    ("aktiengesellschaft",): "ag",
    ("sp", "z", "oo"): "sp z oo",
    ("sp", "z", "o", "o"): "sp z oo",
    ("spółka", "z", "oo"): "sp z oo",
    ("spółka", "z", "ograniczoną", "odpowiedzialnością"): "sp z oo",
    ("spółka", "akcyjna"): "sa",
    ("sp", "k"): "sp k",
    ("sp", "j"): "sp j",
}
_CAPITAL_FORMS = {
    form: form.casefold() for form in ("AG", "SE", "SA", "AB", "AS", "KG", "NV", "BV", "OHG", "UG", "SpA")
}
_DOTTED_FORMS = {form.upper(): form for form in _CAPITAL_FORMS}
_LONGEST_FORM = 4
# It says little: `Ford Motor Co.` and `Ford Motor Co. Ltd.` are one.
_WEAK_FORM = "co"
_ARTICLES: dict[str, frozenset[str]] = {
    "organization": frozenset({"the", "der", "die", "das"}),
    "person": frozenset(),
}
_ANY_ARTICLE = frozenset({"the"})
_TITLES = frozenset(
    "mr mrs ms miss dr prof professor sir dame lord lady herr frau pan pani mgr inż hab".split()  # noqa: SIM905
)
_SMALL_WORDS = frozenset(
    "of the and for in on at to de la le des du der die das und für von zu im am i w we na z ze do".split()  # noqa: SIM905
)
_NUMBER_WORDS = frozenset(
    "one two three four five six seven eight nine ten first second third fourth fifth sixth seventh "  # noqa: SIM905 - a list of words
    "eighth ninth tenth jeden dwa trzy cztery pięć sześć pierwszy pierwsza pierwsze drugi druga "
    "drugie trzeci trzecia trzecie czwarty czwarta piąty piąta erster erste erstes zweiter zweite "
    "zweites dritter dritte drittes eins zwei drei vier fünf sechs".split()
)


class NameForm(NamedTuple):
    """A name to be compared: its words, its legal forms, and what it counts by."""

    text: str
    words: tuple[str, ...]
    legal: frozenset[str]
    marks: tuple[str, ...]


def normal_name(name: str, entity_type: EntityType = "organization") -> str:
    """A name without case, punctuation, legal form, article or title; with its accents. Never empty."""
    return name_form(name, entity_type).text


@lru_cache(maxsize=65536)
def name_form(name: str, entity_type: EntityType) -> NameForm:
    """A name as it is compared."""
    line = unicodedata.normalize("NFKC", one_line(name)[:_LONGEST])
    if entity_type == "person" and line.count(",") == 1:
        # `Kowalski, Jan`; but not `King, Jr.`
        last, first = line.split(",")
        line = (
            line
            if len(first.split()) == 1 and first.strip(" .").casefold() in ("jr", "sr")
            else f"{first} {last}"
        )
    line = _IN_WORD.sub("", _DOTTED.sub(_without_dots, line).replace("&", " and "))
    written = _PARTED.sub(" ", line).split()
    legal: frozenset[str] = frozenset()
    if entity_type == "organization":
        written, legal = _without_legal_forms(written)
    elif entity_type == "person":
        while len(written) > 2 and written[0].casefold() in _TITLES:
            written = written[1:]
    if len(written) > 1 and written[0].casefold() in _ARTICLES.get(entity_type, _ANY_ARTICLE):
        written = written[1:]
    acronym = len(written) == 1 and len(written[0]) <= _LONGEST_ACRONYM and written[0].isupper()
    words = tuple(written if acronym else (word.casefold() for word in written)) or (
        line.casefold().strip() or name,
    )
    return NameForm(" ".join(words), words, legal, _marks(written, entity_type))


def _without_dots(found: re.Match[str]) -> str:
    letters = found[0].replace(".", "")
    return _DOTTED_FORMS.get(letters.upper(), letters) + " "


def _without_legal_forms(written: list[str]) -> tuple[list[str], frozenset[str]]:
    forms = set[str]()
    while True:
        for size in range(min(_LONGEST_FORM, len(written) - 1), 0, -1):
            last = written[-size:]
            form = _FORMS.get(tuple(word.casefold() for word in last))
            form = form or (_CAPITAL_FORMS.get(last[0]) if size == 1 else None)
            if form:
                forms.add(form)
                written = written[:-size]
                break
        else:
            if forms and len(written) > 1 and written[-1].casefold() in ("and", "und", "i"):
                written = written[:-1]  # of `GmbH & Co. KG`
                continue
            return written, frozenset(forms)


def _marks(written: list[str], entity_type: EntityType) -> tuple[str, ...]:
    """What counts things among a name's words: numbers, numerals, and letters by themselves."""
    found = []
    for word in written:
        alone = len(word) == 1 and entity_type != "person" and word.isupper()
        if any(map(str.isdigit, word)) or _ROMAN.match(word) or alone or word.casefold() in _NUMBER_WORDS:
            found.append(word.casefold())
    return tuple(sorted(found))


@lru_cache(maxsize=65536)
def without_accents(word: str) -> str:
    """A word in lower case without its accents."""
    apart = unicodedata.normalize("NFKD", word.casefold().translate(_FOLDED))
    return "".join(character for character in apart if not unicodedata.combining(character))


def in_german_ascii(word: str) -> str:
    """A word with `ue` for `ü`, as in `Mueller`, and otherwise without accents."""
    return without_accents(unicodedata.normalize("NFC", word.casefold()).translate(_GERMAN))


def likeness(first: NameForm, second: NameForm) -> float:
    """How alike two names are written, accents aside: rapidfuzz's ratio, 0 to 100."""
    return fuzz.ratio(without_accents(first.text), without_accents(second.text))


def crossing(first: NameForm, second: NameForm) -> bool:
    """Whether two names share a word, and each has one of its own: the Banks of England and of Japan."""
    one, other = telling_words(first), telling_words(second)
    return bool(one & other and one - other and other - one)


def telling_words(name: NameForm) -> frozenset[str]:
    """The words of a name that say something."""
    return frozenset(name.words) - _SMALL_WORDS


def conflict(first: NameForm, second: NameForm, entity_type: EntityType) -> bool:
    """Whether two names can't be of one entity, whatever else speaks for it."""
    if first.words == second.words:
        return different_forms(first.legal, second.legal)
    related = not set(first.words).isdisjoint(second.words) or likeness(first, second) >= _ALIKE
    if related and first.marks != second.marks:
        return True
    return entity_type == "person" and _other_given_name(first.words, second.words)


def different_forms(first: frozenset[str], second: frozenset[str]) -> bool:
    """Whether two companies of one name have legal forms that make them two."""
    one, other = first - {_WEAK_FORM}, second - {_WEAK_FORM}
    return bool(one and other and one != other)


def _other_given_name(first: tuple[str, ...], second: tuple[str, ...]) -> bool:
    if len(first) < 2 or len(second) < 2 or without_accents(first[-1]) != without_accents(second[-1]):
        return False
    one, other = without_accents(first[0]), without_accents(second[0])
    initial = 1 in (len(one), len(other)) and one[:1] == other[:1]
    return one != other and not initial and in_german_ascii(first[0]) != in_german_ascii(second[0])
