"""What others say, and claims that a text judges, are not offered as its own; what stands around them is."""

import pytest

from actors.platform.extractive.quotable import quotable
from actors.platform.text.language import Language

THEIRS: dict[Language, str] = {
    "en": "The works will be closed before the winter.",
    "de": "Das Werk wird vor dem Winter geschlossen.",
    "pl": "Zakład zostanie zamknięty przed zimą.",
}
OWN: dict[Language, str] = {
    "en": "The council met on Monday in the hall.",
    "de": "Der Rat tagte am Montag im Saal der Stadt.",
    "pl": "Rada zebrała się w poniedziałek w sali miasta.",
}
# How each language leads in: somebody's words, by whom in a dash's turn, what is disputed and denied; and how
# it names claims.
WORDS: dict[Language, tuple[str, str, str, str, tuple[str, ...]]] = {
    "en": (
        "Ann Example, a clerk, wrote",
        "said the clerk",
        "Critics say the following",
        "The mayor denies that",
        ("Claim", "Myth", "False"),
    ),
    "de": (
        "Anna Muster, die Sprecherin, schrieb",
        "sagte die Sprecherin",
        "Kritiker behaupten",
        "Der Bürgermeister bestreitet Folgendes",
        ("Behauptung", "Mythos", "Falsch"),
    ),
    "pl": (
        "Rzeczniczka związku napisała",
        "powiedziała rzeczniczka",
        "Krytycy twierdzą",
        "Burmistrz zaprzecza, że",
        ("Twierdzenie", "Mit", "Fałsz"),
    ),
}
LANGUAGES: list[Language] = ["en", "de", "pl"]
TURNS = [
    "{own}\n\n{lead}:\n\n{theirs}",
    "{own}\n\n{lead}:\n{theirs}",
    "{own}\n\n{lead}:\n\nA. B.\n\n{theirs}",
    "{own}\n\n{lead}:\n\n> {theirs}\n\n",
    "{own}\n\n> {theirs}\n> — Ann Example",
    "{own}\n\n> A. B.\n{theirs}",
    "{own}\n\n– {theirs} – {by}. – {theirs}",
    "{own} – {theirs} – {by}. – A. B. {theirs}",
    "{own}\n\n- A. B. - {by}. {theirs}",
    "{own}\n\n“A. B.\n\n{theirs}\n\nC. D.” {by}.",
    "{own}\n\n«A. B.\n\n{theirs}»",
    '{own}\n\n"A. B.\n\n{theirs}" {by}.',
    "{own}\n\n„A. B.\n\n{theirs}\n\n",
    "{own}\n\n{disputed}:\n\n- A. B.\n- {theirs}",
    "{own}\n\n{denied}:\n\n1. A. B.\n2. {theirs}",
    "{own}\n\n{disputed} das\n\n- A. B.\n- {theirs}",
    "{own}\n\nAnn Example, Council of Example:\n\n{theirs}",
]
BARE = ("{own}\n\n{claim}\n\n{theirs}", "{own}\n\n**{claim}**\n\n{theirs}")
CLAIMS = [
    "{own}\n\n{claim}: {theirs}",
    "{own}\n\n**{claim}:** {theirs}",
    "{own}\n\n**{claim}**: {theirs}",
    "{own}\n\n{claim} #2: {theirs}",
    "{own}\n\n- {claim}: {theirs}",
    "{own}\n\n{claim} – {theirs}",
    "{own}\n\n## {claim}\n\n{theirs}\n\n## Z",
    *BARE,
    "{own}\n\n{claim}:\n\n{theirs}",
]


MAILS: dict[Language, tuple[str, str, str, str, str]] = {
    "en": ("From", "Sent", "To", "Subject", "On Tue, 3 Nov 2026, Ann Example <ann@example.org>\nwrote:"),
    "de": ("Von", "Gesendet", "An", "Betreff", "Am Di., 3. Nov. 2026 um 10:12 Uhr schrieb Ann Example:"),
    "pl": ("Od", "Wysłano", "Do", "Temat", "W dniu 3.11.2026 o 10:12, Ann Example pisze:"),
}
SIGNED = [
    "{theirs}\n\n— Ann Example, Council of Example",
    "{theirs}\n— Ann Example",
    "{theirs}\n\n**– Ann Example**",
    "*{theirs}*\n\n― **Ann Example**, 34",
    "{theirs}\n\n-- Ann Example",
    "“{theirs}”\n\n— Ann Example",
    "“{theirs}”\n\nAnn Example, Council of Example",
    "“{theirs} {theirs}”\n\n(Ann Example)",
    "“A. B.\n\n{theirs}”\n\n— Ann Example",
]


def _told(text: str, language: Language) -> list[str]:
    return [one.text for one in quotable(text, language)]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("form", TURNS)
def test_what_others_say_is_not_offered_as_the_text_s_own(form: str, language: Language) -> None:
    lead, by, disputed, denied, _ = WORDS[language]
    text = form.format(
        own=OWN[language], theirs=THEIRS[language], lead=lead, by=by, disputed=disputed, denied=denied
    )
    assert [one for one in _told(text, language) if not one.startswith(lead)] == [OWN[language]]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("form", CLAIMS)
def test_a_claim_that_is_judged_is_not_offered(form: str, language: Language) -> None:
    # A line that says only "False" may be a verdict on what stands above it.
    for claim in WORDS[language][-1][: 2 if form in BARE else 3]:
        text = form.format(own=OWN[language], theirs=THEIRS[language], claim=claim)
        assert _told(text, language) == [OWN[language]]


@pytest.mark.parametrize("language", LANGUAGES)
def test_somebody_s_words_go_with_the_lead_that_names_him(language: Language) -> None:
    lead, own, theirs = WORDS[language][0], OWN[language], THEIRS[language]
    assert _told(f"{lead}: {theirs} {theirs}\n\n{own}", language) == [f"{lead}: {theirs} {theirs}", own]


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_comes_after_them_is_the_text_s_own_again(language: Language) -> None:
    lead, by, disputed, _, claims = WORDS[language]
    own, theirs = OWN[language], THEIRS[language]
    for other in (
        f"{lead}:\n\n> {theirs}",
        f"– {theirs} – {by}.",
        f"“A. B.\n\n{theirs}” {by}.",
        f"{disputed}:\n\n- {theirs}",
        f"{claims[0]}: {theirs}",
        f"{lead}:\n\n{theirs}\n\n## Z",
    ):
        assert _told(f"{other}\n\n{own}", language) == [own]


def test_a_text_that_is_quoted_as_a_whole_is_its_own() -> None:
    assert _told(f"> {OWN['en']}\n>\n> {THEIRS['en']}\n", "en") == [OWN["en"], THEIRS["en"]]


@pytest.mark.parametrize("head", ["ACME Corp — Quarterly report", "Example Works: Annual Report 2026"])
def test_the_head_of_each_page_is_nobody_s_name(head: str) -> None:
    text = f"{head}\n\n{OWN['en']}\n\n{head}\n\n{THEIRS['en']}\n\n{head}\n"
    assert _told(text, "en") == [OWN["en"], THEIRS["en"]]


def test_a_mark_between_blanks_opens_nothing() -> None:
    assert _told(f"von Spanplatte » Montag, 10:22\n\n{OWN['de']}", "de") == [OWN["de"]]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("form", SIGNED)
def test_what_a_name_stands_behind_is_that_person_s(form: str, language: Language) -> None:
    said = form.format(theirs=THEIRS[language])
    assert _told(f"{OWN[language]}\n\n{said}\n\n{OWN[language]}", language) == [OWN[language]] * 2


@pytest.mark.parametrize("list_of", ["{}\n\n— Ann Example\n— Bob Example", "{}\n\n– One\n\n– Two Words"])
def test_a_list_of_names_signs_nothing(list_of: str) -> None:
    assert _told(list_of.format(OWN["en"]), "en") == [OWN["en"]]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "head",
    [
        "{0}: Ann Example\n{1}: 3.11.2026\n{2}: all\n{3}: works\n\n",
        "{0}: Ann Example\n\n{1}: 3.11.2026\n\n{3}: works\n\n",
        "**{0}:** Ann Example\n**{3}:** works\n\n",
        "{0}: Ann Example {1}: 3.11.2026 {2}: all {3}: works\n\n",
        "{3}: works\n{0}: Ann Example\n\n",
        "| {0}: | Ann Example |\n|---|---|\n| {3}: | works |\n\n",
        "From: Ann Example\nSubject: works\n\n",
        "{4}\n\n",
    ],
)
def test_what_a_mail_s_head_stands_before_is_its_writer_s(head: str, language: Language) -> None:
    own, theirs = OWN[language], THEIRS[language]
    text = f"{own}\n\n{head.format(*MAILS[language])}{theirs}\n\n{theirs}\n\n## Z\n\n{own}"
    assert _told(text, language) == [own, own]


def test_a_place_and_a_day_are_no_head_of_a_mail() -> None:
    assert _told(f"From: Kiel\nTo: Hamburg\nDate: 3 November\n\n{OWN['en']}", "en") == [OWN["en"]]


@pytest.mark.parametrize("marks", ["“”", "„“", "»«", "«»", '""'])
@pytest.mark.parametrize(
    "form",
    [
        "{a}A. B.\n\n{a}{theirs} {theirs}{b}\n\n{own}",
        "{a}A. B.\n\n{a}{theirs} {theirs}\n\n{a}C. D.{b}\n\n{own}",
        "{a}A. B.\n\n{a}{theirs} {theirs}\n\n{own}",
        "{a}A. B.\n\n{theirs}\n\n## Z\n\n{own}",
        "{a}A. B.\n\n{theirs}\n\nC. D.{b}\n\n{own}",
    ],
)
def test_a_quotation_over_paragraphs_holds_back_no_more_than_may_belong_to_it(form: str, marks: str) -> None:
    text = form.format(a=marks[0], b=marks[1], theirs=THEIRS["en"], own=OWN["en"])
    assert _told(text, "en") == [OWN["en"]]


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ("{own}\n\nDie Stadt habe davon seit drei Jahren gewusst.", []),
        ("{own} Die Stadt habe davon seit drei Jahren gewusst.", []),
        ("{own} Weil es nicht regnet, müsse die Stadt sparen.", []),
        (
            "{own}\n\nDer Fluss sei voll, sagte Jens Vogt. Die Stadt habe davon gewusst.",
            ["Der Fluss sei voll, sagte Jens Vogt. Die Stadt habe davon gewusst."],
        ),
        (
            "{own}\n\nDer Fluss ist voll, so Vogt. Niemand könne das Wasser trinken.",
            ["Der Fluss ist voll, so Vogt. Niemand könne das Wasser trinken."],
        ),
        ("{own}\n\nLaut Polizei habe der Fahrer geschlafen.", ["Laut Polizei habe der Fahrer geschlafen."]),
        (
            "{own}\n\nDer Rat will, dass die Brücke zu sperren sei.",
            ["Der Rat will, dass die Brücke zu sperren sei."],
        ),
        (
            "{own}\n\nGott sei Dank wurde dabei niemand verletzt.",
            ["Gott sei Dank wurde dabei niemand verletzt."],
        ),
    ],
)
def test_what_is_reported_goes_with_who_said_it(text: str, offered: list[str]) -> None:
    assert _told(text.format(own=OWN["de"]), "de") == [OWN["de"], *offered]
