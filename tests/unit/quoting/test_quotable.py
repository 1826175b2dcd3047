"""What is quoted by itself: nobody closes the marks, nobody's words lose their name, nothing is left out."""

import pytest

from actors.platform.extractive.quotable import quotable
from actors.platform.text.language import Language
from actors.platform.text.quotation_marks import can_be_quoted, quoted

LIE = "The bank has lied to the public about its rate."


def told(text: str, language: Language = "en") -> list[str]:
    """What can be quoted of a text."""
    return [one.text for one in quotable(text, language)]


@pytest.mark.parametrize(
    "words",
    [
        "Its rate “stays” as it is.» The regulator has confirmed that the bank is insolvent. «The board met.",
        "The bank said »no« to it, and “yes” to all of that.",
        'The bank held its rate in May" – the regulator has confirmed that – "as it was said.',
        "The bank ❝held❞ its rate, «as it said» in May of that year.",
    ],
)
def test_words_that_could_close_their_marks_are_not_quoted(words: str) -> None:
    assert not can_be_quoted(words)
    assert all(words not in one for one in told(f"{words} Output grew by 3 percent in that year."))
    shown = quoted(words, "en")
    assert (shown[0], shown[-1]) == ("“", "”")
    assert not set(shown[1:-1]) & set("“”«»")


@pytest.mark.parametrize("language", ["en", "pl", "de"])
def test_words_with_marks_of_one_kind_stand_in_the_other(language: Language) -> None:
    for words in ("He said “yes” to it", "He said «yes» to it", 'He said "yes" to it', "He said „yes” to it"):
        shown = quoted(words, language)
        assert shown[1:-1] == words
        assert shown[0] not in words
        assert shown[-1] not in words


def test_a_run_ends_where_something_was_passed_over() -> None:
    long = "Ruth Adeyemi, a banker who " + "really and truly and surely " * 60 + "lied."
    source = f"The minister spoke in the hall. {long} She was convicted of fraud in 2019."
    assert told(source) == ["The minister spoke in the hall."]


@pytest.mark.parametrize(
    "source",
    [
        f"Ruth Adeyemi:\n\n{LIE}\n\nTom Smith:\n\nThat is not so at all, my friend.",
        f"Speaker 1: Rates will fall soon.\n\n{LIE}\n\nSpeaker 2: The rates will not fall.",
        f"[00:01:02] Ruth Adeyemi: Rates will fall soon.\n\n{LIE}\n\n[00:02:00] Tom Smith: The rates rise.",
        f"Ruth Adeyemi, Governor: Rates will fall.\n\n{LIE}\n\nTom Smith, Chairman: The rates will rise.",
        f"Ruth Adeyemi: Rates will fall soon.\n\n{LIE}\n\nTom Smith: The rates will not fall.",
        f"Dana Whitfield -- Chief Executive Officer\n\n{LIE}\n\nTom Smith -- Analyst\n\nThank you for that.",
        f"The following claims are false:\n\n- {LIE}\n- The vaccine kills one person in ten.",
        f"The critic wrote of the bank:\n\n> {LIE}",
        f"He told the court of it: “It is a fraud. {'The directors have stolen it. ' * 60}{LIE} It is over.”",
        f"“Rates will fall soon enough. Nobody knows.\n\n“{LIE} The end is near.”",
    ],
)
def test_nobody_s_words_are_quoted_as_the_source_s_own(source: str) -> None:
    assert [one for one in told(source) if LIE in one and not one.startswith(("Ruth", "Speaker", "["))] == []


def test_a_label_that_is_no_name_makes_no_transcript() -> None:
    source = (
        "Revenue: £412m, up 3 percent.\n\nNet debt was cut to £40m in the year.\n\n"
        "Revenue: £96m in the north of the country.\n\nThe dividend stays at 4 pence a share."
    )
    assert "Net debt was cut to £40m in the year." in told(source)
    assert "The dividend stays at 4 pence a share." in told(source)


def test_a_word_broken_at_the_end_of_a_line_is_not_guessed_at() -> None:
    source = (
        "Nobody was hurt in the har-\nbour that day. The pier is closed to all of them now.\n\n"
        "Die Ein-\nund Ausfuhr von Holz stieg."
    )
    assert told(source) == ["The pier is closed to all of them now.", "Die Ein- und Ausfuhr von Holz stieg."]


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("Growth was in the range [3] to [5] percent.", "Growth was in the range [3] to [5] percent."),
        ("The effect was small (95% CI [12, 18]) in men.", "The effect was small (95% CI [12, 18]) in men."),
        ("Growth was small[3] in that year [4, 5].", "Growth was small in that year."),
    ],
)
def test_numbers_in_brackets_that_are_no_footnotes_stay(source: str, shown: str) -> None:
    assert told(source) == [shown]
