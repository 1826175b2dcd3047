"""The language of a text, and behind which full stops its sentences go on."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.platform.text.language import Language, language_of
from actors.platform.text.sentences.sentence_boundaries import ends, goes_on, left_open


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The bank raised its rate by a quarter of a point on Wednesday.", "en"),
        ("Prices rose.", "en"),
        ("To be or not to be: they die in the end, and that was it.", "en"),
        ("The mayors of Łódź, Zürich and Köln have met in Gdańsk.", "en"),
        ("Rada Polityki Pieniężnej podniosła stopy procentowe o 25 punktów bazowych.", "pl"),
        ("Ceny w maju nie wzrosły.", "pl"),
        ("Bank i rynek sa spokojne, ale inflacja nie jest niska.", "pl"),
        ("Die Bank hat den Leitzins um einen Viertelpunkt erhöht.", "de"),
        ("Der Umsatz ist im Mai nicht gestiegen.", "de"),
        ("Zürich", "de"),
        ("żółw", "pl"),
        ("", "en"),
        ("12 345 ???", "en"),
        ("東京は晴れ。", "en"),
        ("Wie viele Haushalte bekommen mehr Wohngeld?", "de"),
        ("Warum steigen Mieten?", "de"),
        ("Wer zahlt Rente?", "de"),
        ("Die Preise stiegen um 3 Prozent.", "de"),
        ("Arbeitslosigkeit in Köln", "de"),
        ("STADTRAT LEHNT SANIERUNG AB", "de"),
        ("Bürger protestieren gegen Gebühren", "de"),
        ("Was ist los in Las Vegas?", "de"),
        ("Ile kosztuje euro", "pl"),
        ("Kto płaci rentę?", "pl"),
        ("Co napisano o inflacji?", "pl"),
        ("Jakie sa stopy?", "pl"),
        ("raport o gazie", "pl"),
        ("RAPORT O GAZIE", "pl"),
        ("stopy procentowe NBP", "pl"),
        ("Gdańsk shipyard strike 1980", "en"),
        ("Samsung opens a plant in Poznań", "en"),
        ("San Diego budget", "en"),
        ("MIT study finds water", "en"),
        ("Ford Motor Co profits fall", "en"),
        ("Jay-Z, O'Neill, George W. Bush", "en"),
        ("I want data", "en"),
    ],
)
def test_a_text_is_in_the_language_of_its_function_words(text: str, language: Language) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize(
    "text",
    [
        "Le gouvernement a présenté la réforme des retraites devant les députés.",
        "Les prix des produits ont augmenté de 3 pour cent en mai.",
        "La inflación es del 3 por ciento en mayo.",
        "El Banco Central Europeo sube los tipos de interés.",
        "O governo aprovou o orçamento para o próximo ano.",
        "Il governo ha approvato la legge di bilancio per il prossimo anno.",
        "De regering heeft het plan van de minister niet goedgekeurd.",
        "De prijzen zijn in mei met drie procent gestegen, zegt het CBS.",
        "Vláda schválila návrh rozpočtu na rok 2025.",
        "Podle něj se ceny zvýší také v příštím roce, který je na řadě.",
        "Národná banka zvýšila sadzby, ktorý krok prekvapil trhy.",
        "Riksbanken höjer räntan för att dämpa inflationen.",
        "Regeringen har fremlagt et forslag, der er godt for økonomien og ikke dyrt.",
        "Влада ухвалила бюджет.",
    ],
)
def test_another_language_is_read_as_english(text: str) -> None:
    assert language_of(text) == "en"


def test_only_the_beginning_of_a_text_counts() -> None:
    assert language_of("The bank and the state. " * 100 + "Bank nie jest i nie był. " * 1000) == "en"


@given(st.text())
def test_any_text_has_a_language(text: str) -> None:
    assert language_of(text) in ("en", "pl", "de")


@pytest.mark.parametrize(
    ("before", "after", "language", "expected"),
    [
        ("He met Dr.", "Smith there.", "en", True),
        ("It was No.", "5 of them.", "en", True),
        ("He said no.", "The rest agreed.", "en", False),
        ("It lay in the U.S.", "Senate.", "en", True),
        ("It lay in the U.S.", "The rest lay elsewhere.", "en", False),
        ("Ceny wzrosły w 2024 r.", "Bank podniósł stopy.", "pl", False),
        ("Od 1 stycznia 2024 r.", "Narodowy Bank Polski podnosi stopy.", "pl", True),
        ("Popiera to 40 proc.", "Polaków.", "pl", True),
        ("Wzrost wyniósł 3 proc.", "Bank podniósł stopy.", "pl", False),
        ("Im 19.", "Jahrhundert war das anders.", "de", True),
        ("Er wurde 20.", "Die Bank schwieg.", "de", False),
        ("Der Umsatz betrug 5 Mio.", "Euro.", "de", True),
    ],
)
def test_an_abbreviation_ends_a_sentence_or_does_not(
    before: str, after: str, language: Language, expected: bool
) -> None:
    assert goes_on(before, after, language) is expected


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("none", 0),
        ("“one", 1),
        ('„one“ „two” «three» »four« "five" (six) [seven]', 0),
        ("(“one)", -1),
        ("one)", -1),
        ("„one (two", 2),
    ],
)
def test_marks_that_are_left_open_are_counted(text: str, count: int) -> None:
    assert left_open(text) == count


@pytest.mark.parametrize("text", ["One.", "One!”", "One?)", "One…", 'One."', "Eins.“"])
def test_a_sentence_ends_in_a_mark_and_what_closes_behind_it(text: str) -> None:
    assert ends(text)
    assert not ends(text[:3])


@pytest.mark.parametrize("unit", [".", '"', "(", "a.", " ", "ż"])
def test_a_long_text_is_read_at_once(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    begun = time.process_time()
    language_of(text)
    left_open(text)
    ends(text)
    assert time.process_time() - begun < 5
