"""Which numbers of a text have no support in its sources; `3,1 proc.` has it in `3.1 percent`."""

from collections.abc import Iterable

from actors.platform.text.language import Language, language_of
from actors.platform.text.lexicon import languages
from actors.platform.text.numbers.number_readings import NumberFound, Reader, numbers_in

_SHORT = 300


def unsupported_numbers(
    text: str, language: Language, sources: Iterable[str], facts: Iterable[str]
) -> tuple[NumberFound, ...]:
    """Those of a text that stand in no source and no fact. Sources and facts may be in any of the languages.

    What is compared is the number as it is: a rounded one isn't supported by the one that it was rounded
    from, nor `3.1 percent` by a bare 3.1 or by percentage points, nor 0.3 by −0.3. A month has support
    in any day of it, a year in any date with it, and a bare number in the same with `percent`; a day has
    none in its month. A number that can be read in two ways (`1.234`) has support if one of them has.
    """
    known: set[str] = set()
    for told in (*sources, *facts):
        # In a longer one the words say which it is: the Polish "ten" is no 10.
        spoken_in = (language_of(told),) if len(told) >= _SHORT else languages()
        for spoken in spoken_in:
            for reading in Reader(told, spoken).readings():
                known.update(_implied(reading))
    return tuple(found for found in numbers_in(text, language) if known.isdisjoint(found.readings))


def _implied(reading: str) -> Iterable[str]:
    """A reading, and what whoever knows it may say as well."""
    yield reading
    kind, _, value = reading.partition(":")
    if kind in ("percent", "points"):
        yield f"number:{value}"
    elif kind == "day":
        year, month, day = value.split("-")
        yield from (f"month:{year}-{month}", f"number:{year}", f"of-year:{month}", f"of-year:{month}-{day}")
    elif kind in ("month", "quarter"):
        year, part = value.split("-")
        yield f"number:{year}"
        yield f"of-year:{part}"
    elif kind == "of-year" and "-" in value:
        yield f"of-year:{value.partition('-')[0]}"
