"""Where a quotation or a figure stands, and in what that is kept here, in words, for footnotes."""

from collections.abc import Iterable

from actors.text.language import Language

_CHARACTERS: dict[Language, str] = {"en": "characters", "pl": "znaki", "de": "Zeichen"}
_ROWS: dict[Language, str] = {"en": "rows", "pl": "wiersze", "de": "Zeilen"}
_ARTICLE: dict[Language, str] = {"en": "article", "pl": "artykuł", "de": "Artikel"}
_RESOURCE: dict[Language, str] = {"en": "resource", "pl": "zasób", "de": "Ressource"}
_SPAN: dict[Language, str] = {
    "en": "characters {} to {}",
    "pl": "znaki od {} do {}",
    "de": "Zeichen {} bis {}",
}
_GIVEN: dict[Language, str] = {
    "en": "as somebody gave it",
    "pl": "w postaci, w jakiej ktoś to podał",
    "de": "wie jemand es angegeben hat",
}
_UNVERIFIED: dict[Language, str] = {
    "en": "unverified: the check of this sentence failed",
    "pl": "niesprawdzone: sprawdzenie tego zdania się nie powiodło",
    "de": "ungeprüft: die Prüfung dieses Satzes ist gescheitert",
}
_MOST_ROWS = 4


def characters(start: int, end: int, language: Language) -> str:
    """Where a quotation stands in its source: `characters 120–241`, counted from 0."""
    return f"{_CHARACTERS[language]} {start}–{end}"


def rows(cells: Iterable[tuple[int, int]], language: Language) -> str:
    """Where a figure comes from in its table: `rows 3, 15`, counted from 1; of many the first and last."""
    numbers = [str(row) for row in sorted({row + 1 for row, _ in cells})]
    told = ", ".join(numbers) if len(numbers) <= _MOST_ROWS else f"{numbers[0]}–{numbers[-1]}"
    return f"{_ROWS[language]} {told}"


def span(start: int, end: int, language: Language) -> str:
    """The same in words: `characters 120 to 241`."""
    return _SPAN[language].format(start, end)


def article(number: int, language: Language) -> str:
    """An article of this site: `article 17`."""
    return f"{_ARTICLE[language]} {number}"


def resource(number: int, language: Language) -> str:
    """A resource: `resource 5`."""
    return f"{_RESOURCE[language]} {number}"


def as_given(language: Language) -> str:
    """Of a text that nobody has read at an address: `as somebody gave it`."""
    return _GIVEN[language]


def unverified(language: Language) -> str:
    """Of a sentence whose check against its sources could not be made."""
    return _UNVERIFIED[language]
