"""Which sentences may be quoted: with what they lean on, none twice, and in their sources' order."""

from hypothesis import given

from actors.platform.extractive.candidates import in_order, ranked, shortlist
from actors.platform.extractive.quotable import quotable
from tests.unit.quoting.hostile import SOURCES, stand_in, words

RATES = (
    "The Board kept its policy rate at 4.25 percent. It gave no reason for this. "
    "Six members voted for the decision.\n\nConsumer prices rose 3.1 percent in the year to January. "
    "However, energy prices have fallen since the autumn. Exports of machinery weakened."
)


def test_what_leans_on_the_sentence_before_comes_along_with_it() -> None:
    assert [one.text for one in quotable(RATES, "en")] == [
        "The Board kept its policy rate at 4.25 percent. It gave no reason for this.",
        "Six members voted for the decision.",
        "Consumer prices rose 3.1 percent in the year to January. "
        "However, energy prices have fallen since the autumn.",
        "Exports of machinery weakened.",
    ]


def test_what_somebody_says_is_quoted_with_the_name_before_it_or_not_at_all() -> None:
    source = (
        "Ruth Adeyemi (Labour): The budget covers half of the need. The rest is missing.\n\n"
        "The house voted at ten."
    )
    assert [one.text for one in quotable(source, "en")] == [
        "Ruth Adeyemi (Labour): The budget covers half of the need. The rest is missing.",
        "The house voted at ten.",
    ]
    long = (
        "Ruth Adeyemi: "
        + "The budget of this house covers less than half of the need in all of its parts. " * 8
    )
    assert [one.text.count("budget") for one in quotable(long, "en")] == [4]


def test_in_a_transcript_nobody_s_words_are_quoted_without_a_name() -> None:
    source = (
        "Ruth Adeyemi (Labour): Mr Speaker! My lords! The budget covers half of the need.\n\n"
        "The rest of the money is missing.\n\n"
        "The Minister for Housing (Sarah Whitcombe): Thank you.\n\n"
        "Ruth Adeyemi (Labour): The courts wait for a penny more. I answer: the need is there."
    )
    assert [one.text for one in quotable(source, "en")] == [
        "Ruth Adeyemi (Labour): Mr Speaker! My lords! The budget covers half of the need.",
        "Ruth Adeyemi (Labour): The courts wait for a penny more. I answer: the need is there.",
    ]


def test_a_text_of_quotations_can_be_quoted_again_without_its_marks() -> None:
    article = (
        "Rates, 1 March 2026: “The Board kept its rate.”[^1] "
        "“Six members (\\[sic\\]) voted for that.”[^2]\n\n"
        "“Nobody gave any reason.”\n\n## Footnotes\n\n[^1]: Rates, characters 0–24"
    )
    found = quotable(article, "en")
    assert [one.text for one in found] == [
        "Rates, 1 March 2026: “The Board kept its rate.”",
        "Six members ([sic]) voted for that.",
    ]
    assert article[found[1].start : found[1].end] == "Six members (\\[sic\\]) voted for that."


def test_what_is_taken_back_at_once_is_quoted_with_that_or_not_at_all() -> None:
    long = "However, " + "energy prices have fallen in every single one of the months since the autumn " * 5
    source = f"Consumer prices rose 3.1 percent in the year to January. {long.strip()}."
    assert quotable(source, "en") == []


def test_the_same_sentence_in_two_sources_is_offered_once() -> None:
    twice = shortlist([RATES, RATES], "the policy rate", most=50)
    assert sorted(one.text for one in twice) == sorted(one.text for one in quotable(RATES, "en"))
    assert twice[0].text.startswith("The Board kept its policy rate")


def test_chosen_sentences_stand_in_the_order_of_their_source() -> None:
    best = ranked(shortlist([RATES], "exports of machinery", most=9), vectors=None, request=None, most=9)
    assert best[0].text == "Exports of machinery weakened."
    starts = [one.sentence.start for one in in_order(best)]
    assert starts == sorted(starts)


@given(SOURCES)
def test_a_candidate_is_its_source_s_own_words(source: str) -> None:
    for one in shortlist([source], "the rate in June", most=60):
        assert stand_in(words(one.text), source), one.text
        assert 0 <= one.sentence.start < one.sentence.end <= len(source)
