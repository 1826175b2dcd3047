"""The first look: numbers, dates, names, negations and words of a sentence against its quotes."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.platform.text.language import Language
from actors.platform.text.numbers.unsupported_numbers import unsupported_numbers
from actors.systems.research.synthesis.support_precheck import Look, first_look
from actors.systems.research.synthesis.word_forms import QuoteWords
from tests.examples import examples

CUT = "The European Central Bank cut its deposit rate to 2.0 percent on 5 June 2025, said Christine Lagarde."
POLISH = (
    "Rada Polityki Pieniężnej obniżyła stopę referencyjną do 5,25 proc. 7 maja 2025 r., a prezes Adam "
    "Glapiński mówił o spadku inflacji w Niemczech."
)
GERMAN = (
    "Die Bundesbank senkte ihre Prognose für das Wachstum im Jahr 2025 auf 0,1 Prozent, sagte Joachim Nagel."
)

CASES: list[tuple[Language, str, str, Look]] = [
    # Numbers and dates.
    ("en", CUT, "The ECB cut its deposit rate to 2 percent in June 2025.", "supported"),
    ("en", CUT, "The ECB cut its deposit rate to 2.25 percent in June 2025.", "foreign"),
    ("en", CUT, "The ECB cut its deposit rate to 2 percent on 6 June 2025.", "foreign"),
    ("en", CUT, "The ECB cut its deposit rate three times.", "foreign"),
    ("pl", POLISH, "Rada obniżyła stopę referencyjną do 5,25 procent w maju 2025 roku.", "supported"),
    ("pl", POLISH, "Rada obniżyła stopę referencyjną do 5,5 procent w maju 2025 roku.", "foreign"),
    ("de", GERMAN, "Die Prognose für das Wachstum 2025 senkte die Bundesbank auf 0,1 Prozent.", "supported"),
    ("de", GERMAN, "Die Prognose für das Wachstum 2026 senkte die Bundesbank auf 0,1 Prozent.", "foreign"),
    # Names: inflected, as acronyms either way, and foreign ones.
    ("en", CUT, "Deposit rate cut by Lagarde's European Central Bank.", "supported"),
    ("en", CUT, "The deposit rate was cut, said Mario Draghi.", "foreign"),
    ("en", CUT, "The deposit rate of the FED was cut.", "foreign"),
    (
        "en",
        CUT.replace("European Central Bank", "ECB"),
        "The European Central Bank cut its deposit rate.",
        "supported",
    ),
    ("pl", POLISH, "O inflacji mówił Glapiński.", "supported"),
    ("pl", POLISH, "Według Glapińskiego inflacja spadła, a mówiono o tym Niemcom.", "undecided"),
    ("pl", POLISH, "O inflacji mówił Leszek Balcerowicz.", "foreign"),
    ("de", GERMAN, "Nagels Bundesbank senkte ihre Prognose für Wachstum.", "supported"),
    # In German any noun has a capital: what is missing may be a name, and code says no more than that.
    ("de", GERMAN, "Laut Weidmann senkte die Bundesbank ihre Prognose für das Wachstum.", "undecided"),
    ("de", GERMAN, "Nagel von der Bundesbank senkte die Prognose Weidmanns für das Wachstum.", "undecided"),
    ("de", GERMAN, "Die EZB senkte ihre Prognose für das Wachstum.", "foreign"),
    # Negations, and the opposite of up and down.
    ("en", CUT, "The European Central Bank did not cut its deposit rate.", "contradicted"),
    (
        "en",
        "The bank did not cut its deposit rate.",
        "The bank cut its deposit rate in full.",
        "contradicted",
    ),
    ("en", "The bank failed to cut its deposit rate.", "The bank did not cut its deposit rate.", "supported"),
    ("en", "The bank cut not only its deposit rate.", "The bank cut its deposit rate today.", "supported"),
    ("en", "The rate was cut. Growth isn't back.", "So the rate was cut.", "supported"),
    (
        "pl",
        "Rada nie obniżyła stopy referencyjnej.",
        "Rada obniżyła stopę referencyjną banku.",
        "contradicted",
    ),
    ("pl", POLISH, "Rada nie obniżyła stopy referencyjnej.", "contradicted"),
    (
        "de",
        "Die Bank senkte ihre Prognose nicht.",
        "Die Bank senkte nicht nur ihre Prognose.",
        "contradicted",
    ),
    ("de", GERMAN, "Die Bundesbank senkte ihre Prognose für das Wachstum nicht.", "contradicted"),
    ("de", GERMAN, "Die Bundesbank nannte keine Prognose für das Wachstum.", "contradicted"),
    ("en", "Unemployment rose in May.", "In May unemployment fell.", "contradicted"),
    ("pl", "Bezrobocie wzrosło w maju.", "W maju bezrobocie spadło.", "contradicted"),
    ("de", "Die Arbeitslosigkeit stieg im Mai.", "Im Mai sank die Arbeitslosigkeit.", "contradicted"),
    # Words.
    ("en", CUT, "The bank was satisfied with how prices had developed.", "undecided"),
    ("en", CUT, CUT, "exact"),
    ("en", f"First. {CUT} Then.", CUT, "exact"),
    ("en", "It is *wrong* that rates fell[1].", "It is wrong that rates fell.", "exact"),
    ("en", "It is wrong that rates fell.", "Rates fell.", "supported"),
    ("en", CUT, "!!!", "undecided"),
]


@pytest.mark.parametrize(("language", "quote", "sentence", "look"), CASES)
def test_a_sentence_is_what_its_quote_makes_it(
    language: Language, quote: str, sentence: str, look: Look
) -> None:
    found = first_look(sentence, [quote], language=language)
    assert (found.look, found.reason) == (look, found.reason)


def test_a_reason_names_what_is_missing() -> None:
    told = first_look("Mario Draghi said 9 percent.", [CUT], language="en")
    assert told.reason == "no quote has the number or date “9 percent”"
    assert first_look("As Mario Draghi said.", [CUT], language="en").reason == (
        "no quote has the name “Mario”, “Draghi”"
    )


def test_several_quotes_support_a_sentence_together() -> None:
    sentence = "The deposit rate was cut, and inflation in Poland fell."
    rest = "In Poland inflation fell."
    assert first_look(sentence, [CUT], language="en").look == "foreign"
    assert first_look(sentence, [CUT, rest], language="en").look == "supported"


def test_a_sources_title_names_and_supports_nothing_else() -> None:
    quote = "The bank cut its deposit rate."
    title = "Narodowy Bank Polski: 4 percent and falling prices"
    named = "The bank NBP, Narodowy Bank Polski, cut its deposit rate."
    assert first_look(named, [quote], language="en").look == "foreign"
    assert first_look(named, [quote], language="en", titles=[title]).look != "foreign"
    assert first_look("The bank cut its rate by 4 percent.", [quote], language="en", titles=[title]).look == (
        "foreign"
    )


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("warszawa", "warszawie", True),
        ("lodz", "lodzi", True),
        ("niemcy", "niemczech", True),
        ("kowalski", "kowalskiego", True),
        ("tusk", "tuskiem", True),
        ("deutschland", "deutschlands", True),
        ("bank", "banks", True),
        ("germany", "german", True),
        ("austria", "australia", False),
        ("iran", "iraq", False),
        ("slovakia", "slovenia", False),
        ("johnson", "johnston", False),
        ("merkel", "merz", False),
        ("kingston", "kingstown", False),
    ],
)
def test_forms_of_one_name_are_told_from_two_names(one: str, other: str, same: bool) -> None:
    assert QuoteWords([one]).has_form(other) is same
    assert QuoteWords([other]).has_form(one) is same


_TEXTS = st.text(alphabet="abcAB 0123.,%nieot\n'’-“”", max_size=80)


@examples(200)
@given(_TEXTS, st.lists(_TEXTS, max_size=3), st.sampled_from(["en", "pl", "de"]))
def test_a_number_that_no_quote_has_is_never_supported(
    sentence: str, quotes: list[str], language: Language
) -> None:
    look = first_look(sentence, quotes, language=language)
    if unsupported_numbers(sentence, language, quotes, ()) and look.look != "exact":
        assert look.look == "foreign"


@pytest.mark.parametrize(
    "unit",
    [
        "A",
        "a",
        "ab ",
        "Ab ",
        "not a ",
        "nie. ",
        "1 ",
        "1.2,",
        "U.S. ",
        "A-",
        "“",
        "\u0316\u0301",
        "nt't ",
        "**a",
    ],
)
def test_a_quote_of_any_kind_is_looked_at_at_once(unit: str) -> None:
    quote = unit * (60_000 // len(unit))
    # One try may be disturbed on a busy machine: slow is what is slow each time.
    for _ in range(3):
        begun = time.process_time()
        first_look("The ECB did not cut Nagel's rate to 2 percent in Łódź.", [quote], language="en")
        first_look((unit * 600)[:600], [quote, CUT], language="de")
        seconds = time.process_time() - begun
        if seconds < 3:
            break
    assert seconds < 3
