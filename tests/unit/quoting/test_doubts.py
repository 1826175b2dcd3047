"""Doubts that code finds about quotations, in three languages; and headlines, lengths, sections, marks."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.platform.extractive.candidates import Candidate, ranked, shortlist
from actors.platform.extractive.doubts import doubts
from actors.platform.extractive.fit_length import Length, count_for, fitted, length_of, words_of
from actors.platform.extractive.headlines import headlines
from actors.platform.extractive.sections import Section, headings, sections
from actors.platform.text.language import Language
from actors.platform.text.quotation_marks import quoted
from actors.platform.text.sentences.sentences import sentences

DAY = date(2026, 6, 1)


def found(source: str, language: Language, said_on: date | None = DAY, written_on: date = DAY) -> list[str]:
    """The kinds of doubt about the first sentence of a source."""
    first = list(sentences(source, language))[:1]
    return [d.kind for d in doubts(first, source, language, said_on=said_on, written_on=written_on)]


@pytest.mark.parametrize(
    ("language", "source", "kinds"),
    [
        ("en", "Prices rose by 3 percent. However, energy became cheaper.", ["goes_on_otherwise"]),
        ("en", "Prices rose by 3 percent. Energy became cheaper.", []),
        ("pl", "Ceny wzrosły o 3 proc. Jednak energia potaniała.", ["goes_on_otherwise"]),
        ("de", "Die Preise stiegen um 3 Prozent. Allerdings wurde Energie billiger.", ["goes_on_otherwise"]),
        (
            "en",
            "Prices rose by 3 percent in May.\n\nCorrection: An earlier version had prices for May in it.",
            ["set_right"],
        ),
        ("en", "We expect prices to rise by 3 percent.", ["first_person"]),
        ("en", "“We expect prices to rise,” said the governor of the bank.", []),
        ("en", "Ruth Adeyemi (Labour): We expect prices to rise by 3 percent.", []),
        ("pl", "Nasz bank oczekuje wzrostu cen o 3 proc.", ["first_person"]),
        ("de", "Unser Haus erwartet steigende Preise im Herbst.", ["first_person"]),
    ],
)
def test_a_doubt_is_told_by_what_is_said(language: Language, source: str, kinds: list[str]) -> None:
    assert found(source, language) == kinds


@pytest.mark.parametrize(
    ("language", "source"),
    [
        ("en", "The board decided today to keep its rate at 4 percent."),
        ("pl", "Rada zdecydowała dziś o utrzymaniu stopy na poziomie 4 proc."),
        ("de", "Der Rat hat heute beschlossen, den Zins bei 4 Prozent zu lassen."),
    ],
)
def test_a_day_told_by_a_word_needs_a_date_that_is_not_old(language: Language, source: str) -> None:
    assert found(source, language) == []
    assert found(source, language, said_on=None) == ["undated"]
    assert found(source, language, written_on=date(2027, 6, 1)) == []
    assert found(source, language, written_on=date(2027, 6, 2)) == ["stale"]


@pytest.mark.parametrize(
    ("titles", "chosen", "first"),
    [
        (["Rates held in June"], ["The bank held its rate."], "Rates held in June"),
        (["rates_2026.csv"], ["The bank held its rate."], "The bank held its rate"),
        (["x"], ["It fell, according to a false report."], "It fell, according to a false report"),
        (["x"], ["Six voted for it; two preferred a cut."], "Six voted for it; two preferred a cut"),
        (["x"], ["Output rose by 3 p.c."], "Output rose by 3 p.c."),
        (["x"], ["The " + "very " * 60 + "long one."], "x"),
        ([], ["Short one."], "Short one."),
    ],
)
def test_a_headline_is_a_title_or_a_whole_sentence(titles: list[str], chosen: list[str], first: str) -> None:
    assert headlines(titles, chosen, "en")[0] == first


@pytest.mark.parametrize(
    ("told", "least", "most"),
    [
        ("900-1200", 900, 1200),
        ("about 300 words", 240, 360),
        ("1,200 to 900", 900, 1200),
        ("short", 150, 300),
        ("0", 1, 1),
    ],
)
def test_a_length_is_read_as_people_tell_it(told: str, least: int, most: int) -> None:
    assert length_of(told) == Length(least=least, most=most)


_SENTENCE = st.integers(4, 30).map(lambda n: "The " + " ".join(["word"] * n) + f" number {n} ends.")


@given(st.lists(st.integers(0, 39), max_size=40, unique=True), st.integers(10, 300), st.integers(0, 200))
@pytest.mark.heavy
def test_a_text_is_as_long_as_it_should_be_where_its_source_has_enough(
    choice: list[int], least: int, more: int
) -> None:
    topics = (
        "bank",
        "harbour",
        "reef",
        "tree",
        "vaccine",
        "battery",
        "telescope",
        "school",
        "river",
        "train",
    )
    source = " ".join(
        f"The {topic} {verb} {n} of its {n + 7} {topic}{verb} {topic}s in year {n}."
        for n, (topic, verb) in enumerate(
            [(t, v) for t in topics for v in ("lost", "gained", "sold", "built")]
        )
    )
    best = ranked(shortlist([source], "bank", most=60), vectors=None, request=None, most=60)
    length = Length(least=least, most=least + more)
    chosen = [best[n] for n in choice if n < len(best)]
    kept = fitted(chosen, best, length)
    words = sum(words_of(one) for one in kept)
    everything = sum(words_of(one) for one in best)
    longest = max(words_of(one) for one in best)
    assert len(kept) == len({one.text for one in kept}) >= 1
    assert words <= max(length.most, longest)
    assert words >= min(length.least, everything) or words + longest > length.most
    assert 1 <= count_for(best, length) <= len(best)


def test_headings_are_of_the_fixed_list_and_short_texts_have_none() -> None:
    source = " ".join(
        [f"The bank will sell its {n} next year." for n in ("houses", "barges", "woods")]
        + [f"The {n} lost 40 ships and 12 boats." for n in ("harbour", "navy", "fleet")]
        + [f"The {n} met in the old hall." for n in ("board", "council", "senate")]
    )
    best = [Candidate(source=0, sentence=one, relevance=1.0) for one in sentences(source, "en")]
    assert [heading for heading, _ in sections(best[:3], "en")] == [None]
    told = sections(best, "en")
    assert [heading for heading, _ in told] == list(headings("en").values())
    assert [len(part) for _, part in told] == [3, 3, 3]
    assert sorted(one.text for _, part in told for one in part) == sorted(one.text for one in best)


@pytest.mark.parametrize(
    ("language", "text", "heading"),
    [
        ("en", "Output grew 0.3 percent in the quarter, and exports by 1.2 percent.", "figures"),
        ("en", "The meeting of 7 October 2025 closed at 20:05.", "event"),
        ("en", "The bank will decide again in June.", "outlook"),
        ("pl", "Zebranie odbyło się dn. 14.10.2025 r. o godz. 18.00 przy ul. Lipowej 4.", "event"),
        ("pl", "Zaległości wzrosły do 42 150 zł, w tym 28 tys. zł to trzy lokale.", "figures"),
        ("de", "Einwände gegen die Niederschrift vom 18.09. werden nicht erhoben.", "event"),
        ("de", "Der Rat wird im nächsten Jahr neu entscheiden.", "outlook"),
        ("de", "Nach § 558a Abs. 2 Nr. 4 BGB ist das Verlangen unwirksam.", "event"),
    ],
)
def test_a_sentence_s_section_is_told_by_its_words(language: Language, text: str, heading: Section) -> None:
    told = [Candidate(source=0, sentence=one, relevance=1.0) for one in sentences(text, language)] * 9
    assert [name for name, _ in sections(told, language)] == [headings(language)[heading]]


@pytest.mark.parametrize(
    ("language", "words", "shown"),
    [
        ("en", "It rose.", "“It rose.”"),
        ("pl", "Wzrosło.", "„Wzrosło.”"),
        ("de", "Es stieg.", "„Es stieg.“"),
        ("en", "“It rose,” she said.", "«“It rose,” she said.»"),
        ("en", '"It rose," she said.', '“"It rose," she said.”'),
    ],
)
def test_quotation_marks_are_those_of_the_language(language: Language, words: str, shown: str) -> None:
    assert quoted(words, language) == shown
