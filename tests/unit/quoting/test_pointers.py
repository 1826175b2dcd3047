"""What a sentence beside it turns round, or leads to, is offered with that sentence or not at all."""

import pytest

from actors.platform.extractive.quotable import quotable
from actors.platform.text.language import Language

CLAIMS: dict[Language, tuple[str, str]] = {
    "en": (
        "The ferry company lost nine million euros last year.",
        "The bridge closed for repairs in all of June.",
    ),
    "de": (
        "Die Reederei verlor im vergangenen Jahr neun Millionen Euro.",
        "Die Brücke ist seit Juni für alle Autos offen.",
    ),
    "pl": (
        "Armator stracił w zeszłym roku dziewięć milionów euro.",
        "Most otwarto w czerwcu dla wszystkich samochodów.",
    ),
}
BEHIND: list[tuple[Language, str]] = [
    ("en", "It did not."),
    ("en", "No auditor has been able to confirm this."),
    ("en", "The audit office later found no trace of it."),
    ("en", "We no longer hold this view."),
    ("en", "The statement has since been withdrawn by its author."),
    ("en", "(Correction: it was another company.)"),
    ("en", "Really?"),
    ("de", "Belegt ist das nicht."),
    ("de", "Der Vorstand der Reederei weist das entschieden zurück."),
    ("de", "Inzwischen hat die Zeitung die Meldung zurückgezogen."),
    ("pl", "Firma w liście do miasta stanowczo temu zaprzecza."),
    ("pl", "Gazeta wycofała się z tej informacji po dwóch tygodniach."),
    ("pl", "Nikt tego nie udowodnił."),
]
BEFORE: list[tuple[Language, str]] = [
    ("en", "Imagine the following."),
    ("en", "Here is the rumour in full, as we heard it."),
    ("en", "This is what the union believes."),
    ("de", "Im Netz kursiert seit einigen Wochen folgende Geschichte."),
    ("pl", "W sieci od kilku tygodni krąży taka historia."),
]


def _offered(text: str, language: Language) -> list[str]:
    return [one.text for one in quotable(text, language)]


@pytest.mark.parametrize(("language", "behind"), BEHIND)
def test_what_the_next_sentence_turns_round_is_not_offered_without_it(
    language: Language, behind: str
) -> None:
    claim, other = CLAIMS[language]
    offered = _offered(f"{claim} {behind} {other}", language)
    assert [one for one in offered if claim in one and behind not in one] == []
    assert other in offered


@pytest.mark.parametrize(("language", "before"), BEFORE)
def test_what_a_sentence_leads_to_is_not_offered_without_it(language: Language, before: str) -> None:
    claim, other = CLAIMS[language]
    offered = _offered(f"{before} {claim} {other}", language)
    assert [one for one in offered if claim in one and before not in one] == []


@pytest.mark.parametrize(
    ("language", "behind"),
    [
        ("en", "No ship of the company was sold in the two years that followed."),
        ("de", "Der Stadtrat tagte im vergangenen Sommer zweimal im alten Rathaus."),
        ("pl", "Rada miasta spotkała się latem dwa razy w starym ratuszu."),
    ],
)
def test_a_sentence_on_another_matter_is_offered_by_itself(language: Language, behind: str) -> None:
    claim, other = CLAIMS[language]
    assert _offered(f"{claim} {behind} {other}", language) == [claim, behind, other]


def test_a_verdict_is_not_quoted_with_what_stands_behind_it() -> None:
    claim, other = CLAIMS["en"]
    assert _offered(f"{claim}\n\nFalse. {other}", "en") == [other]


def test_a_short_one_in_another_paragraph_is_not_quoted_with_it() -> None:
    claim, other = CLAIMS["en"]
    assert _offered(f"{claim}\n\nThe board met twice.\n\n{other}", "en") == [
        claim,
        "The board met twice.",
        other,
    ]
