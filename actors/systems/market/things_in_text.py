"""What a text names of that which is known: places, what is measured or traded, companies, currencies.

Called by whoever has to tell a text on one thing from a text on another, in English, German or Polish:
"Niemcy" and "Germany" are one. The words are those of `known_series`; other countries are Babel's.
"""

from functools import cache

from babel import Locale

from actors.platform.text.language import Language, language_of
from actors.systems.market import known_series as known
from actors.systems.market.series_in_text import areas_in, fold, has, pairs_in, pattern_of, shares_in
from models.record import Record

# Letters of a country's name from which on it may be inflected, and that its ending has at most.
_NAME, _ENDING = 5, 3


class Things(Record):
    """What a text names, by what it is; `others` are its words without these."""

    places: frozenset[str] = frozenset()
    subjects: frozenset[str] = frozenset()
    companies: frozenset[str] = frozenset()
    currencies: frozenset[str] = frozenset()
    others: str = ""

    def within(self, other: "Things") -> bool:
        """Whether another text names all places, measures and companies of this one."""
        return (
            self.places <= other.places
            and self.subjects <= other.subjects
            and self.companies <= other.companies
        )


def things_in(text: str) -> Things:
    """What a text of some passages names."""
    words, language = fold(text), language_of(text)
    companies = frozenset(shares_in(text, words))
    named = {code for code, (_, names) in known.CURRENCIES.items() if names and has(words, names)}
    pairs = {code for pair in pairs_in(text, words, shares=bool(companies)) for code in pair.split("/")}
    areas: set[str] = {str(area) for area in areas_in(text, words) or ()}
    elsewhere = {place: told for place, told in known.PLACES_ELSEWHERE.items() if has(words, told)}
    concepts = [*known.CONCEPTS.items(), *known.SUBJECTS.items()]
    subjects: dict[str, tuple[str, ...]] = {name: told for name, told in concepts if has(words, told)}
    others = words
    for phrases in (
        *(names for area, names in known.AREAS.items() if area in areas),
        *elsewhere.values(),
        *subjects.values(),
        *(known.COMPANIES[symbol].words for symbol in companies if symbol in known.COMPANIES),
        *(known.CURRENCIES[code][1] for code in named & pairs),
    ):
        others = pattern_of(phrases).sub(" ", others)
    countries = {word: country for word in set(others.split()) if (country := _country(word, language))}
    return Things(
        places=frozenset({*areas, *elsewhere, *countries.values()}),
        subjects=frozenset(subjects),
        companies=companies,
        currencies=frozenset(named),
        others=" ".join(word for word in others.split() if word not in countries),
    )


def exchanged(text: str) -> frozenset[str]:
    """The currencies whose exchange rate a text is about, as far as it names them."""
    words = fold(text)
    pairs = {code for pair in pairs_in(text, words, shares=False) for code in pair.split("/")}
    return frozenset(code for code in pairs if has(words, known.CURRENCIES[code][1]))


def _country(word: str, language: Language) -> str | None:
    names = _countries(language)
    for ending in range(min(_ENDING, len(word) - _NAME) + 1 if len(word) >= _NAME else 1):
        if country := names.get(word[: len(word) - ending]):
            return country
    return None


@cache
def _countries(language: Language) -> dict[str, str]:
    """The countries whose names are one word, by that; a final vowel is left away, for it is inflected."""
    names: dict[str, str] = {}
    for code, name in Locale(language).territories.items():
        word = fold(name)
        if code.isalpha() and " " not in word and len(word) >= _NAME - 1:
            names[word] = code
            if len(word) > _NAME and word[-1] in "aeiouy":
                names.setdefault(word[:-1], code)
    return names
