"""An article's text as a source: its own words, without the footnotes that say whose others are."""

import pytest

from actors.platform.text.footnotes import without_footnotes


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("It held.[^1] It cut.[^2]\n\n[^1]: Minutes\n\n[^2]: Notes\n", "It held. It cut."),
        ("Held [^a-b], and cut [^1][^2].", "Held, and cut."),
        ("One.[^1]\n\n## Footnotes\n\n[^1]: Minutes\n[^2]: Notes\n", "One."),
        ("One.[^1]\n\n## Przypisy\n[^1]: Minutes\n    and more\n\n    and again\n", "One."),
        ("One.[^1]\n\n[^1]: Minutes\nthat go on\n\nTwo.\n\n## 3\n\n4.", "One.\n\nTwo.\n\n## 3\n\n4."),
        ("## Rates\n\nOne.\n\n   [^x]: Minutes", "## Rates\n\nOne."),
        ("An array a[1], a power x^2 and [a](b).", "An array a[1], a power x^2 and [a](b)."),
        ("[^1]: Only a note", ""),
    ],
)
def test_marks_notes_and_their_heading_are_no_words_of_a_text(text: str, own: str) -> None:
    assert without_footnotes(text) == own
