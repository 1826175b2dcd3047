"""The form in which texts are compared: as it always was for ordinary texts, and bounded for all others."""

import time
import tracemalloc
import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from actors.platform.text import normal_form
from actors.platform.text.bearing import bears_on
from actors.platform.text.relevance import best_passages

# One character that Unicode takes apart into 18: a whole sentence.
SENTENCE = "\ufdfa"

_ENGLISH = "abcxyzABCXYZ0129"
_POLISH = "ąćęłńóśźżĄĆĘŁŃÓŚŹŻ"
_GERMAN = "äöüßÄÖÜẞ"
_OTHERS = "éèçñøœæđåÉÇÑØŒÆĐÅİıčřžßαβγάΣσςабвгїй"
_LIGATURES = "ﬀﬁﬂﬃﬄﬅﬆĳǆ"
_FULL_WIDTH = "ＡＢＺａｂｚ０１９！，ｶﾞ"
_ODD = "ℌ℻℠™½²①⑴⒈㍿㌖㎏한각漢字\u0301\u0316\u0345İ…"
_MARKS = " \t\n\u00a0\u3000.,;:!?-_'\"„”()"
ORDINARY = _ENGLISH + _POLISH + _GERMAN + _OTHERS + _LIGATURES + _FULL_WIDTH + _ODD + _MARKS

_TEXTS = st.text(alphabet=ORDINARY, max_size=80)


def words_as_they_were(text: str) -> str:
    """The whole text at once, each character taken apart however long that makes it."""
    folded = _apart(text).casefold().translate(normal_form._FOLDED)
    plain = "".join(c for c in _apart(folded) if not unicodedata.combining(c))
    return " ".join(normal_form._WORD.findall(plain))


def _apart(text: str) -> str:
    return "".join(unicodedata.normalize("NFKD", character) for character in text)


@given(_TEXTS)
@example("Zażółć gęślą jaźń: ﬁnanse, STRAẞE ＦＥＤ ㌖")
def test_words_of_ordinary_texts_are_as_they_were(text: str) -> None:
    assert normal_form.words(text) == words_as_they_were(text)


@given(st.lists(st.text(alphabet=ORDINARY, max_size=5), min_size=1, max_size=60))
def test_words_of_long_texts_are_as_they_were(pieces: list[str]) -> None:
    text = " ".join(pieces) + " word" * 1997 + " ".join(pieces) + "\n"
    text *= 3
    assert normal_form.words(text) == words_as_they_were(text)


@given(_TEXTS)
def test_a_part_of_a_long_text_ends_at_a_blank(text: str) -> None:
    long = f"{text} {'ordinary words, źdźbło. ' * 1500}{text}"
    parts = list(normal_form.words_in_parts(long))
    assert len(parts) > 1
    assert " ".join(part for part in parts if part) == words_as_they_were(long)


def test_what_would_become_a_sentence_stays_a_character() -> None:
    assert normal_form.words(f"Fed {SENTENCE} hikes") == f"fed {SENTENCE} hikes"


def _whole(text: str) -> None:
    normal_form.words(text)


def _bears(text: str) -> None:
    bears_on("why did inflation fall?", text)


def _passages(text: str) -> None:
    best_passages(text, "why did inflation fall?", 2000)


@pytest.mark.parametrize("read", [_bears, _passages])
@pytest.mark.parametrize(
    "unit", [SENTENCE, "\ufdfb", "a. ", "\u321d ", "ﷲ\n", "x", "ﬃ"], ids=lambda unit: ascii(unit)
)
def test_a_text_is_read_in_little_memory_whatever_it_carries(read: Callable[[str], None], unit: str) -> None:
    text = unit * (300_000 // len(unit))
    tracemalloc.start()
    try:
        read(text)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 8_000_000


@pytest.mark.parametrize("read", [_whole, _bears, _passages])
@pytest.mark.parametrize("unit", [SENTENCE, SENTENCE + " ", "\ufdfb"], ids=lambda unit: ascii(unit))
def test_a_text_is_read_soon_whatever_it_carries(read: Callable[[str], None], unit: str) -> None:
    begun = time.process_time()
    read(unit * (400_000 // len(unit)))
    assert time.process_time() - begun < 1.5
