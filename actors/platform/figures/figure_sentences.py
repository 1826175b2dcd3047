"""Figures as sentences, from fixed templates in English, Polish and German.

Called by whoever writes of tables. Every sentence begins with the series' name, verbatim, so that no
language need decline it; the caller sees to it that a name may stand in the text. Numbers, months and
days have the forms of CLDR.
"""

import re
from datetime import date
from decimal import Decimal, localcontext

from babel.dates import format_date, get_month_names
from babel.numbers import format_decimal

from actors.platform.figures.figures import Figure
from actors.platform.figures.series import Frequency
from actors.platform.text.language import Language
from actors.platform.text.numbers.units import PERCENT, short, unit_words, written
from actors.platform.text.quotation_marks import quoted

_LOCALES = {"en": "en_GB", "pl": "pl", "de": "de"}
# CLDR has the nominative and the genitive.
_LOCATIVE = (
    *("styczniu", "lutym", "marcu", "kwietniu", "maju", "czerwcu"),
    *("lipcu", "sierpniu", "wrześniu", "październiku", "listopadzie", "grudniu"),
)
_ORDINALS: dict[Language, tuple[str, ...]] = {
    "en": ("first", "second", "third", "fourth"),
    "pl": ("pierwszym", "drugim", "trzecim", "czwartym"),
    "de": ("ersten", "zweiten", "dritten", "vierten"),
}
# What Polish has behind `od` and `do`.
_GENITIVE_ORDINALS = ("pierwszego", "drugiego", "trzeciego", "czwartego")
# When something was, by how often there is a value, and in which span: `{0}` to `{1}`.
_AT: dict[Language, dict[str, str]] = {
    "en": {"day": "on {}", "month": "in {}", "quarter": "in the {}", "year": "in {}"},
    "pl": {"day": "{} r.", "month": "w {} r.", "quarter": "w {} r.", "year": "w {} r."},
    "de": {"day": "am {}", "month": "im {}", "quarter": "im {}", "year": "im Jahr {}"},
}
_SPANS: dict[Language, dict[str, str]] = {
    "en": {"": "from {} to {}", "quarter": "from the {} to the {}"},
    "pl": {"": "w okresie od {} r. do {} r."},
    "de": {"": "von {} bis {}", "day": "vom {} bis zum {}", "quarter": "vom {} bis zum {}"},
}
_QUARTERS: dict[Language, str] = {
    "en": "{} quarter of {}",
    "pl": "{} kwartale {}",
    "de": "{} Quartal {}",
}
_GENITIVE_QUARTER = "{} kwartału {}"
_TEMPLATES: dict[Language, dict[str, str]] = {
    "en": {
        "latest": "{value} {at}.",
        "change": "{level} {at}, {direction} {change} from {base} {since}.",
        "year": "{level} {at}, {direction} {change} from {base} a year earlier, {since}.",
        "same": "{level} {at}, the same as {since}.",
        "same_year": "{level} {at}, the same as a year earlier, {since}.",
        "highest": "the highest value {span} was {value}, {last}{day}.",
        "lowest": "the lowest value {span} was {value}, {last}{day}.",
        "average": "{value} on average {span}.",
        "up": "up",
        "down": "down",
        "last": "most recently ",
    },
    "pl": {
        "latest": "{value} {at}.",
        "change": "{level} {at}, o {change} {direction} niż {since} ({base}).",
        "year": "{level} {at}, o {change} {direction} niż rok wcześniej, {since} ({base}).",
        "same": "{level} {at}, tyle samo co {since}.",
        "same_year": "{level} {at}, tyle samo co rok wcześniej, {since}.",
        "highest": "najwyższa wartość {span} to {value} ({last}{day}).",
        "lowest": "najniższa wartość {span} to {value} ({last}{day}).",
        "average": "średnio {value} {span}.",
        "up": "więcej",
        "down": "mniej",
        "last": "ostatnio ",
    },
    "de": {
        "latest": "{value} {at}.",
        "change": "{level} {at}, {change} {direction} als {since} ({base}).",
        "year": "{level} {at}, {change} {direction} als ein Jahr zuvor, {since} ({base}).",
        "same": "{level} {at}, ebenso viel wie {since}.",
        "same_year": "{level} {at}, ebenso viel wie ein Jahr zuvor, {since}.",
        "highest": "{last}{day} mit {value} der höchste Wert {span}.",
        "lowest": "{last}{day} mit {value} der niedrigste Wert {span}.",
        "average": "im Durchschnitt {value} {span}.",
        "up": "mehr",
        "down": "weniger",
        "last": "zuletzt ",
    },
}
# Bare numbers would run into a day's: `4 600 000 30 września`.
_ON_DAY = "w dniu {}"
_FIELD = re.compile(r"\{\w*\}")
_WORD = re.compile(r"[^\W\d_]+")
_PERIODS: dict[Frequency | None, str] = {"monthly": "month", "quarterly": "quarter", "yearly": "year"}
# Enough for any value of a series, decimals included.
_DIGITS = 80


def figure_sentence(figure: Figure, language: Language, *, name: str | None) -> str:
    """One sentence that says a figure, with the series' name at its head; None: it was named just before."""
    kind = figure.kind
    forms = _TEMPLATES[language]
    told = _Telling(figure, language)
    if kind not in ("change_period", "change_year"):
        last = forms["last"] if figure.repeated else ""
        said = forms[kind].format(
            value=told.number(figure.value, dative=kind in ("highest", "lowest")),
            at=told.at(figure.day, behind_number=True),
            day=told.at(figure.day),
            last=last,
            span=told.span(),
        )
    else:
        year = kind == "change_year"
        value = Decimal(figure.value)
        template = ("year" if year else "change") if value else ("same_year" if year else "same")
        said = forms[template].format(
            level=told.number(figure.level or "0"),
            base=told.number(figure.base or "0", again=True),
            change=told.change(),
            direction=forms["up" if value > 0 else "down"],
            at=told.at(figure.day, behind_number=True),
            since=told.at(figure.since or figure.day),
        )
    # An abbreviation's full stop ends a sentence as well.
    ended = said[:-1] if said.endswith("..") else said
    if name is None:
        return ended[:1].upper() + ended[1:]
    # A name may have a colon of its own; a dash before a number would be read as a minus.
    return f"{quoted(name, language)}: {ended}"


def template_words(language: Language) -> frozenset[str]:
    """All words that a sentence may have besides the name, codes of currencies and a table's own units."""
    parts = [
        *_TEMPLATES[language].values(),
        *_AT[language].values(),
        *_SPANS[language].values(),
        *_ORDINALS[language],
        _QUARTERS[language],
        *unit_words(language),
        *get_month_names("wide", "format", _LOCALES[language]).values(),
    ]
    if language == "pl":
        parts += [*_LOCATIVE, *_GENITIVE_ORDINALS, _GENITIVE_QUARTER, _ON_DAY, "we"]
    return frozenset(word for part in parts for word in _WORD.findall(_FIELD.sub(" ", part)))


class _Telling:
    """Numbers and dates of a figure, as a language has them."""

    def __init__(self, figure: Figure, language: Language) -> None:
        self._figure = figure
        self._language = language
        self._period = _PERIODS.get(figure.frequency, "day")
        self._unit = figure.level_unit if figure.level is not None else figure.unit

    def number(self, value: str, *, again: bool = False, dative: bool = False) -> str:
        """A value with its unit; a long unit is not said `again`."""
        unit = short(self._unit) if again else self._unit
        return written(self._plain(value), Decimal(value), unit, self._language, dative=dative)

    def change(self) -> str:
        """How much more or less it is, and in percent where that is known."""
        figure, language = self._figure, self._language
        size = abs(Decimal(figure.value))
        said = written(self._plain(f"{size:f}"), size, short(figure.unit), language, by=True)
        if figure.relative is None:
            return said
        share = abs(Decimal(figure.relative))
        return f"{said} ({written(self._plain(f'{share:f}'), share, PERCENT, language)})"

    def at(self, day: date, *, behind_number: bool = False) -> str:
        """When: `in May 2026`."""
        language, period = self._language, self._period
        said = self._day(day, _ORDINALS[language], _QUARTERS[language], locative=True)
        told = _AT[language][period].format(said)
        if behind_number and language == "pl" and period == "day" and self._unit is None:
            return _ON_DAY.format(told)
        return told.replace("w w", "we w", 1) if told.startswith("w w") else told

    def span(self) -> str:
        """From when to when, of figures that have a span; else nothing."""
        figure, language = self._figure, self._language
        if figure.since is None or figure.until is None:
            return ""
        polish = language == "pl"
        ordinals = _GENITIVE_ORDINALS if polish else _ORDINALS[language]
        quarter = _GENITIVE_QUARTER if polish else _QUARTERS[language]
        ends = [self._day(day, ordinals, quarter, locative=False) for day in (figure.since, figure.until)]
        forms = _SPANS[language]
        return forms.get(self._period, forms[""]).format(*ends)

    def _day(self, day: date, ordinals: tuple[str, ...], quarter: str, *, locative: bool) -> str:
        if self._period == "year":
            return str(day.year)
        if self._period == "quarter":
            return quarter.format(ordinals[(day.month - 1) // 3], day.year)
        if self._period == "day":
            return format_date(
                day, "d. MMMM y" if self._language == "de" else "d MMMM y", _LOCALES[self._language]
            )
        if self._language == "pl" and locative:
            return f"{_LOCATIVE[day.month - 1]} {day.year}"
        return format_date(day, "MMMM y", _LOCALES[self._language])

    def _plain(self, value: str) -> str:
        decimals = len(value.partition(".")[2])
        form = "#,##0" + ("." + "0" * decimals if decimals else "")
        with localcontext() as context:
            context.prec = _DIGITS
            text = format_decimal(Decimal(value), format=form, locale=_LOCALES[self._language])
        return text.replace("-", "−")
