"""Where a quotation or a figure stands, and in what that is kept here, in words, for footnotes."""

from collections.abc import Iterable

from actors.platform.text.language import Language
from actors.platform.text.lexicon import lexicon

_MOST_ROWS = 4


def characters(start: int, end: int, language: Language) -> str:
    """Where a quotation stands in its source: `characters 120–241`, counted from 0."""
    return f"{_words(language)['characters']} {start}–{end}"


def rows(cells: Iterable[tuple[int, int]], language: Language) -> str:
    """Where a figure comes from in its table: `rows 3, 15`, counted from 1; of many the first and last."""
    numbers = [str(row) for row in sorted({row + 1 for row, _ in cells})]
    told = ", ".join(numbers) if len(numbers) <= _MOST_ROWS else f"{numbers[0]}–{numbers[-1]}"
    return f"{_words(language)['rows']} {told}"


def span(start: int, end: int, language: Language) -> str:
    """The same in words: `characters 120 to 241`."""
    return _words(language)["span"].format(start, end)


def article(number: int, language: Language) -> str:
    """An article of this site: `article 17`."""
    return f"{_words(language)['article']} {number}"


def resource(number: int, language: Language) -> str:
    """A resource: `resource 5`."""
    return f"{_words(language)['resource']} {number}"


def as_given(language: Language) -> str:
    """Of a text that nobody has read at an address: `as somebody gave it`."""
    return _words(language)["given"]


def unverified(language: Language) -> str:
    """Of a sentence whose check against its sources could not be made."""
    return _words(language)["unverified"]


def _words(language: Language) -> dict[str, str]:
    return lexicon(language, "places")
