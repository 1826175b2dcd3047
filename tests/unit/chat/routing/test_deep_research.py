"""Which messages ask for deep research, and which are about one that is there."""

import pytest

from actors.systems.chat.routing.deep_research import asks_for_deep_research, research_named


@pytest.mark.parametrize(
    "message",
    [
        "zrób deep research o AI w medycynie",
        "Zrob mi prosze deep research na temat stop procentowych",
        "Deep research: how do watermills turn in winter?",
        "please do a deep research on battery recycling",
        "Run an in-depth research into green bonds.",
        "I need deep research about the ECB",
        "Przeprowadź pogłębione badanie rynku obligacji",
        "poproszę o dogłębny research o inflacji",
        "Führe eine tiefgehende Recherche zu KI in der Medizin durch",
        "Mach bitte eine Tiefenrecherche zu Anleihen",
        "kick off deep-research about private credit defaults",
        "Odpal deep research na temat cen gazu TTF",
        "zbadaj dogłębnie temat REIT-ów, w trybie deep research",
        "Könntest du eine Tiefenrecherche zum Goldpreis anstoßen?",
        "Czy możesz przeprowadzić pogłębioną kwerendę o długu BGK",
    ],
)
def test_what_asks_for_deep_research(message: str) -> None:
    assert asks_for_deep_research(message)


@pytest.mark.parametrize(
    "message",
    [
        "write an article about inflation",
        "what did we write about deep research?",
        "research the fed and write an article",
        "is deep research worth its money",
        "zrób artykuł o inflacji",
        "",
        "our deep research department closed; summarize that article",
        "Did OpenAI launch its Deep Research product in 2025?",
        "Proszę przerwać pogłębiony research 12.",
        "stop the deep research",
        "przetłumacz: in-depth research costs money",
    ],
)
def test_what_does_not(message: str) -> None:
    assert not asks_for_deep_research(message)


@pytest.mark.parametrize(
    ("message", "number", "stops"),
    [
        ("How far is research 12?", 12, False),
        ("what is the status of deep research #7", 7, False),
        ("jak idzie research nr 3?", 3, False),
        ("Na jakim etapie jest badanie 5? jak daleko", 5, False),
        ("wie weit ist die Recherche 4", 4, False),
        ("Stop research 12", 12, True),
        ("zatrzymaj badanie numer 9", 9, True),
        ("brich die Recherche 4 ab", 4, True),
        ("please cancel deep research 2, thanks", 2, True),
        ("Proszę przerwać pogłębiony research 12.", 12, True),
        ("kill deep research no 22 pls", 22, True),
        ("any news on research #7", 7, False),
        ("czy deep research #31 już się skończył", 31, False),
    ],
)
def test_a_research_is_named_by_its_number(message: str, number: int, stops: bool) -> None:
    assert research_named(message) == (number, stops)


@pytest.mark.parametrize(
    "message",
    [
        "research 5 companies in the energy sector",
        "how do I research 5 companies",
        "research 12",
        "how far is my research?",
        "stop article 12",
        "what did research from 2024 say",
        "How far is research 12? " + "And more of that. " * 20,
    ],
)
def test_what_names_none(message: str) -> None:
    assert research_named(message) is None
