"""Sentences of three languages as they are written, each the slice of its source that it says it is."""

import re
import time
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from actors.platform.text.language import Language
from actors.platform.text.lexicon import lexicon
from actors.platform.text.sentences.sentences import Sentence, as_read, sentences
from models.errors import ConfigInvalid
from models.text import seen, unstorable
from tests.examples import hostile

BOUNDARIES: dict[Language, list[str]] = yaml.safe_load(
    (Path(__file__).parent / "boundaries.yaml").read_text()
)

# In each case `|` stands where one sentence ends and the next begins.
ENGLISH = [
    "The bank raised rates. | Markets fell.",
    "Dr. Smith met Mr. Jones in St. Louis. | They spoke for an hour.",
    "It grew by approx. 5 percent. | That was No. 5 on the list.",
    "The rate was 4.25 percent in Jan. 2024. | It was 3.9 percent in Sept. 2023.",
    "Output fell 2 p.c. in May. | Exports fell 3 p.c. in June.",
    "The U.S. Federal Reserve met on Tuesday. | The E.U. Commission did not.",
    "Prices rose in the U.S. | The rest of the world saw none of it.",
    "Apple Inc. reported a profit. | Its shares rose.",
    "The talks began at 5 p.m. on Monday. | They ended at 3 a.m. | The ministers went home.",
    "J. P. Morgan and Jerome H. Powell agreed. | Nobody else did.",
    "See Fig. 3 for the trend. | Table 2 has the numbers.",
    "Smith vs. Jones was settled. | The court closed the case.",
    "“We will act. We will not wait,” she said. | The markets believed her.",
    '"It is small," said Ines Varga. | "One bad summer could take it away."',
    'He asked: "Why now? Why here?" | Nobody answered.',
    "He called it “a mistake.” | The board disagreed.",
    "Was it wise? | It was not! | Time will tell…",
    "“Why?” he asked. | “Because,” she said.",
    "The index (see p. 5. It is new.) fell. | The others rose.",
    "The firm sells fruit, bread, etc. and employs 20 people. | Its rival has 30.",
    "Growth was 3.5 percent, i.e. less than hoped, e.g. in May. | June was better.",
    "Sales reached $1.5 bn. in the year. | Costs fell.",
    "Gov. Newsom and Sen. Warren spoke. | Rep. Lee was absent.",
    "He said no. | The others said yes.",
    "In 2024 prices rose. | 20 banks failed.",
    "(The bank declined to comment.) | Its shares fell.",
    "The study by Lee et al. found nothing. | A second one did.",
    "It lasted until Dec. 31. | The new year began quietly.",
    "Yahoo! Inc. was sold. | Its owner kept the rest.",
    "It rose — the first time in years. | It then fell.",
]
POLISH = [
    'Zarząd Drewpol S.A. ("Spółka") przekazuje wyniki. | Strata wyniosła 7 mln zł.',
    "Świadek M. P. zeznał inaczej. | Bank temu zaprzeczył.",
    "Sprawa J. Kowalskiego trwa. | Apelacja wpłynęła w maju.",
    "Rada podniosła stopy. | Rynek był zaskoczony.",
    "Inflacja wyniosła 5 proc. w maju 2024 r. i spadła w czerwcu. | Bank czeka.",
    "Ceny wzrosły w 2024 r. | Bank podniósł stopy.",
    "W 2024 r. Narodowy Bank Polski podniósł stopy. | Złoty zyskał.",
    "Od 1 stycznia 2024 r. Polska ma nowy podatek. | Płaci go ok. 300 tys. firm.",
    "Firma zatrudnia ok. 5 tys. osób m.in. w Łodzi. | Ma też biuro przy ul. Długiej 5.",
    "Tzw. tarcza kosztowała 3 mld. zł. | Rząd ją przedłużył.",
    "Prof. Adam Glapiński mówił o stopach. | Dr hab. Jan Nowak milczał.",
    "Wypowiedział się prof. Nowak. | Inni milczeli.",
    "Szpital im. św. Jana działa od godz. 8. | Przychodnia jest zamknięta.",
    "Zgodnie z art. 5 ust. 2 ustawy podatek płaci kupujący. | Sprzedawca nie płaci nic.",
    "Stopa wzrosła o 25 pkt. bazowych. | To mniej, niż oczekiwano.",
    "Owoce, np. Jabłka Grójeckie, staniały. | Warzywa podrożały.",
    "A. Glapiński powiedział to w środę. | J. K. Morawiecki zaprzeczył.",
    "„Podnosimy stopy. Nie mamy wyboru” – powiedział prezes. | Złoty zyskał.",
    "„To dobra decyzja” – ocenił analityk. | „Nie sądzę” – odparł drugi.",
    "Popiera to 40 proc. Polaków. | Reszta jest przeciw.",
    "Wzrost wyniósł 3 proc. | Bank podniósł stopy.",
    "Dług sięgnął 50 proc. PKB. | Rząd nie widzi w tym problemu.",
    "Zamek zbudowano w XIV w. na wzgórzu. | Zburzono go w XVII w. | Ruiny stoją do dziś.",
    "Sprzedano książki, gazety itd. | Zysk był mały.",
    "Czy to koniec? | Nie! | Inflacja wróci…",
    "Zob. rys. 3 i tab. 5. | Dane są z maja.",
    "Według danych z Dz. U. nr 5 podatek spadł. | Nikt tego nie zauważył.",
    "Spotkanie odbyło się 3. dnia szczytu. | Trwało godzinę.",
    "Kurs wyniósł 4,35 zł. | Euro było droższe.",
    "Minister mówił o „nowym ładzie”. | Opozycja wyszła z sali.",
    "Zgodnie z ustawą z dnia 26 czerwca 1974 r. Kodeks pracy daje urlop. | Sądy to uznały.",
    "Uchwała z 3 marca 2025 r. Rady Gminy Zawada weszła w życie. | Burmistrz ją podpisał.",
    "Prezes zapowiedział, że do końca 2025 r. Spółka Alfa otworzy 10 sklepów. | Akcje wzrosły.",
    "Wg. analityków ceny spadną. | Rynek w to nie wierzy.",
]
GERMAN = [
    "Die Bank erhöhte den Zins. | Die Märkte fielen.",
    "Am 3. März 2024 stieg der Zins. | Am 5. April fiel er wieder.",
    "Im 19. Jahrhundert war das anders. | Heute gilt das nicht mehr.",
    "Der Umsatz betrug ca. 5 Mio. Euro. | Der Gewinn lag bei 3 Mrd. Euro.",
    "Er kaufte z. B. Gold und Silber. | Sie kaufte nichts.",
    "Das gilt z.B. für Banken, d. h. für alle. | Versicherungen sind ausgenommen.",
    "Dr. Meier und Prof. Schulz waren dabei. | Hr. Weber fehlte.",
    "Die Kunden bzw. Käufer zahlten mehr. | Die Händler zahlten weniger.",
    "Nach Art. 5 Abs. 2 ist das verboten. | Das Gericht sah es anders.",
    "Er wurde 20. | Die Bank schwieg.",
    "„Wir warten. Wir haben Zeit“, sagte sie. | Die Märkte glaubten ihr.",
    "„Das ist klein“, sagte Weber. | „Es wird wachsen.“",
    "»Wir handeln. Wir warten nicht«, sagte er. | Niemand fragte nach.",
    "War das klug? | Nein! | Man wird sehen…",
    "Der 2. Weltkrieg endete 1945. | Der Aufbau dauerte lange.",
    "Sie verkauft Brot, Obst usw. | Die Preise steigen.",
    "Die Inflation lag bei 2,5 Prozent. | Im Vorjahr waren es 3,1 Prozent.",
    "H. Schmidt und A. Merkel sprachen. | Andere schwiegen.",
    "Das Haus in der Bahnhofstr. 5 wurde verkauft. | Der Preis blieb geheim.",
    "Die Kosten stiegen um rd. 3 Prozent. | Die Löhne stiegen nicht.",
    "Die sog. Bremse gilt weiter. | Der Bundestag stimmte zu.",
    "Sie zog nach St. Gallen. | Er blieb in Bern.",
    "Die Firma liefert u. a. Schrauben. | Der Markt ist klein.",
    "Das sei „ein Fehler“. | Der Vorstand widersprach.",
    "Im Vgl. zum Vorjahr stieg der Absatz. | Der Gewinn sank.",
    "Am 31. Dezember endet die Frist. | Die Bank verlängert sie nicht.",
    "Nr. 5 lebt. | Nr. 6 nicht.",
    "(Die Bank äußerte sich nicht.) | Ihr Kurs fiel.",
]


def _texts(text: str, language: Language | None = None) -> list[str]:
    return [sentence.text for sentence in sentences(text, language)]


@pytest.mark.parametrize(
    ("case", "language"),
    [(c, "en") for c in ENGLISH] + [(c, "pl") for c in POLISH] + [(c, "de") for c in GERMAN],
)
def test_prose_is_split_where_its_sentences_end(case: str, language: Language) -> None:
    expected = case.split(" | ")
    assert _texts(" ".join(expected), language) == expected
    assert _texts("\n".join(" ".join(expected).rsplit(" ", 1)), language) == expected


@pytest.mark.parametrize(
    ("case", "language"), [(case, language) for language, some in BOUNDARIES.items() for case in some]
)
def test_no_full_stop_of_an_abbreviation_or_a_number_ends_a_sentence(case: str, language: Language) -> None:
    expected = case.split(" | ")
    assert _texts(" ".join(expected), language) == expected


def test_words_of_a_language_are_in_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for language in BOUNDARIES:
        known = lexicon(language, "abbreviations")
        assert {"goes_on", "before_numbers", "may_end", "like_abbreviations", "openers"} <= known.keys()
    (tmp_path / "en").mkdir()
    (tmp_path / "en" / "abbreviations.yaml").write_text("- goes_on")
    monkeypatch.setattr("actors.platform.text.lexicon.FOLDER", tmp_path)
    for name in ("abbreviations", "absent"):
        with pytest.raises(ConfigInvalid, match=rf"en/{name}.yaml: .* Take it from the release"):
            lexicon.__wrapped__("en", name)


_MARKDOWN = """\
---
title: Rates. And more.
---
# The bank. Raises rates

The bank **raised rates.**[^1] It did so
on *Tuesday*, members said [2]. _Nobody_ objected.

Setext heading
--------------

- The first item is a sentence. It has two.
- no sentence
1. The third one
   is wrapped.

> A quotation that
> goes on.

| Cell. | Cell. |
|-------|-------|

```
Code. More code.
```

[^1]: The footnote. It goes
on here.

***

The end is near.
"""


def test_of_markdown_only_prose_is_taken() -> None:
    found = sentences(_MARKDOWN)
    assert [(sentence.paragraph, sentence.text) for sentence in found] == [
        (0, "The bank raised rates."),
        (0, "It did so on Tuesday, members said."),
        (0, "Nobody objected."),
        (1, "The first item is a sentence."),
        (1, "It has two."),
        (2, "The third one is wrapped."),
        (3, "A quotation that goes on."),
        (4, "The end is near."),
    ]


def test_lines_of_a_web_page_are_apart_and_wrapped_lines_are_not() -> None:
    page = "Home\nNews\nRates Rise Again\nThe bank raised its rate by a quarter of a point on Tuesday.\nShare"
    assert "The bank raised its rate by a quarter of a point on Tuesday." in _texts(page)
    wrapped = "The Committee voted to raise its target for\nFederal funds by 25 basis points to\n5 percent."
    assert _texts(wrapped) == [" ".join(wrapped.split())]


@pytest.mark.parametrize(
    ("lines", "language", "offered"),
    [
        ("The crane lifts sixty tonnes of stone in a day\nThe divers work at night.", "en", []),
        (
            "The wall fell in the storm of January\nThe beach is closed. It opens in May.",
            "en",
            ["It opens in May."],
        ),
        ("Der Kran hebt am Tag sechzig Tonnen Stein\nDie Taucher arbeiten nachts.", "de", []),
    ],
)
def test_short_lines_without_a_stop_are_not_joined_where_a_sentence_may_begin(
    lines: str, language: Language, offered: list[str]
) -> None:
    assert [text for text in _texts(lines, language) if text.endswith(".")] == offered


def test_the_heading_of_an_item_is_no_part_of_its_sentence() -> None:
    minutes = (
        "2. Head's report\nMr Osman said that 312 pupils were on the roll. He thanked the club.\n\n3. Budget"
    )
    assert _texts(minutes) == ["Mr Osman said that 312 pupils were on the roll.", "He thanked the club."]


def test_captions_are_wrapped_and_their_times_are_none() -> None:
    assert _texts(
        "so today the bank\nraised rates and\nJerome Powell spoke.\n\n00:01 --> 00:02\nHe was calm."
    ) == [
        "so today the bank raised rates and Jerome Powell spoke.",
        "He was calm.",
    ]


def test_quotations_that_never_end_leave_the_sentences_as_they_are() -> None:
    assert _texts("“We act. We wait. We stop.") == ["“We act.", "We wait.", "We stop."]
    many = " ".join(f"Point number {n} was made." for n in range(20))
    assert len(_texts(f"“{many}”")) == 20


def test_places_are_characters_of_the_source() -> None:
    text = "Żółw 😀 śpi.  \r\nDer Bär 𝔅 schläft."
    assert [text[sentence.start : sentence.end] for sentence in sentences(text, "pl")] == [
        "Żółw 😀 śpi.",
        "Der Bär 𝔅 schläft.",
    ]


def test_what_is_longer_than_any_sentence_is_passed_over() -> None:
    long = "word " * 400
    assert _texts(f"First one here. The {long}ends. Last one here.") == ["First one here.", "Last one here."]
    assert _texts(f"First one here. The {long * 20}ends. Last one here.") == [
        "First one here.",
        "Last one here.",
    ]


def test_a_long_paragraph_is_split_like_a_short_one() -> None:
    told = [f"Sentence number {number} of Mr. Smith “says this. And that.”" for number in range(2_000)]
    assert _texts(" ".join(told)) == told


def test_at_most_so_many_are_found() -> None:
    assert len(sentences("Here it is. " * 30_000)) == 20_000


_ANY = st.text(
    alphabet=st.one_of(
        st.characters(exclude_categories=()),
        st.sampled_from('aBcŻ.!?…“”„«»"()[]^1*_#>|-`~ \t\r\n\n  \0\ud800😀'),
    ),
    max_size=200,
)
_MARKUP = ("**", "_", "[^1]", "\n", "\n\n", "- ", "# ", "> ", "```\n", "| a |", "[1]: ", "---\n", "(", ")")
_PROSE = ("The bank rose. ", "“We act. ", "now,” he said. ", "„Tak” ", "r. ", "Dr. ", "5 ", "Die ", "a" * 900)
_PIECES = st.lists(st.sampled_from((*_MARKUP, *_PROSE, "😀", "\ud800", "\0")), max_size=60).map("".join)


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", seen(text))


@given(st.one_of(_ANY, _PIECES), st.sampled_from([None, "en", "pl", "de"]))
def test_each_sentence_is_its_slice_and_they_stand_in_order(text: str, language: Language | None) -> None:
    found = sentences(text, language)
    last = Sentence(text="", start=0, end=0, paragraph=0)
    for sentence in found:
        assert sentence.text == as_read(text[sentence.start : sentence.end])
        assert last.end <= sentence.start < sentence.end <= len(text)
        assert last.paragraph <= sentence.paragraph <= last.paragraph + 1
        assert sentence.text == " ".join(sentence.text.split())
        assert len(sentence.text) <= 1_500
        assert unstorable(sentence.text) is None
        last = sentence


@given(st.one_of(_ANY, _PIECES))
def test_no_word_is_added_and_none_is_moved(text: str) -> None:
    there = iter(_words(text))
    assert all(word in there for sentence in sentences(text) for word in _words(sentence.text))


_REPEATED = (
    ".",
    '"',
    "a.",
    "(",
    "1. ",
    " ",
    "a",
    "“",
    "„ ” ",
    "[",
    "[^",
    "*",
    "_",
    "'",
    "A. B ",
    "Hi “you. ",
    "a, ",
)
_REPEATED_LINES = (
    "\n",
    "a\n",
    "- a.\n",
    "```\n",
    "> ",
    "<a",
    "|",
    "--- ",
    "[1]:\n",
    "---\na:\n",
    "\ud800",
    "\0",
)


@pytest.mark.parametrize("unit", [*_REPEATED, *_REPEATED_LINES, "W 2024 r. "])
def test_a_hostile_megabyte_is_split_soon(unit: str) -> None:
    text = unit * (hostile(1_000_000) // len(unit))
    begun = time.process_time()
    sentences(text)
    assert time.process_time() - begun < 20
