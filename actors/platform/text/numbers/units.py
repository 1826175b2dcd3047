"""Units of tables: which are known, how three languages write them, and where a table says them.

A unit that isn't known is kept in the table's own words.
"""

import re
from decimal import Decimal
from typing import Literal

from babel import Locale

from actors.platform.text.language import Language
from actors.platform.text.quotation_marks import quoted
from models.text import one_line, word_list

PERCENT, POINTS, INDEX = "percent", "percentage points", "index"
Scale = Literal["thousand", "million", "billion"]

_SCALES: dict[str, Scale] = {
    **dict.fromkeys(word_list("thousand thousands tys tysiące tysięcy tsd tausend"), "thousand"),
    **dict.fromkeys(word_list("million millions mln milion miliony milionów mio millionen mn"), "million"),
    **dict.fromkeys(word_list("mld mrd bn miliard miliardy miliardów milliarden"), "billion"),
    "billion": "billion",
    "billions": "billion",
}
_BASES: dict[str, str] = {
    **dict.fromkeys(word_list("percent % pct proc procent procentach prozent"), PERCENT),
    **dict.fromkeys(word_list("pp prozentpunkte prozentpunkten"), POINTS),
    **dict.fromkeys(word_list("index indeks punkte punkten"), INDEX),
    **dict.fromkeys(word_list("persons people osoby osób osobach personen"), "persons"),
    **dict.fromkeys(word_list("tonnes tony tonach tonnen"), "tonnes"),
    **dict.fromkeys(word_list("€ euro euros"), "EUR"),
    **dict.fromkeys(word_list("złoty złotych zł zloty"), "PLN"),
}
_CODES = frozenset(word_list("EUR USD PLN GBP CHF JPY CZK HUF SEK NOK DKK CNY CAD AUD"))
_PER = frozenset(["per", "za", "je"])
_BETWEEN = frozenset(["of", "in", "w"])
_TOKEN = re.compile(r"[^\W\d_]+|[%€]|\S")
_TWO_WORDS = re.compile(r"\b(?:percentage points|pkt\.? proc\b\.?|punkty procentowe)", re.IGNORECASE)
_PER_CENT = re.compile(r"\bper cent\b", re.IGNORECASE)
_SAID = re.compile(r"\bunits?: *([^;\n]{1,200})", re.IGNORECASE)
_ASIDE = re.compile(r"[(\[]([^()\[\]]{1,80})[)\]]|[,_]([^,_()\[\]]{1,40})\Z")
_BEHIND_IN = re.compile(r"\b(?:in|w) ([^,;()]{1,40})\Z")
_COUNTS = re.compile(r"volume|wolumen|volumen|count|liczba|anzahl", re.IGNORECASE)
_SAMPLES = re.compile(
    r"próba|próby|sample|respondent|ankietowan|stichprobe|befragte|number of|\An\Z", re.IGNORECASE
)
_PRICES = re.compile(
    r"(?:adj(?:usted|\.)? ?)?(?:open|high|low|close|price|last)"
    r"|kurs|eröffnung|hoch|tief|schluss|zamknięcie|otwarcie"
    r"|\d{1,3} ?(?:m|mo|y|yr|months?|years?|miesi\w+|lat|l|monate?|jahre?)",
    re.IGNORECASE,
)
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
    words = [number] + ([_SCALE_FORMS[language][scale]] if scale else [])
    if base is not None:
        words.append(_base_form(base, value, language, counted=scale is None, by=by, dative=dative))
    return " ".join(words)


def unit_words(language: Language) -> frozenset[str]:
    """All words that `written` may put behind a number, but for codes of currencies and unknown units."""
    forms = [form for base in _FORMS[language].values() for form in base.values()]
    return frozenset(" ".join([*forms, *_SCALE_FORMS[language].values(), _PER_FORMS[language]]).split())


def _apart(unit: str) -> tuple[Scale | None, str | None]:
    first, _, rest = unit.partition(" ")
    scale: Scale | None = next((scale for scale in _SCALE_FORMS["en"] if scale == first), None)
    base = rest if scale else unit
    return scale, base if base in _FORMS["en"] or base in _CODES or _pair(base) else None


def is_known(unit: str | None) -> bool:
    """Whether it is a unit of ours, not a table's own words."""
    return unit is not None and (_known(unit) or _apart(unit)[1] is not None)


def _known(unit: str) -> bool:
    return unit in _SCALE_FORMS["en"]


def _pair(unit: str) -> tuple[str, str] | None:
    """`PLN per EUR` as its two currencies."""
    parts = unit.split(" per ")
    return (parts[0], parts[1]) if len(parts) == 2 and _CODES.issuperset(parts) else None


def _base_form(
    base: str, value: Decimal, language: Language, *, counted: bool, by: bool, dative: bool
) -> str:
    if pair := _pair(base):
        return f"{pair[0]} {_PER_FORMS[language]} {pair[1]}"
    if base in _CODES:
        return base
    forms = _FORMS[language][base]
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
    if plain in _BETWEEN or plain == ".":
        return ""
    return "per" if plain in _PER else _SCALES.get(plain) or _BASES.get(plain)


def _joined(parts: list[str]) -> str | None:
    unit = " ".join(parts)
    scale, base = _apart(unit) if parts else (None, None)
    return unit if base is not None or scale == unit else None


_SCALE_FORMS: dict[Language, dict[Scale, str]] = {
    "en": {"thousand": "thousand", "million": "million", "billion": "billion"},
    "pl": {"thousand": "tys.", "million": "mln", "billion": "mld"},
    "de": {"thousand": "Tsd.", "million": "Mio.", "billion": "Mrd."},
}
_PER_FORMS: dict[Language, str] = {"en": "per", "pl": "za", "de": "je"}
# By the plural rules of CLDR; `one_by` is the accusative of one and `dative` that of many, where these are
# other words.
_FORMS: dict[Language, dict[str, dict[str, str]]] = {
    "en": {
        PERCENT: {"other": "percent"},
        POINTS: {"one": "percentage point", "other": "percentage points"},
        INDEX: {"one": "point", "other": "points"},
        "persons": {"one": "person", "other": "people"},
        "tonnes": {"one": "tonne", "other": "tonnes"},
    },
    "pl": {
        PERCENT: {"other": "proc."},
        POINTS: {"other": "pkt proc."},
        INDEX: {"other": "pkt"},
        "persons": {"one": "osoba", "one_by": "osobę", "few": "osoby", "many": "osób", "other": "osoby"},
        "tonnes": {"one": "tona", "one_by": "tonę", "few": "tony", "many": "ton", "other": "tony"},
    },
    "de": {
        PERCENT: {"other": "Prozent"},
        POINTS: {"one": "Prozentpunkt", "other": "Prozentpunkte", "dative": "Prozentpunkten"},
        INDEX: {"one": "Punkt", "other": "Punkte", "dative": "Punkten"},
        "persons": {"one": "Person", "other": "Personen"},
        "tonnes": {"one": "Tonne", "other": "Tonnen"},
    },
}
