"""Which series a person's text asks for: tickers, names, pairs, maturities and words, in three languages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.systems.market import known_series as known
from actors.systems.market.series_in_text import asked_for, fold

INFLATION_PL, INFLATION_DE = "CP0000PLM086NEST_PC1", "CP0000DEM086NEST_PC1"
INFLATION_EURO = "CP0000EZ19M086NEST_PC1"
EVERYWHERE = ["CPIAUCSL_PC1", INFLATION_EURO, INFLATION_PL, INFLATION_DE]


def found(text: str) -> list[str]:
    return [asked.series_id for asked in asked_for(text)]


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("inflation in Poland", [INFLATION_PL]),
        ("inflacja w Polsce", [INFLATION_PL]),
        ("INFLACJA W POLSCE", [INFLATION_PL]),
        ("Jak wygląda inflacja w strefie euro?", [INFLATION_EURO]),
        ("Inflationsrate in Deutschland", [INFLATION_DE]),
        ("Verbraucherpreise Deutschland", [INFLATION_DE]),
        ("how high is CPI in the euro area and in Germany", [INFLATION_EURO, INFLATION_DE]),
        ("stopa bezrobocia w Niemczech", ["LRHUTTTTDEM156S"]),
        ("Arbeitslosigkeit Deutschland", ["LRHUTTTTDEM156S"]),
        ("US unemployment", ["UNRATE"]),
        ("us unemployment", ["UNRATE"]),
        ("U.S. jobless claims", ["UNRATE"]),
        ("ECB deposit rate", ["ECBDFR"]),
        ("Leitzins der EZB", ["ECBDFR"]),
        ("stopy procentowe NBP", ["IRSTCI01PLM156N"]),
        ("obniżki stóp w Polsce", ["IRSTCI01PLM156N"]),
        ("interest rates in Germany and the euro area", ["ECBDFR"]),
        ("fed funds", ["FEDFUNDS"]),
        ("PKB Polski", ["CLVMNACSCAB1GQPL_PC1"]),
        ("wzrost gospodarczy w Niemczech", ["CLVMNACSCAB1GQDE_PC1"]),
        ("BIP Deutschland", ["CLVMNACSCAB1GQDE_PC1"]),
    ],
)
def test_economic_series_are_found_by_words_and_places(text: str, ids: list[str]) -> None:
    assert found(text) == ids


def test_without_a_place_all_are_asked_for_and_pronouns_are_no_place() -> None:
    assert found("what drives inflation") == EVERYWHERE
    assert found("tell us about inflation, please") == EVERYWHERE
    assert found("TELL US ABOUT INFLATION") == EVERYWHERE
    assert found("tell me about US inflation") == EVERYWHERE[:1]


@pytest.mark.parametrize(
    "text", ["inflation in France", "bezrobocie we Włoszech", "BIP der Schweiz", "UK gdp"]
)
def test_what_is_asked_about_elsewhere_is_not_answered_with_what_there_is(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("$AAPL", ["AAPL"]),
        ("what about $tsla?", ["TSLA"]),
        ("$BRK-B and $SAP.DE.", ["BRK-B", "SAP.DE"]),
        ("aapl vs msft", ["AAPL", "MSFT"]),
        ("price of Apple", ["AAPL"]),
        ("price of apple", ["AAPL"]),
        ("akcje orlenu", ["PKN.WA"]),
        ("notowania CD Projektu", ["CDR.WA"]),
        ("Siemens Aktie", ["SIE.DE"]),
        ("nvidia earnings", ["NVDA"]),
        ("SAP.DE this quarter", ["SAP.DE"]),
        ("Allstate and Gartner", ["ALL", "IT"]),
    ],
)
def test_shares_are_found_by_tickers_and_names(text: str, ids: list[str]) -> None:
    assert found(text) == ids


@pytest.mark.parametrize(
    "text",
    [
        "all of it depends on the weather",
        "ALL OF IT IS ON THE TABLE",
        "it is on",
        "V for victory",
        "an apple pie recipe",
        "$100 and $5B",
        "a$b US$5",
        "write an article about the summer in Kessel",
        "Ich bin auf dem Weg in die Stadt",
        "proszę napisz coś o pogodzie",
        "crop yields over 10 years",
        "the Treasury secretary spoke",
        "dividend yield",
        "frankfurt, warszawa i jena",
        "",
    ],
)
def test_words_are_not_read_as_tickers_and_unrelated_text_finds_nothing(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("EUR/USD", ["EUR/USD"]),
        ("eurpln and usd-jpy", ["EUR/PLN", "USD/JPY"]),
        ("EURUSD=X", ["EUR/USD"]),
        ("kurs euro dolar", ["EUR/USD"]),
        ("złoty do dolara", ["PLN/USD"]),
        ("kurs franka", ["EUR/CHF"]),
        ("Wechselkurs Euro Zloty", ["EUR/PLN"]),
        ("euro to us dollar", ["EUR/USD"]),
        ("exchange rate of the pound", ["EUR/GBP"]),
        ("kurs euro", ["EUR/USD"]),
        ("EUR/TRY", ["EUR/TRY"]),
        ("EUR/EUR or EUR/XYZ", []),
        ("try the euro menu", []),
        ("dollars spent, pounds lost", []),
        ("kurs akcji Apple w dolarach", ["AAPL"]),
    ],
)
def test_currency_pairs_are_found_as_codes_and_as_words(text: str, ids: list[str]) -> None:
    assert found(text) == ids


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("rentowność 10-letnich obligacji USA", ["10Y"]),
        ("Rendite zehnjähriger US-Staatsanleihen", ["10Y"]),
        ("Rendite 10-jähriger US-Anleihen", ["10Y"]),
        ("yield on the 10-year", ["10Y"]),
        ("2y and 10y treasuries", ["2Y,10Y"]),
        ("us 10y yield", ["10Y"]),
        ("3-month T-bills", ["3M"]),
        ("US yield curve", [known.CURVE]),
        ("krzywa rentowności USA", [known.CURVE]),
        ("rentowność 10-letnich obligacji Polski", []),
        ("German 10-year yield", []),
        ("12-year treasuries", [known.CURVE]),
    ],
)
def test_treasury_yields_are_found_by_maturity_unless_they_are_another_country_s(
    text: str, ids: list[str]
) -> None:
    assert found(text) == ids


def test_everything_that_a_text_asks_for_is_found_once() -> None:
    text = "Compare $AAPL, AAPL and Apple with EUR/USD, US 10-year yields and inflation, inflacja in Poland"
    assert found(text) == ["AAPL", "EUR/USD", "10Y", "CPIAUCSL_PC1", INFLATION_PL]


WORDS = [
    "$",
    "US",
    "us",
    "euro",
    "dolar",
    "kurs",
    "10-year",
    "yield",
    "inflacja",
    "Polska",
    "AAPL",
    "/",
    "ß",
    "İ",
]


@given(st.one_of(st.text(max_size=300), st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join)))
def test_any_text_can_be_read_and_case_and_diacritics_do_not_matter(text: str) -> None:
    asked = asked_for(text)
    assert len(asked) == len(set(asked))
    assert fold(text).isascii()
    assert fold(fold(text)) == fold(text)


@given(st.text(alphabet="bcdfghjklmn ąęłżäöü\n,.!?", max_size=200))
def test_text_without_vowels_asks_for_nothing(text: str) -> None:
    assert asked_for(text) == []


def test_a_huge_text_is_read_in_no_time_and_only_its_beginning() -> None:
    assert found("x " * 3000 + "$AAPL") == []
    assert found("inflacja w Polsce " + "ł" * 2_000_000) == [INFLATION_PL]


def test_every_word_of_the_catalogue_is_written_as_texts_are_read() -> None:
    groups = [
        *known.CONCEPTS.values(),
        *known.AREAS.values(),
        *(names for _, names in known.CURRENCIES.values()),
    ]
    groups += [company.words for company in known.COMPANIES.values()]
    groups += [
        known.ELSEWHERE,
        known.SHARES,
        known.EXCHANGE,
        known.BONDS,
        known.TREASURIES,
        *known.SPELT.values(),
    ]
    for phrase in (phrase for group in groups for phrase in group):
        assert all(fold(word) == word for word in phrase.replace("|", "").split()), phrase
