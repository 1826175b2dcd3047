"""What a text sets right, retracts or calls false elsewhere is not offered; the rest of it is."""

import pytest

from actors.platform.extractive.corrections import is_verdict
from actors.platform.extractive.quotable import quotable
from actors.platform.text.language import Language

CORRECTED: list[tuple[Language, str, str, str]] = [
    (
        "en",
        "The works were sold for four million euros in May.",
        "Exports of machinery weakened in the north.",
        "Correction: An earlier version of this article said the works were sold for four million euros.",
    ),
    (
        "en",
        "Mercer was fined 30,000 dollars for the spill.",
        "The river is clean again in all of its parts.",
        "This article was amended on 3 May. It had said that Mercer was fined 30,000 dollars for a spill.",
    ),
    (
        "en",
        "Police arrested two men in the harbour.",
        "The river is clean again in all of its parts.",
        "Editor’s note: the police have since said that nobody was arrested in the harbour.",
    ),
    (
        "de",
        "Das Werk wurde im Mai für vier Millionen Euro verkauft.",
        "Die Brücke ist seit Juni für alle Autos offen.",
        "Korrektur: In einer früheren Version hieß es, das Werk sei für vier Millionen Euro verkauft worden.",
    ),
    (
        "de",
        "Der Bürgermeister trat am Freitag zurück.",
        "Die Brücke ist seit Juni für alle Autos offen.",
        "Anmerkung der Redaktion: Der Bürgermeister ist am Freitag nicht zurückgetreten.",
    ),
    (
        "pl",
        "Zakład sprzedano w maju za cztery miliony euro.",
        "Most otwarto w czerwcu dla wszystkich samochodów.",
        "Sprostowanie: w poprzedniej wersji podaliśmy, że zakład sprzedano za cztery miliony euro.",
    ),
    (
        "pl",
        "Burmistrz złożył w piątek rezygnację.",
        "Most otwarto w czerwcu dla wszystkich samochodów.",
        "Aktualizacja: burmistrz nie złożył w piątek rezygnacji, jak błędnie podaliśmy.",
    ),
]
VERDICTS: list[tuple[Language, str]] = [
    ("en", "False."),
    ("en", "Verdict: Mostly false"),
    ("en", "That is not true."),
    ("en", "This claim is false."),
    ("en", "The mayor denied this on Monday."),
    ("en", "None of this is true."),
    ("en", "Neither is true."),
    ("en", "That never happened."),
    ("en", "This isn’t true: nobody was fined."),
    ("en", "This claim is false: the works are the town’s."),
    ("en", "There is no evidence for any of the claims."),
    ("en", "Far from it!"),
    ("en", "“This is not true,” said Ann Example of the court."),
    ("de", "Nichts davon ist wahr."),
    ("de", "Das ist nie passiert."),
    ("de", "Das Gegenteil ist der Fall."),
    ("de", "Nein."),
    ("de", "Doch keine der Behauptungen trifft zu."),
    ("pl", "Nic takiego się nie wydarzyło."),
    ("pl", "Żadne z tych twierdzeń nie jest prawdziwe."),
    ("pl", "Tak nie było."),
    ("de", "Die Stadt bestreitet das."),
    ("pl", "Burmistrz zaprzecza temu."),
    ("de", "Falsch."),
    ("de", "Das stimmt nicht."),
    ("de", "Bewertung: größtenteils falsch"),
    ("pl", "Fałsz."),
    ("pl", "To nieprawda."),
    ("pl", "Ocena: fałsz"),
]
NONE: list[tuple[Language, str]] = [
    ("en", "The court found that the alarm had been false in both of the cases."),
    ("en", "False alarms cost the town four million euros in a year."),
    ("de", "Wer falsch parkt, zahlt in der Stadt ab Mai das Doppelte."),
    ("pl", "Fałszywe alarmy kosztowały miasto cztery miliony złotych."),
    ("en", "It is not true that all went well, however."),
    ("en", "None of the workers was hurt in the fire."),
    ("en", "This is not the first dry year in the valley."),
    ("en", "None of these claims is true:"),
    ("en", "The claim that the river is poisoned is false."),
    ("de", "Die Behauptung, der Fluss sei vergiftet, ist falsch."),
    ("de", "Nichts davon wird billig für die Stadt."),
    ("de", "Die Zeugen haben das Geld falsch gezählt."),
    ("pl", "To nie jest pierwszy suchy rok w dolinie."),
]


def _told(text: str, language: Language) -> list[str]:
    return [one.text for one in quotable(text, language)]


@pytest.mark.parametrize(("language", "wrong", "other", "notice"), CORRECTED)
def test_what_is_corrected_anywhere_is_not_offered(
    language: Language, wrong: str, other: str, notice: str
) -> None:
    assert _told(f"{wrong}\n\n{other}", language) == [wrong, other]
    assert _told(f"{wrong}\n\n{other}\n\n{notice}", language) == [other]
    assert _told(f"{notice}\n\n{other} {wrong}", language) == [other]


@pytest.mark.parametrize("heading", ["## Correction", "**Corrections**", "Correction:"])
def test_a_section_of_corrections_counts(heading: str) -> None:
    _, wrong, other, _ = CORRECTED[0]
    text = f"{wrong}\n\n{other}\n\n{heading}\n\nThe works were sold for four hundred thousand euros."
    assert wrong not in _told(text, "en")
    assert other in _told(text, "en")


@pytest.mark.parametrize(
    ("language", "notice"),
    [
        ("en", "This article has been retracted by the authors."),
        ("de", "Dieser Artikel wurde zurückgezogen."),
        ("pl", "Artykuł został wycofany."),
    ],
)
def test_of_a_text_that_is_retracted_nothing_is_offered(language: Language, notice: str) -> None:
    _, wrong, other, _ = next(one for one in CORRECTED if one[0] == language)
    assert _told(f"{wrong} {other}\n\n{notice}", language) == []


@pytest.mark.parametrize(("language", "verdict"), VERDICTS)
def test_what_is_called_false_is_not_offered_without_that(language: Language, verdict: str) -> None:
    _, wrong, other, _ = next(one for one in CORRECTED if one[0] == language)
    assert is_verdict(verdict, language)
    assert _told(f"{other}\n\n{wrong}\n\n{verdict}", language) == [other]
    assert wrong not in _told(f"{wrong} {verdict}\n\n{other}", language)


@pytest.mark.parametrize(("language", "sentence"), NONE)
def test_what_only_has_such_a_word_is_no_verdict(language: Language, sentence: str) -> None:
    _, wrong, _, _ = next(one for one in CORRECTED if one[0] == language)
    assert not is_verdict(sentence, language)
    assert wrong in _told(f"{wrong}\n\n{sentence}", language)


@pytest.mark.parametrize(
    "told",
    [
        "{own}\n\n- {wrong}\n- The court jailed nine men.\n\nNone of this is true.",
        "{own}\n\n{wrong}\n\n## Verdict: false\n\nNobody was fined.",
        "{own}\n\n{wrong}\n\n### Our verdict\n\nFalse.",
        "{own}\n\n{wrong}\n\n## This is not true",
    ],
)
def test_a_verdict_takes_back_the_list_or_what_stands_above_its_heading(told: str) -> None:
    _, wrong, own, _ = CORRECTED[1]
    offered = _told(told.format(own=own, wrong=wrong), "en")
    assert own in offered
    assert not any(part in one for one in offered for part in (wrong, "nine men"))


def test_a_verdict_on_a_heading_takes_back_no_more() -> None:
    _, wrong, own, _ = CORRECTED[1]
    assert _told(f"{own}\n\n## The works were sold\n\nFalse. {wrong}", "en") == [own, wrong]


def test_the_rest_of_a_note_is_not_offered_and_a_long_text_that_begins_with_one_is() -> None:
    _, wrong, own, _ = CORRECTED[1]
    note = "Correction: An earlier version of this article said that 212 wells were dry."
    assert _told(f"{own}\n\n{wrong}\n\n{note} The right number is 121. Both were measured in May.", "en") == [
        own,
        wrong,
    ]
    assert _told(f"{note} {own} {own} {own} {wrong}", "en")[-1] == wrong
