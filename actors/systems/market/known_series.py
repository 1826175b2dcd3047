"""The series that people ask for most, and what they call them.

`series_in_text` reads people's texts with these words. They are in the folders of the languages (`market`,
`countries`, `currencies`), without capitals and diacritics; what follows a `|` is one ending of several:
`inflacj|a` stands for inflacji as well. Economic series have FRED's ids; `_PC1` is FRED's own ending for
"percent change from a year ago".
"""

from dataclasses import dataclass
from typing import Literal, get_args

from actors.platform.text.lexicon import ENGLISH, lexicon, phrases_listed, words_of_all

Area = Literal["us", "euro", "pl", "de"]
Concept = Literal["inflation", "unemployment", "rate", "gdp"]


@dataclass(frozen=True)
class Company:
    """A share. `everyday` names are words of their own, and count only where shares are the subject."""

    name: str
    words: tuple[str, ...]
    everyday: bool = False
    # The symbol itself is a word, or too short: it counts only with a $ before it.
    symbol_everyday: bool = False


COMPANIES: dict[str, Company] = {
    "AAPL": Company("Apple Inc.", ("apple",), everyday=True),
    "MSFT": Company("Microsoft Corporation", ("microsoft|",)),
    "NVDA": Company("NVIDIA Corporation", ("nvidi|a",)),
    "JPM": Company("JPMorgan Chase & Co.", ("jpmorgan|", "jp morgan|")),
    "SAP.DE": Company("SAP SE", ("sap",), everyday=True),
    "SIE.DE": Company("Siemens AG", ("siemens|",)),
    "PKN.WA": Company("ORLEN S.A.", ("orlen|", "pkn orlen")),
    "CDR.WA": Company("CD PROJEKT S.A.", ("cd projekt|", "cd red")),
    "GOOGL": Company("Alphabet Inc.", ("google|",)),
    "AMZN": Company("Amazon.com, Inc.", ("amazon",), everyday=True),
    "META": Company("Meta Platforms, Inc.", ("meta platforms", "facebook|"), symbol_everyday=True),
    "TSLA": Company("Tesla, Inc.", ("tesla",), everyday=True),
    "V": Company("Visa Inc.", ("visa",), everyday=True, symbol_everyday=True),
    "KO": Company("The Coca-Cola Company", ("coca cola",), symbol_everyday=True),
    "ALL": Company("The Allstate Corporation", ("allstate",), symbol_everyday=True),
    "IT": Company("Gartner, Inc.", ("gartner",), symbol_everyday=True),
    "ON": Company("ON Semiconductor Corporation", ("onsemi", "on semiconductor"), symbol_everyday=True),
    "PKO.WA": Company("PKO Bank Polski S.A.", ("pko bp", "pko bank|")),
    "DBK.DE": Company("Deutsche Bank AG", ("deutsche bank|",)),
    "VOW3.DE": Company("Volkswagen AG", ("volkswagen|",)),
}
# Words that say that shares are the subject.
SHARES = phrases_listed("market", "shares")

CONCEPTS: dict[Concept, tuple[str, ...]] = {
    concept: phrases_listed("market", concept) for concept in get_args(Concept)
}
AREAS: dict[Area, tuple[str, ...]] = {
    area: phrases_listed("market", f"area_{area}") for area in get_args(Area)
}
# Other places: what is asked about them is not answered with the data of these.
PLACES_ELSEWHERE = {place: phrases_listed("countries", place) for place in lexicon(ENGLISH, "countries")}
ELSEWHERE = tuple(phrase for place in PLACES_ELSEWHERE.values() for phrase in place)
# What else is measured or traded, of which there are no series here: what tells one question from another.
SUBJECTS: dict[str, tuple[str, ...]] = {
    name: phrases_listed("market", name)
    for name in (
        *("wages", "production", "retail", "exports", "imports", "housing", "deficit", "debt", "trade"),
        *("climate", "oil", "gas", "gold", "silver", "copper"),
    )
}
ECONOMIC: dict[tuple[Concept, Area], tuple[str, str]] = {
    ("inflation", "us"): ("CPIAUCSL_PC1", "Inflation in the United States: consumer prices"),
    ("inflation", "euro"): ("CP0000EZ19M086NEST_PC1", "Inflation in the euro area: harmonised prices"),
    ("inflation", "pl"): ("CP0000PLM086NEST_PC1", "Inflation in Poland: harmonised consumer prices"),
    ("inflation", "de"): ("CP0000DEM086NEST_PC1", "Inflation in Germany: harmonised consumer prices"),
    ("unemployment", "us"): ("UNRATE", "Unemployment rate in the United States"),
    ("unemployment", "euro"): ("LRHUTTTTEZM156S", "Unemployment rate in the euro area, harmonised"),
    ("unemployment", "pl"): ("LRHUTTTTPLM156S", "Unemployment rate in Poland, harmonised"),
    ("unemployment", "de"): ("LRHUTTTTDEM156S", "Unemployment rate in Germany, harmonised"),
    ("rate", "us"): ("FEDFUNDS", "Federal funds effective rate"),
    ("rate", "euro"): ("ECBDFR", "ECB deposit facility rate"),
    ("rate", "pl"): ("IRSTCI01PLM156N", "Short-term interest rate in Poland: interbank, overnight"),
    ("rate", "de"): ("ECBDFR", "ECB deposit facility rate"),
    ("gdp", "us"): ("GDPC1_PC1", "Growth of real GDP in the United States"),
    ("gdp", "euro"): ("CLVMNACSCAB1GQEA19_PC1", "Growth of real GDP in the euro area"),
    ("gdp", "pl"): ("CLVMNACSCAB1GQPL_PC1", "Growth of real GDP in Poland"),
    ("gdp", "de"): ("CLVMNACSCAB1GQDE_PC1", "Growth of real GDP in Germany"),
}

# Those that the ECB has reference rates of, and the euro.
_CURRENCY_NAMES = {
    "EUR": "euro",
    "USD": "US dollar",
    "PLN": "Polish zloty",
    "GBP": "pound sterling",
    "CHF": "Swiss franc",
    "JPY": "Japanese yen",
    "CZK": "Czech koruna",
    "HUF": "Hungarian forint",
    "SEK": "Swedish krona",
    "NOK": "Norwegian krone",
    "DKK": "Danish krone",
    "AUD": "Australian dollar",
    "CAD": "Canadian dollar",
    "CNY": "Chinese yuan",
    "INR": "Indian rupee",
    "MXN": "Mexican peso",
    "KRW": "South Korean won",
    "BRL": "Brazilian real",
    "HKD": "Hong Kong dollar",
    "IDR": "Indonesian rupiah",
    "ILS": "Israeli shekel",
    "ISK": "Icelandic krona",
    "MYR": "Malaysian ringgit",
    "NZD": "New Zealand dollar",
    "SGD": "Singapore dollar",
    "THB": "Thai baht",
    "ZAR": "South African rand",
    "TRY": "Turkish lira",
    "RON": "Romanian leu",
    "PHP": "Philippine peso",
}
# Those without other words are words or names of their own, and count only in a pair such as EUR/TRY.
CURRENCIES: dict[str, tuple[str, tuple[str, ...]]] = {
    code: (name, phrases_listed("currencies", code.lower())) for code, name in _CURRENCY_NAMES.items()
}
# Words that say that an exchange rate is the subject.
EXCHANGE = phrases_listed("market", "exchange")
# What may stand between two currencies of a pair.
JOINING = words_of_all("market", "joining")

# The US Treasury's maturities, from its table of par yields.
MATURITIES: dict[str, str] = {
    "1M": "1 Mo",
    "1.5M": "1.5 Month",
    "2M": "2 Mo",
    "3M": "3 Mo",
    "4M": "4 Mo",
    "6M": "6 Mo",
    "1Y": "1 Yr",
    "2Y": "2 Yr",
    "3Y": "3 Yr",
    "5Y": "5 Yr",
    "7Y": "7 Yr",
    "10Y": "10 Yr",
    "20Y": "20 Yr",
    "30Y": "30 Yr",
}
CURVE = "CURVE"
# Maturities in words.
SPELT = {
    each: phrases_listed("market", f"maturity_{each.lower()}") for each in ("2Y", "5Y", "10Y", "30Y", "3M")
}
TREASURY, TREASURIES = phrases_listed("market", "treasury"), phrases_listed("market", "treasuries")
YIELD_CURVE, YIELD = phrases_listed("market", "yield_curve"), phrases_listed("market", "yields")
# Words for bonds and their yields, of whatever country.
BONDS = (*phrases_listed("market", "bonds"), *YIELD, *YIELD_CURVE)
# What the word Treasury needs beside it: the department is not asked for.
OF_TREASURY = (*phrases_listed("market", "of_treasury"), *BONDS)
