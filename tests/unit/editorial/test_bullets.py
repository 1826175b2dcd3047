"""The bullet parser (seed 004 §6.1.1)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.systems.editorial.bullets import parse_bullets
from models.content.editorial import Concern
from models.errors import ReviewUnreadable


def parsed(markdown: str) -> list[tuple[str, str]]:
    """(excerpt, review_note) of each concern, after a look at the numbers."""
    concerns = parse_bullets(markdown).concerns
    assert [concern.concern_id for concern in concerns] == list(range(1, len(concerns) + 1))
    return [(concern.excerpt, concern.review_note) for concern in concerns]


@pytest.mark.parametrize("markdown", ["", " ", "\n", "\r\n \t\n"])
def test_an_empty_review_has_no_concerns(markdown: str) -> None:
    assert parse_bullets(markdown).concerns == []


def test_both_marks_start_a_bullet() -> None:
    assert parse_bullets('- "a": not in the source\n* “b”: inferred').concerns == [
        Concern(concern_id=1, excerpt="a", review_note='"a": not in the source'),
        Concern(concern_id=2, excerpt="b", review_note="“b”: inferred"),
    ]


def test_a_bullet_goes_on_to_the_next_bullet() -> None:
    note = "“first”: the source\n  says otherwise\n\n  - a sub-bullet\n\t* another\nand a last line"
    assert parsed(f"- {note}\n\n- second") == [("first", note), ("second", "second")]


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n"])
def test_line_ends_do_not_matter(end: str) -> None:
    assert parsed(end.join(["- one", "  more", "- two", ""])) == [
        ("one\n  more", "one\n  more"),
        ("two", "two"),
    ]


def test_text_before_the_first_bullet_is_passed_over() -> None:
    assert parsed('Here is my "review":\n\n- “a” is new') == [("a", "“a” is new")]


@pytest.mark.parametrize(
    "markdown",
    [
        "No concerns.",
        "1. a numbered list",
        "-no space",
        "+ a plus",
        "  - indented",
        "-",
        "- ",
        "*  \n- \n",
        "–",
    ],
)
def test_a_review_without_a_bullet_that_says_something_is_unreadable(markdown: str) -> None:
    with pytest.raises(ReviewUnreadable, match="no line of it begins a bullet"):
        parse_bullets(markdown)


def test_an_empty_bullet_is_passed_over_and_not_counted() -> None:
    assert parsed("- \n- one\n* \n- two") == [("one", "one"), ("two", "two")]


def test_a_bullet_may_begin_on_its_second_line() -> None:
    assert parsed("- \n  the text") == [("the text", "the text")]


@pytest.mark.parametrize(
    ("note", "excerpt"),
    [
        ('"straight" before “curly”', "curly"),
        ("“first” and “second”", "first"),
        ('"first" and "second"', "first"),
        ("“” then “real”", "real"),
        ('“ ” then "real"', "real"),
        ('"" then "real"', "real"),
        ('"  " and no more', '"  " and no more'),
        ("“never closed", "“never closed"),
        ('“never closed, "but this is"', "but this is"),
        ("closed only”", "closed only”"),
        ('a 5" pipe', 'a 5" pipe'),
        ('a "quote" and a 5" pipe', "quote"),
        ("“outer “inner” rest”", "outer “inner"),
        ("”wrong way round“", "”wrong way round“"),
        ("“over\n  two lines” is new", "over\n  two lines"),
        ("“ padded ” is new", " padded "),
        ("'single' quotes", "'single' quotes"),
    ],
)
def test_the_excerpt_is_the_first_quotation(note: str, excerpt: str) -> None:
    assert parsed(f"- {note}") == [(excerpt, note)]


@pytest.mark.heavy
def test_a_large_review_is_quick() -> None:
    assert len(parsed("- “" * 300_000)) == 1
    assert len(parsed('- ""\n' * 100_000)) == 100_000


REVIEWS = st.lists(st.sampled_from(["- ", "* ", "-", "“", "”", '"', "\n", "\r\n", "a b", "  ", "é"])).map(
    "".join
)


@given(st.text() | REVIEWS)
def test_every_text_is_parsed_or_refused_and_always_alike(markdown: str) -> None:
    try:
        concerns = parse_bullets(markdown).concerns
    except ReviewUnreadable:
        assert markdown.strip()
        with pytest.raises(ReviewUnreadable):
            parse_bullets(markdown)
        return
    assert concerns == parse_bullets(markdown).concerns
    assert bool(concerns) == bool(markdown.strip())
    for concern in concerns:
        assert concern.excerpt.strip()
        assert concern.excerpt in concern.review_note
        assert concern.review_note in markdown.replace("\r\n", "\n").replace("\r", "\n")


NOTES = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), min_size=1).filter(
    lambda note: note == note.strip()
)


@given(st.lists(NOTES, min_size=1))
def test_a_list_of_bullets_comes_back_whole(notes: list[str]) -> None:
    assert [note for _, note in parsed("\n".join(f"- {note}" for note in notes))] == notes
