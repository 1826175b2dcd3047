"""Which series a person's free text asks for: by tickers, names, currency pairs, maturities and words.

English, Polish and German, in any case and with or without diacritics; see `known_series` for the words.
Pure and quick, because a small model can't pick series from a list. It would rather find nothing than
guess: `all`, `it` and `on` are words, and what is asked about France is not answered with Germany.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from actors.platform.text.lexicon import alternatives, pattern
from actors.platform.text.normal_form import words as words_of
from actors.systems.market import known_series as known
from models.content.outside import DataKind

_MOST_CHARACTERS = 4000
_TOKEN = re.compile(r"[a-z0-9]+")
_SYMBOL = r"[A-Za-z][A-Za-z0-9]{0,9}(?:[.\-][A-Za-z0-9]{1,4})?"
_DOLLAR = re.compile(rf"(?<![\w$])\$({_SYMBOL})(?!\w)", re.ASCII)
_PAIR = re.compile(r"(?<![A-Za-z])([A-Za-z]{3})(?:\s?[/\-]\s?)?([A-Za-z]{3})(?:=X)?(?![A-Za-z])", re.ASCII)
_YEARS, _MONTHS = alternatives("market", "years"), alternatives("market", "months")
_MATURITY = re.compile(rf"\b(\d{{1,2}}) ?(?:(?P<years>{_YEARS})|(?P<months>{_MONTHS}))\b", re.ASCII)
# "us" is the country only before what can be had of it: not in "tell us".
_US_BEFORE = pattern(
    "market", "us_before", r"\bus (?=\d{1,2} ?(?:y|yr|year|m|mo|month)\b|{})", flags=re.ASCII
)


@dataclass(frozen=True)
class SeriesRequest:
    """A series as it is asked for, whoever may have it."""

    kind: DataKind
    series_id: str


def asked_for(text: str) -> list[SeriesRequest]:
    """The series that `text` asks for, shares first. At most the first 4,000 characters are read."""
    raw = text[:_MOST_CHARACTERS]
    words = fold(raw)
    shares = list(shares_in(raw, words))
    found = [SeriesRequest("equity", symbol) for symbol in shares]
    found += [SeriesRequest("fx", pair) for pair in pairs_in(raw, words, shares=bool(shares))]
    areas = areas_in(raw, words)
    found += [SeriesRequest("treasury", maturities) for maturities in _treasury(words, areas)]
    found += [SeriesRequest("economic", series_id) for series_id in _economic(words, areas)]
    return list(dict.fromkeys(found))


def fold(text: str) -> str:
    """The words of a text as `known_series` writes them: in ASCII, so that other scripts part words."""
    return " ".join(_TOKEN.findall(words_of(text)))


@cache
def pattern_of(phrases: tuple[str, ...]) -> re.Pattern[str]:
    """One pattern for phrases as `known_series` writes them."""
    written = (
        " ".join(stem + (r"\w*" if cut else "") for stem, cut, _ in map(_parts, phrase.split()))
        for phrase in phrases
    )
    return re.compile(rf"\b(?:{'|'.join(written)})\b", re.ASCII)


def _parts(word: str) -> tuple[str, str, str]:
    return word.partition("|")


def has(words: str, phrases: tuple[str, ...]) -> bool:
    """Whether folded words have one of the phrases."""
    return pattern_of(phrases).search(words) is not None


def shares_in(raw: str, words: str) -> Iterator[str]:
    """The symbols of the companies that are named; `words` are those of `raw`, folded."""
    for match in _DOLLAR.finditer(raw):
        yield match[1].upper()
    for symbol, company in known.COMPANIES.items():
        plain = re.escape(symbol)
        by_symbol = not company.symbol_everyday and re.search(
            rf"(?<![\w$.]){plain}(?!\w)", raw, re.IGNORECASE | re.ASCII
        )
        by_name = has(words, company.words) and (
            not company.everyday or _capitalised(raw, company.words) or has(words, known.SHARES)
        )
        if by_symbol or by_name:
            yield symbol


def _capitalised(raw: str, names: Iterable[str]) -> bool:
    forms = {form for name in names for form in (name.capitalize(), name.upper())}
    return any(re.search(rf"(?<!\w){re.escape(form)}(?!\w)", raw) for form in forms)


def pairs_in(raw: str, words: str, *, shares: bool) -> Iterator[str]:
    """The pairs of currencies whose rate a text is about."""
    written = False
    for match in _PAIR.finditer(raw):
        base, quote = match[1].upper(), match[2].upper()
        if base != quote and base in known.CURRENCIES and quote in known.CURRENCIES:
            written = True
            yield f"{base}/{quote}"
    if written:
        return
    named = sorted(
        (match.start(), match.end(), code)
        for code, (_, names) in known.CURRENCIES.items()
        if names
        for match in pattern_of(names).finditer(words)
    )
    about = has(words, known.EXCHANGE)
    joined = False
    for (_, end, base), (start, _, quote) in pairwise(named):
        between = words[end:start].split()
        near = len(between) <= 2 and known.JOINING.issuperset(between)
        if base != quote and (near or about) and not joined:
            joined = True
            yield f"{base}/{quote}"
    codes = list(dict.fromkeys(code for *_, code in named))
    if about and not shares and len(codes) == 1:
        yield "EUR/USD" if codes == ["EUR"] else f"EUR/{codes[0]}"


def areas_in(raw: str, words: str) -> set[known.Area] | None:
    """The areas that are named; none of ours but others: None."""
    found: set[known.Area] = {area for area, names in known.AREAS.items() if has(words, names)}
    shouted = raw == raw.upper()
    if _US_BEFORE.search(words) or (not shouted and re.search(r"\bUS\b", raw, re.ASCII)):
        found.add("us")
    return found if found or not has(words, known.ELSEWHERE) else None


def _treasury(words: str, areas: set[known.Area] | None) -> Iterator[str]:
    words = words.replace("dividend yield", "dividend")
    maturities = list(dict.fromkeys(_maturities(words)))
    american, anywhere = areas is not None and "us" in areas, areas == set()
    asked = (
        has(words, known.TREASURIES)
        or (has(words, known.TREASURY) and (maturities or has(words, known.OF_TREASURY)))
        or (american and has(words, known.BONDS))
        or (anywhere and (has(words, known.YIELD_CURVE) or (maturities and has(words, known.YIELD))))
    )
    if asked:
        yield ",".join(maturities) or known.CURVE


def _maturities(words: str) -> Iterator[str]:
    for match in _MATURITY.finditer(words):
        maturity = f"{int(match[1])}{'M' if match['months'] else 'Y'}"
        if maturity in known.MATURITIES:
            yield maturity
    for maturity, names in known.SPELT.items():
        if has(words, names):
            yield maturity


def _economic(words: str, areas: set[known.Area] | None) -> Iterator[str]:
    if areas is None:
        return
    for (concept, area), (series_id, _) in known.ECONOMIC.items():
        if (not areas or area in areas) and has(words, known.CONCEPTS[concept]):
            yield series_id
