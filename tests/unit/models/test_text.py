"""Text as it can be kept, shown and cut: for any text, and quickly."""

import time
from collections.abc import Callable

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from models import text as texts
from models.visible import shows_something, unseen

# Halves of pairs, marks of direction, escape sequences and joiners among all the rest.
ANY = st.text(
    alphabet=st.characters(exclude_categories=())
    | st.sampled_from("\0\ud800\udc00\u202e\u200d\u200c\u3164\ufe0f\u0301\u0646\U0001f469\x1b[]m \n\t…"),
    max_size=200,
)


def _categories(text: str) -> set[str]:
    """Those of what steers, ends lines or isn't seen, by newer tables than Python's own."""
    seen = r"\p{Extended_Pictographic}--\p{Prepended_Concatenation_Mark}"
    names = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
    return {name for name in names if regex.search(rf"[\p{{{name}}}--{seen}]", text, regex.V1)}


def test_what_is_counted_is_in_the_plural_unless_it_is_one() -> None:
    assert [texts.how_many(count, "page") for count in (0, 1, 2)] == ["0 pages", "1 page", "2 pages"]
    assert [texts.how_many(count, "category", "categories") for count in (1, 2)] == [
        "1 category",
        "2 categories",
    ]


@given(ANY)
def test_what_is_storable_can_be_stored_and_what_was_stays(text: str) -> None:
    kept = texts.storable(text)
    assert texts.unstorable(kept) is None
    assert (kept == text) == (texts.unstorable(text) is None)
    assert len(kept) == len(text) - text.count("\0")


@pytest.mark.parametrize(("text", "fault"), [("a\0", "NUL"), ("\ud800", "surrogate"), ("\udc00\0", "NUL")])
def test_what_cannot_be_stored_is_told(text: str, fault: str) -> None:
    assert fault in (texts.unstorable(text) or "")


@given(ANY)
def test_without_halves_a_text_is_utf_8_of_the_same_length(text: str) -> None:
    kept = texts.without_halves(text)
    assert kept.encode().decode() == kept
    assert len(kept) == len(text)
    assert all(now == before for now, before in zip(kept, text, strict=True) if now != "?")


@given(ANY)
def test_one_line_is_one_and_shows_all_there_is(text: str) -> None:
    line = texts.one_line(text)
    assert line == " ".join(line.split())
    assert not {"Cc", "Cs", "Co", "Zl", "Zp"} & _categories(line)
    assert not set("\u200b\u202a\u202b\u202d\u202e\u2066\u2069\ufeff") & set(line)
    assert texts.one_line(line) == line
    assert [c for c in line if c.isalnum()] == [c for c in text if c.isalnum() and not unseen(c)]


def test_joiners_stay_in_what_is_shown_and_go_in_what_is_logged() -> None:
    assert texts.one_line("👩\u200d🔬 a\u200bb\x1f\ue000c") == "👩\u200d🔬 ab c"
    assert texts.printable("👩\u200d🔬 a\x1fb") == "👩🔬 a b"


@given(ANY)
def test_what_is_printable_has_no_other_character(text: str) -> None:
    shown = texts.printable(text)
    assert not {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"} & _categories(shown)
    assert texts.printable(shown) == shown


@given(ANY)
def test_a_flat_text_has_no_control_character(text: str) -> None:
    assert not {"Cc", "Zl", "Zp"} & _categories(texts.flat(text))


@given(ANY, st.integers(1, 60))
def test_what_is_cut_is_short_and_begins_as_the_text_does(text: str, most: int) -> None:
    line = texts.one_line(text)
    for short, whole in ((texts.cut(text, most), text), (texts.shortened(text, most), line)):
        assert len(short) <= most
        assert short == whole or (short[-1] == "…" and whole.startswith(short[:-1]))
        assert (short == whole) >= (len(whole) <= most)
    assert texts.shortened(texts.shortened(text, most), most) == texts.shortened(text, most)


@given(
    st.lists(st.text("aż", min_size=1, max_size=5), min_size=1, max_size=30).map(" ".join),
    st.integers(12, 60),
)
def test_short_words_are_not_cut(line: str, most: int) -> None:
    for short in (texts.shortened(line, most), texts.cut_to_bytes(line, 2 * most)):
        assert short == line or line.startswith(short[:-1] + " ")


@given(ANY, st.integers(0, 60))
def test_so_many_bytes_hold_the_start_of_a_text(text: str, size: int) -> None:
    whole, start = texts.without_halves(text), texts.start_of(text, size)
    assert whole.startswith(start)
    assert len(start.encode()) <= size
    assert start == whole or len(whole[: len(start) + 1].encode()) > size
    short = texts.cut_to_bytes(text, size)
    assert len(short.encode()) <= max(size, 3)
    assert (short == whole) >= (len(whole.encode()) <= size)


@pytest.mark.parametrize(
    "of",
    [
        texts.storable,
        texts.seen,
        texts.shortened,
        texts.flat,
        texts.printable,
        lambda text: texts.cut(text, 100_000),
        lambda text: texts.cut_to_bytes(text, 100_000),
    ],
)
@pytest.mark.parametrize(
    "part",
    ["\x1b]", "\x1b[0", "\u202e", " \t", "\ud800", "\0", "a ", "\u0301", "\u0646\u200c", "\U0001f469\u200d"],
)
def test_a_hostile_text_takes_no_time(of: Callable[[str], str], part: str) -> None:
    began = time.process_time()
    of(part * 200_000)
    assert time.process_time() - began < 1.0


@given(ANY)
def test_what_is_refused_is_what_would_not_be_seen(text: str) -> None:
    """On one line nothing but spaces is put otherwise of what is taken."""
    label = texts.unseen_in(text, lines=False) is None
    told = not text.strip() or shows_something(text)
    assert label == (texts.seen(text) == text and told and not set("\t\n\r") & set(text))
    assert (texts.unseen_in(text, lines=True) is None) == (texts.seen(text) == text and told)
    if label:
        assert texts.one_line(text) == " ".join(text.split())


@pytest.mark.parametrize(
    "character", ["\x1b", "\x07", "\x85", "\u202e", "\u2066", "\u200f", "\u200b", "\u2028", "\ufeff"]
)
def test_what_steers_is_named(character: str) -> None:
    for lines in (True, False):
        assert f"U+{ord(character):04X}" in (texts.unseen_in(f"Rates{character} held", lines=lines) or "")
    assert texts.unseen_in("\u0646\u200c\U0001f468\u200d\U0001f469 ✔\ufe0f zł", lines=False) is None
