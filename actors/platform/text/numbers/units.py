"""Units of tables: which are known, how three languages write them, and where a table says them.

A unit that isn't known is kept in the table's own words.
"""

import re
from decimal import Decimal
from functools import cache
from typing import Literal

from babel import Locale

from actors.platform.text.language import Language
from actors.platform.text.lexicon import ENGLISH, lexicon, pattern, words_of_all
from actors.platform.text.quotation_marks import quoted
from models.text import one_line, word_list

PERCENT, POINTS, INDEX = "percent", "percentage points", "index"
Scale = Literal["thousand", "million", "billion"]

_FILE = "units"
_SCALES: tuple[Scale, ...] = ("thousand", "million", "billion")
# By the names under which their words are listed.
_BASES = {
    "percent": PERCENT,
    "points": POINTS,
    "index": INDEX,
    "persons": "persons",
    "tonnes": "tonnes",
    "eur": "EUR",
    "pln": "PLN",
}
_CODES = frozenset(word_list("EUR USD PLN GBP CHF JPY CZK HUF SEK NOK DKK CNY CAD AUD"))
_TOKEN = re.compile(r"[^\W\d_]+|[%€]|\S")
_TWO_WORDS = pattern(_FILE, "points_in_words", r"\b{}")
_PER_CENT = pattern(_FILE, "percent_in_words", r"\b{}")
_SAID = re.compile(r"\bunits?: *([^;\n]{1,200})", re.IGNORECASE)
_ASIDE = re.compile(r"[(\[]([^()\[\]]{1,80})[)\]]|[,_]([^,_()\[\]]{1,40})\Z")
_BEHIND_IN = re.compile(r"\b(?:in|w) ([^,;()]{1,40})\Z")
_COUNTS = pattern(_FILE, "counts")
_SAMPLES = pattern(_FILE, "samples")
_PRICES = pattern(_FILE, "prices")
# Words of a table's own that may be a unit.
_OWN = re.compile(r"[^\W_][\w %°/²³$€£-]{0,40}")
_LONGEST = 1000


def unit_in_text(text: str) -> str | None:
    """The unit that a description says behind `unit:`, else the one that it begins with or consists of.

    What it names among other words may be what is measured: "US-Dollar je Euro".
    """
    text = text[:_LONGEST]
    if said := _SAID.search(text):
        own = one_line(said[1])
        return _whole(own) or (own if _OWN.fullmatch(own) else None)
    return _whole(one_line(text)) or _share(text)


def unit_in_heading(text: str) -> str | None:
    """The known unit that a heading has in brackets or behind its last comma; percent as one of its words.

    Any other among its words may be what is measured, or where: "Euro area unemployment".
    """
    text = text[:_LONGEST]
    for found in _ASIDE.finditer(text):
        said = one_line(found[1] or found[2])
        if unit := _whole(said) or _whole(said.upper()):
            return unit
    if (behind := _BEHIND_IN.search(text)) and (unit := _whole(one_line(behind[1]))):
        return unit
    # A heading that is a currency's code names what is measured: a rate's column, not its unit.
    return None if text.strip() in _CODES else _whole(one_line(text)) or _share(text)


def unit_of_column(head: str, *, alone: bool) -> bool:
    """Whether a column is in the unit of its table: one of several only if its name says that it is a price
    or a maturity; volumes and counts never are."""
    return _COUNTS.search(head) is None and (alone or _PRICES.fullmatch(head.strip()) is not None)


def unit_of_mark(mark: str) -> str | None:
    """The unit that a sign in cells says; a dollar may be one of several countries."""
    return {"%": PERCENT, "€": "EUR", "£": "GBP", "zł": "PLN"}.get(mark)


def counts_people(head: str) -> bool:
    """Whether a column says of how many a share was taken: no share itself."""
    return _COUNTS.search(head) is not None or _SAMPLES.search(head) is not None


def change_unit(unit: str | None) -> str | None:
    """The unit of a difference: percentage points where values are in percent."""
    return POINTS if unit == PERCENT else unit


def short(unit: str | None) -> str | None:
    """A unit for the second time in a sentence: of `PLN per EUR` PLN, and nothing of an unknown one."""
    if unit is None or (pair := _pair(unit)) is None:
        return None if unit is None or (_apart(unit)[1] is None and not _known(unit)) else unit
    return pair[0]


def written(
    number: str,
    value: Decimal,
    unit: str | None,
    language: Language,
    *,
    by: bool = False,
    dative: bool = False,
) -> str:
    """A formatted number with its unit, an unknown one in brackets, in quotation marks.

    `by` is for what a value changed by, `dative` for what stands behind the German `mit`.
    """
    if unit is None:
        return number
    scale, base = _apart(unit)
    if base is None and not _known(unit):
        return f"{number} ({quoted(unit, language)})"
    words = [number] + ([_forms(language)[scale]["other"]] if scale else [])
    if base is not None:
        words.append(_base_form(base, value, language, counted=scale is None, by=by, dative=dative))
    return " ".join(words)


def unit_words(language: Language) -> frozenset[str]:
    """All words that `written` may put behind a number, but for codes of currencies and unknown units."""
    forms = [form for base in _forms(language).values() for form in base.values()]
    return frozenset(" ".join(forms).split())


def _apart(unit: str) -> tuple[Scale | None, str | None]:
    first, _, rest = unit.partition(" ")
    scale: Scale | None = next((scale for scale in _SCALES if scale == first), None)
    base = rest if scale else unit
    return scale, base if base in _BASES.values() or base in _CODES or _pair(base) else None


def is_known(unit: str | None) -> bool:
    """Whether it is a unit of ours, not a table's own words."""
    return unit is not None and (_known(unit) or _apart(unit)[1] is not None)


def _known(unit: str) -> bool:
    return unit in _SCALES


def _pair(unit: str) -> tuple[str, str] | None:
    """`PLN per EUR` as its two currencies."""
    parts = unit.split(" per ")
    return (parts[0], parts[1]) if len(parts) == 2 and _CODES.issuperset(parts) else None


def _base_form(
    base: str, value: Decimal, language: Language, *, counted: bool, by: bool, dative: bool
) -> str:
    if pair := _pair(base):
        return f"{pair[0]} {_forms(language)['per']['other']} {pair[1]}"
    if base in _CODES:
        return base
    forms = _forms(language)[base]
    # Behind `million` and its like stands the form of many.
    rule = Locale(language).plural_form(abs(value)) if counted else "many"
    if by and rule == "one" and "one_by" in forms:
        rule = "one_by"
    if dative and rule != "one" and "dative" in forms:
        rule = "dative"
    return forms.get(rule, forms["other"])


def _whole(text: str) -> str | None:
    """The unit of a text that says nothing else; of `percent of GDP` and of an index that it is one."""
    runs = list(_runs(text))
    if len(runs) != 1:
        return None
    unit, first, whole = runs[0]
    return unit if whole or (first and unit in (PERCENT, POINTS, INDEX)) else None


def _share(text: str) -> str | None:
    """Percent or percentage points where they are the one unit that a text names among other words."""
    units = {unit for unit, _, _ in _runs(text)}
    return units.pop() if units in ({PERCENT}, {POINTS}) else None


def _runs(text: str) -> list[tuple[str, bool, bool]]:
    """Units named in a text: each, whether the text begins with it, and whether there is nothing else."""
    text = _PER_CENT.sub("percent", _TWO_WORDS.sub("pp", text))
    runs: list[tuple[str, bool, bool]] = []
    tokens = _TOKEN.findall(text)
    n = 0
    while n < len(tokens):
        begun, parts = n, list[str]()
        while n < len(tokens):
            kind = _kind(tokens[n])
            if kind is None or (kind == "per" and not parts):
                break
            parts += [kind] if kind else []
            n += 1
        if unit := _joined(parts):
            runs.append((unit, begun == 0, begun == 0 and n == len(tokens)))
        n += n == begun
    return runs


def _kind(token: str) -> str | None:
    """A part of a unit; empty for what stands between parts, None for other words."""
    plain = token.casefold()
    if token in _CODES:
        return token
    if plain in words_of_all(_FILE, "between") or plain == ".":
        return ""
    return "per" if plain in words_of_all(_FILE, "per") else _kinds().get(plain)


def _joined(parts: list[str]) -> str | None:
    unit = " ".join(parts)
    scale, base = _apart(unit) if parts else (None, None)
    return unit if base is not None or scale == unit else None


@cache
def _kinds() -> dict[str, str]:
    """Scales and units by the words that tables say them in."""
    kinds = {word: scale for scale in _SCALES for word in words_of_all(_FILE, scale)}
    return kinds | {word: unit for key, unit in _BASES.items() for word in words_of_all(_FILE, key)}


@cache
def _forms(language: Language) -> dict[str, dict[str, str]]:
    """How a language writes scales, units and what stands between two currencies, each by its plural form."""
    found: dict[str, dict[str, str]] = {}
    texts = lexicon(language, _FILE) or lexicon(ENGLISH, _FILE)
    # Currencies are written by their codes.
    for key in (*_SCALES, "per", *(key for key, unit in _BASES.items() if unit not in _CODES)):
        pairs = (one.strip().rpartition("=") for one in texts[f"written_{key}"].split(";"))
        found[_BASES.get(key, key)] = {form or "other": word for form, _, word in pairs}
    return found
