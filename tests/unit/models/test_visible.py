"""Which characters can be seen: joiners only where a script or an emoji is written with them."""

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.plain_text import plain
from models.people.lookalikes import fault_of
from models.text import one_line, seen, unseen_in
from models.visible import MOST_MARKS, first_hidden, shows_something, unseen

# With names that sound blank, and a shape.
_SHAPES = frozenset("\u2400\u2422\ua8f9\U00010af6\U0001144e\U00011945")
NORMAL = (
    "Zażółć gęślą jaźń – „tak”",
    "Größe, Maß & Straße",
    "Tie\u0302\u0301ng Vie\u0323\u0302t",
    "مرحبا بالعالم",
    "می\u200cخواهم",
    "\u05d1\u05bc\u05b0\u05e8\u05b5\u05d0\u05e9\u05c1\u05b4\u0596\u05d9\u05ea",
    "नमस्ते क्\u200dष",
    "ශ්\u200dරී ලංකා",
    "\u182e\u1823\u180b\u1829",
    "漢字かな 한국어 ไทยที่นี่ བོད་ཡིག",
    "\u0601\u0661\u0662",
    "👩\u200d👩\u200d👧",
    "🏳\ufe0f\u200d🌈 ❤\ufe0f ❤\ufe0e 1\ufe0f\u20e3 ‼\ufe0f",
    "👩🏽\u200d⚕\ufe0f 🙂\u200d↔\ufe0f 🇵🇱 🩷",
    "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "€ 5 × 3 ≠ ∞",
)
HIDDEN = (
    *"\u3164\u2800\u034f\u115f\u1160\uffa0\u17b4\u17b5\u2065\u00ad\u200b\u200e\u202e\u2066\ufeff\u0378\ue000",
    *"\U00013430\U00013441\U0001d159\U0001d173\U0001bca0\U0001fffe\U00016fe4\U000e0041\U000e0101\U000e0fff",
    *"\u200c\u200d\ufe00\ufe0e\ufe0f\u180b\u180f",
)
TRICKY = st.text(
    st.sampled_from(
        "a \n\u0301\u0646\u064e\u200c\u200d\ufe0f\u20e3#1👩🏽⚕🏴\u180b\u1820\u200b\u3164\u202e\x07\U000e0067"
    )
    | st.characters(exclude_categories=()),
    max_size=60,
)


@pytest.mark.parametrize("text", NORMAL)
def test_what_people_write_is_taken_and_shown_as_it_is(text: str) -> None:
    assert unseen_in(text, lines=False) is None
    assert seen(text) == one_line(text) == plain(text) == text
    assert shows_something(text)


@pytest.mark.parametrize("hidden", HIDDEN, ids=ascii)
def test_what_can_not_be_seen_is_refused_taken_out_and_written_out(hidden: str) -> None:
    for text in (hidden, hidden * 3, f"a{hidden}b", f"a1{hidden}", f"  {hidden}"):
        assert f"U+{ord(hidden):04X}" in (unseen_in(text, lines=True) or "")
        assert first_hidden(plain(text)) is None
        assert plain(text) != text
    assert seen(f"a{hidden}b") == "ab"
    assert plain(f"a{hidden}b") == f"a{ascii(hidden)[1:-1]}b"
    assert not shows_something(hidden * 3)
    assert fault_of(f"ann{hidden}")


@pytest.mark.parametrize(
    "text",
    ["a\u200cb", "\u200d👩", "👩\u200d", "👩\u200da", "👩\u200d\u200d👩", "a\ufe0f", "1\ufe0f",
     "❤\ufe0f\ufe0f",
     "\u0646\u200c\u200c\u0646", "\u1820\u180b\u180b", "🏴\U000e0067\U000e0062", "a\U000e0067\U000e007f"],
    ids=ascii,
)  # fmt: skip
def test_joiners_and_selectors_stand_only_where_something_is_written_with_them(text: str) -> None:
    assert unseen_in(text, lines=True) is not None
    assert plain(text) != text
    assert unseen_in(seen(text), lines=True) is None


def test_marks_on_one_letter_are_few() -> None:
    assert unseen_in("x" + "\u0301" * MOST_MARKS, lines=False) is None
    heap = "x" + "\u0301" * 400
    assert "U+0301" in (unseen_in(heap, lines=False) or "")
    assert seen(heap) == "x" + "\u0301" * MOST_MARKS


@pytest.mark.parametrize(
    "blank", ["\u0301", "\u00a0\u3000", " \u0301 ", "\u200d", "\u3164\u2800", ""], ids=ascii
)
def test_what_shows_nothing_is_blank(blank: str) -> None:
    assert not shows_something(blank)
    assert (unseen_in(blank, lines=False) is None) == (not blank.strip())


@given(TRICKY)
def test_what_is_seen_is_seen_whole_and_stays(text: str) -> None:
    kept = seen(text)
    assert first_hidden(kept) is None
    assert seen(kept) == kept
    assert first_hidden(plain(text)) is None
    assert plain(plain(text)) == plain(text)


def test_all_that_unicode_calls_blank_or_a_format_is_in_the_table() -> None:
    """Formats that stand under digits are seen: each of them is a sign or a mark by its name."""
    for character in map(chr, range(sys.maxunicode + 1)):
        words = set(unicodedata.name(character, "").split())
        if {"BLANK", "FILLER", "INVISIBLE", "NULL"} & words:
            assert unseen(character) == (character not in _SHAPES), ascii(character)
        if unicodedata.category(character) == "Cf" and not unseen(character):
            assert {"SIGN", "MARK", "AYAH", "ABOVE", "BELOW", "FOOTNOTE", "SANAH"} & words, ascii(character)
