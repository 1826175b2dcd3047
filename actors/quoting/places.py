"""Where a quotation or a figure stands in its source, in words, for footnotes."""

from collections.abc import Iterable

from actors.text.language import Language

_CHARACTERS: dict[Language, str] = {"en": "characters", "pl": "znaki", "de": "Zeichen"}
_ROWS: dict[Language, str] = {"en": "rows", "pl": "wiersze", "de": "Zeilen"}
_MOST_ROWS = 4


def characters(start: int, end: int, language: Language) -> str:
    """Where a quotation stands in its source: `characters 120–241`, counted from 0."""
    return f"{_CHARACTERS[language]} {start}–{end}"


def rows(cells: Iterable[tuple[int, int]], language: Language) -> str:
    """Where a figure comes from in its table: `rows 3, 15`, counted from 1; of many the first and last."""
    numbers = [str(row) for row in sorted({row + 1 for row, _ in cells})]
    told = ", ".join(numbers) if len(numbers) <= _MOST_ROWS else f"{numbers[0]}–{numbers[-1]}"
    return f"{_ROWS[language]} {told}"
