"""What stands under a heading that announces others' words is not offered, up to the next of its level."""

import pytest

from actors.platform.extractive.quotable import quotable
from actors.platform.text.language import Language

THEIRS: dict[Language, str] = {
    "en": "The dredging has killed the herring of the bay.",
    "de": "Die Baggerarbeiten haben den Hering der Bucht vernichtet.",
    "pl": "Pogłębianie toru zniszczyło stado śledzi w zatoce.",
}
OWN: dict[Language, str] = {
    "en": "The council met on Monday in the hall of the town.",
    "de": "Der Rat tagte am Montag im Saal der Stadt.",
    "pl": "Rada zebrała się w poniedziałek w sali miasta.",
}
ANNOUNCE: dict[Language, tuple[str, ...]] = {
    "en": (
        "What the critics say", "What opponents fear", "How the fishermen see it",
        "Why the divers protest", "Voices from the industry", "Reactions", "Reactions to the vote",
        "Myth No. 3", "Myth 2: It is harmless", "Letters to the editor", "The fishermen's arguments",
        "The opponents’ view", "Arguments against", "Criticism of the plan", "Critics warn of costs",
        "Claim", "In their own words", "Reader comments", "12 Comments", "Comments (12)", "Testimonials",
        "Objections", "Statement from the union", "Myths and facts",
        "What fishermen told us", "The union responds", "Feedback",
    ),
    "de": (
        "Das sagen die Gegner", "Das sagen die Gegner zum Plan", "Was die Kritiker sagen",
        "So reagieren die Fischer", "Wie die Gegner argumentieren", "Was die Fischer befürchten",
        "Stimmen aus der Branche", "Reaktionen", "Mythos Nr. 3", "Behauptung 2: Der Kai ist harmlos",
        "Leserbriefe", "Die Argumente der Fischer", "Die Sicht der Fischer", "Kritik am Vorhaben",
        "Einwände", "Kundenstimmen", "Stellungnahme des Verbands", "Kommentare", "Leserkommentare (12)",
        "3 Kommentare", "Pressestimmen", "Gegner warnen vor Kosten", "Bürgerstimmen",
        "Lob und Kritik", "Der Verband widerspricht", "Aussagen der Fischer",
    ),
    "pl": (
        "Co mówią krytycy", "Co na to rybacy?", "Tak reagują rybacy", "Czego obawiają się rybacy",
        "Argumenty rybaków", "Argumenty przeciw", "Głosy z branży", "Głosy czytelników", "Reakcje",
        "Mit nr 3", "Mit: nabrzeże jest nieszkodliwe", "Listy do redakcji", "Zdaniem przeciwników",
        "Krytyka planu", "Zarzuty", "Twierdzenie", "Opinie mieszkańców", "Stanowisko związku",
        "Oświadczenie związku", "Komentarze (12)", "Przeciwnicy ostrzegają przed kosztami",
        "Głosy krytyczne", "Związek odpowiada", "Zarzuty rybaków", "Mity i fakty",
    ),
}  # fmt: skip
ANNOUNCE_NOTHING: dict[Language, tuple[str, ...]] = {
    "en": (
        "What the numbers say", "What the source says", "What the law says about it",
        "What we know so far", "How it works", "What is asked for each claim",
        "How can I reply?", "How to respond", "Letters of credit", "Claims procedure",
        "What happens next", "Statement of the problem", "View of the harbour",
    ),
    "de": (
        "Was die Zahlen sagen", "Was die Quelle sagt", "Was sagt das Gesetz?", "Was das bedeutet",
        "So funktioniert es", "So schreiben Sie einen Brief", "Stimmen und Sitze", "Kommentar",
        "Kritische Bestände", "Behauptet sich der Kutter?", "Wie es weitergeht",
    ),
    "pl": (
        "Co mówią dane", "Co mówi źródło", "Co mówi ustawa?", "Jak to działa", "Co dalej",
        "Mit o Syzyfie", "Komentarz", "Listy przewozowe", "Głosy i mandaty",
    ),
}  # fmt: skip
CASES = [(language, heading) for language, headings in ANNOUNCE.items() for heading in headings]
OTHERS = [(language, heading) for language, headings in ANNOUNCE_NOTHING.items() for heading in headings]
LANGUAGES: list[Language] = ["en", "de", "pl"]


def _told(text: str, language: Language) -> list[str]:
    return [one.text for one in quotable(text, language)]


@pytest.mark.parametrize(("language", "heading"), CASES)
def test_what_stands_under_it_is_theirs_to_the_next_of_its_level(language: Language, heading: str) -> None:
    own, theirs = OWN[language], THEIRS[language]
    assert _told(f"## {heading}\n\n{theirs}\n\n### X\n\n{theirs}\n\n## Y\n\n{own}", language) == [own]
    assert _told(f"### {heading}\n\n- {theirs}\n\n## Y\n\n{own}", language) == [own]


@pytest.mark.parametrize(("language", "heading"), OTHERS)
def test_other_headings_announce_nobody(language: Language, heading: str) -> None:
    own = OWN[language]
    assert _told(f"## {heading}\n\n{own}", language) == [own]
    assert _told(f"**{heading}**\n\n{own}", language) == [own]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "form",
    [
        "**{}**\n\n{theirs}\n\n**fish77**\n\n{theirs}\n\n**Mia Holm**\n\n{theirs}\n\n## Y\n\n{own}",
        "**{}**\n{theirs}\n\n**A new day**\n\n{own}",
        "**{}:** {theirs}\n\n{own}",
        "{}\n---\n\n{theirs}\n\nY\n---\n\n{own}",
        "{}\n\n{theirs}\n\n{theirs}\n\n## Y\n\n{own}",
    ],
)
def test_a_heading_by_its_looks_announces_them_too(form: str, language: Language) -> None:
    text = form.format(ANNOUNCE[language][0], theirs=THEIRS[language], own=OWN[language])
    assert _told(text, language) == [OWN[language]]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_title_of_a_text_announces_nothing(language: Language) -> None:
    own, heading = OWN[language], ANNOUNCE[language][0]
    assert _told(f"# {heading}\n\n{own}", language) == [own]
    assert _told(f"# {heading}\n\n{THEIRS[language]}\n\n# Y\n\n{own}", language) == [own]


@pytest.mark.parametrize(
    ("language", "claim", "fact"),
    [("en", "Claim 2", "Fact"), ("de", "Mythos 2", "Fakt"), ("pl", "Mit 2", "Fakt")],
)
def test_what_answers_a_claim_is_the_text_s_own(language: Language, claim: str, fact: str) -> None:
    own, theirs = OWN[language], THEIRS[language]
    assert _told(f"## {claim}: A\n\n{theirs}\n\n### {fact}\n\n{own}", language) == [own]
    assert _told(f"{claim}\n- {theirs}\n\n{fact}\n- {own}", language) == [own]


def test_a_sentence_with_dashes_is_no_label() -> None:
    told = "Gegner des Beschlusses – meist Fischer – demonstrierten am Montag in Kiel."
    assert _told(told, "de") == [told]
