"""The series that people ask for most, and what they call them in English, Polish and German.

`series_in_text` reads people's texts with these words. They are written without capitals
and diacritics; what follows a `|` is one ending of several: `inflacj|a` stands for inflacji as well.
Economic series have FRED's ids; `_PC1` is FRED's own ending for "percent change from a year ago".
"""

from dataclasses import dataclass
from typing import Literal

Area = Literal["us", "euro", "pl", "de"]
Concept = Literal["inflation", "unemployment", "rate", "gdp"]


def phrases(written: str) -> tuple[str, ...]:
    """What stands between the commas."""
    return tuple(written.split(", "))


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
SHARES = phrases(
    "share|s, stock|s, equit|y, price|s, earnings, dividend|, valuation|, kurs|, akcj|e, notowan|ia, "
    "gield|a, spolk|a, cena, ceny, cene, aktie|n, borse|, unternehmen"
)

CONCEPTS: dict[Concept, tuple[str, ...]] = {
    "inflation": phrases(
        "inflation|, inflacj|a, cpi, hicp, consumer price|s, cen konsument|ow, ceny konsument|ow, "
        "verbraucherpreis|e, teuerung|, preissteigerung|"
    ),
    "unemployment": phrases(
        "unemploy|ment, jobless, bezroboci|e, bezrobotn|ych, arbeitslos|igkeit, erwerbslos|igkeit"
    ),
    "rate": phrases(
        "policy rate|s, interest rate|s, deposit rate|s, deposit facility, key rate|s, rate cut|s, rate "
        "hike|s, rate decision|s, fed fund|s, federal fund|s, stop|y procentow|e, stop|a depozytow|a, "
        "stop|a referencyjn|a, obnizk|a stop, podwyzk|a stop, leitzins|, einlagenzins|, einlagesatz|, "
        "zinssatz|, zinssenkung|, zinserhohung|, zins, zinsen, fed rate|s, ecb rate|s, stop|y nbp, stop|y "
        "fed, stop|y ebc"
    ),
    "gdp": phrases(
        "gdp, pkb, bip, economic growth, gross domestic product, wzrost| gospodarcz|y, produkt| krajow|y "
        "brutto, wirtschaftswachstum|, bruttoinlandsprodukt|"
    ),
}
AREAS: dict[Area, tuple[str, ...]] = {
    "us": phrases(
        "usa, u s, united states, america|, ameryk|a, amerik|a, stan|y zjednoczon|e, vereinigte|n staaten, "
        "fed, federal reserve"
    ),
    "euro": phrases(
        "euro area, euro zone, eurozon|e, stref|a euro, eurostref|a, euroraum|, europ|e, ecb, ebc, ezb"
    ),
    "pl": ("poland", "polish", "polsk|a", "polsce", "polen|", "polnisch|e", "nbp", "rpp"),
    "de": ("german|y", "niemc|y", "niemczech", "niemiec|ki", "deutsch|land", "bundesbank|"),
}
# Other places: what is asked about them is not answered with the data of these.
PLACES_ELSEWHERE: tuple[tuple[str, ...], ...] = tuple(
    phrases(place)
    for place in (
        "uk, united kingdom, britain, british, brytan|ia, brytyjsk|i, grossbritannien, england, "
        "anglia, anglii",
        "france, french, francj|a, francusk|i, frankreich|, franzosisch|e",
        "italy, italian|, wloch|, wlosk|i, wlosz|ech, italien|",
        "spain, spanish, hiszpani|a, hiszpansk|i, spanien|, spanisch|e",
        "japan|, japoni|a, japonsk|i",
        "china, chinese, chin, chinach, chiny, chinsk|i, chinesisch|e",
        "india, indian, indie, indiach, indii, indien|",
        "turk|ey, turcj|a, turcji",
        "czech|, tschechi|en",
        "ukrain|e",
        "russia|, rosj|a, rosyjsk|i, russland|, russisch|e",
        "switzerland, swiss, szwajcari|a, szwajcarsk|i, schweiz|",
        "sweden, swedish, szwecj|a, szwedzk|i, schweden|",
        "hungar|y, wegr|y, wegier|, ungarn|",
        "canad|a, kanad|a",
        "brazil|, brazyli|a, brasilien|",
        "mexic|o, meksyk|, mexik|o",
        "argentin|a, argentyn|a",
        "australi|a",
        "korea|",
        "austri|a, osterreich|",
        "netherlands, dutch, holandi|a, niderland|y, niederland|e",
        "norway, norwegian, norwegi|a, norwegen|",
        "denmark, danish, dania, danii, danemark|",
        "finland|, finnish, finlandi|a, finnland|",
        "ireland, irish, irland|",
        "portugal|, portuguese",
        "greece, greek, grecj|a, griechenland|",
        "romani|a, rumuni|a, rumanien|",
        "slovak|ia, slowac|ja, slowak|ei",
        "belgi|um",
        "egypt|, egipt|",
        "africa|, afryk|a, afrika|",
        "israel|, izrael|",
        "iran|",
        "vietnam|, wietnam|",
        "indonesi|a, indonezj|a",
        "pakistan|",
        "nigeri|a",
    )
)
ELSEWHERE = tuple(phrase for place in PLACES_ELSEWHERE for phrase in place)
# What else is measured or traded, of which there are no series here: what tells one question from another.
SUBJECTS: dict[str, tuple[str, ...]] = {
    name: phrases(words)
    for name, words in {
        "wages": "wage|s, salar|ies, wynagrodzeni|a, zarobk|i, placach, placami, placom, lohn, lohne|, "
        "lohnen, gehalt, gehalter|, reallohn|e",
        "production": "industrial production, industrial output, factory output, manufacturing output, "
        "produkcj|a przemyslow|a, industrieproduktion|",
        "retail": "retail sales, retail trade, sprzedaz| detaliczn|a, einzelhandel|",
        "exports": "export|, eksport|, ausfuhr|en",
        "imports": "import, imports, importu, importy, importow, importe, importen, einfuhr|en",
        "housing": "house price|s, home price|s, housing, cen|y mieszkan|, immobilienpreis|e, "
        "wohnungspreis|e, hauspreis|e, rents, mieten, czynsz|e",
        "deficit": "deficit|, deficyt|, budget|s, budzet|, haushalt|, staatshaushalt|, defizit|",
        "debt": "debt|s, dlug|, zadluzeni|e, staatsschuld|en, verschuldung|, schulden",
        "trade": "trade balance, trade surplus, bilans| handlow|y, handelsbilanz|",
        "climate": "business climate, consumer confidence, pmi, ifo, koniunktur|a, geschaftsklima|",
        "oil": "oil, crude, brent, ropa, ropy, rope, ropie, erdol|, olpreis|, rohol|",
        "gas": "natural gas, gas price|s, gaz, gazu, gazie, erdgas|, gaspreis|",
        "gold": "gold, zloto, zlota, zlocie, zlotem, goldpreis|",
        "silver": "silver, srebr|o, silber|",
        "copper": "copper, miedz|, kupfer|",
    }.items()
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
CURRENCIES: dict[str, tuple[str, tuple[str, ...]]] = {
    "EUR": ("euro", ("euro", "eur", "eura")),
    "USD": ("US dollar", ("usd", "dollar|", "dolar|")),
    "PLN": ("Polish zloty", ("pln", "zloty", "zlotego", "zlotych", "zlotym", "zlotowk|a", "zl")),
    "GBP": ("pound sterling", ("gbp", "sterling", "pound|s", "funt|", "pfund")),
    "CHF": ("Swiss franc", ("chf", "franc", "francs", "frank", "franka", "frankow", "franki", "franken")),
    "JPY": ("Japanese yen", ("jpy", "yen", "jen", "jena", "jenow")),
    "CZK": ("Czech koruna", ("czk", "koruna", "koron|a czesk|a")),
    "HUF": ("Hungarian forint", ("huf", "forint|")),
    "SEK": ("Swedish krona", ("sek",)),
    "NOK": ("Norwegian krone", ("nok",)),
    "DKK": ("Danish krone", ("dkk",)),
    "AUD": ("Australian dollar", ("aud",)),
    "CAD": ("Canadian dollar", ("cad",)),
    "CNY": ("Chinese yuan", ("cny", "yuan|", "juan|", "renminbi")),
    "INR": ("Indian rupee", ("inr", "rupee|")),
    "MXN": ("Mexican peso", ("mxn",)),
    "KRW": ("South Korean won", ("krw",)),
    "BRL": ("Brazilian real", ("brl",)),
    "HKD": ("Hong Kong dollar", ("hkd",)),
    "IDR": ("Indonesian rupiah", ("idr",)),
    "ILS": ("Israeli shekel", ("ils",)),
    "ISK": ("Icelandic krona", ("isk",)),
    "MYR": ("Malaysian ringgit", ("myr",)),
    "NZD": ("New Zealand dollar", ("nzd",)),
    "SGD": ("Singapore dollar", ("sgd",)),
    "THB": ("Thai baht", ("thb",)),
    "ZAR": ("South African rand", ("zar",)),
    # Words or names of their own: only in a pair such as EUR/TRY.
    "TRY": ("Turkish lira", ()),
    "RON": ("Romanian leu", ()),
    "PHP": ("Philippine peso", ()),
}
# Words that say that an exchange rate is the subject.
EXCHANGE = phrases("exchange rate|s, forex, fx, currenc|y, kurs|, walut|a, wechselkurs|, devisen|, wahrung|")
# What may stand between two currencies of a pair.
JOINING = frozenset(
    phrases(
        "to, vs, versus, against, per, in, the, us, polish, swiss, british, japanese, do, w, na, wobec, za, "
        "amerykanskiego, polskiego, zu, zum, dem, gegen, gegenuber"
    )
)

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
# Maturities in words: the adjective's stem.
SPELT = {
    "2Y": ("two year", "dwuletn|i", "zweijahrig|e"),
    "5Y": ("five year", "piecioletn|i", "funfjahrig|e"),
    "10Y": ("ten year", "dziesiecioletn|i", "zehnjahrig|e"),
    "30Y": ("thirty year", "trzydziestoletn|i", "dreissigjahrig|e"),
    "3M": ("three month", "trzymiesieczn|y", "dreimonat|ige", "t bill|s"),
}
TREASURY = ("treasury", "treasurys", "us government bond|s")
TREASURIES = ("treasuries", "t bill|s", "t bond|s", "t note|s")
YIELD_CURVE = phrases(
    "yield curve|, zinskurve|, zinsstrukturkurve|, krzyw|a rentownosc|i, krzyw|a dochodowosc|i"
)
YIELD = ("yield|s",)
# Words for bonds and their yields, of whatever country.
BONDS = (
    "bond|s",
    "rentownosc|",
    "obligacj|e",
    "rendite|n",
    "staatsanleihe|n",
    "anleihe|n",
    *YIELD,
    *YIELD_CURVE,
)
# What the word Treasury needs beside it: the department is not asked for.
OF_TREASURY = ("note|s", "bill|s", "rate|s", "curve", *BONDS)
