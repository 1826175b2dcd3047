"""How much of a question a text shares is told as by comparing each word with each, only sooner."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from actors.platform.text import normal_form
from actors.platform.text.relevance import QuestionWords, content_words

_LETTERS = st.text(alphabet="abcdeł ó.2", max_size=60)
_ANY = st.text(
    alphabet=st.one_of(
        st.characters(exclude_characters="\ufdfa"),  # which stays as it is
        st.sampled_from("\u0301\u0316\u0345\u0f73\u1fb4\uac01\u212dłßİıℌ a"),
    ),
    max_size=40,
)


def _each_with_each(question: str, text: str) -> int:
    beginnings = {word[: max(4, len(word) - 2)] for word in content_words(question)}
    there = normal_form.words(text).split()
    return sum(any(word.startswith(beginning) for word in there) for beginning in beginnings)


@given(question=_LETTERS, text=_LETTERS)
def test_as_many_are_shared_as_by_comparing_each_with_each(question: str, text: str) -> None:
    assert QuestionWords(question).shared_with(text) == _each_with_each(question, text)


def test_inflected_words_share_their_beginning() -> None:
    assert QuestionWords("Jaka jest inflacja?").shared_with("O inflacji w maju.") == 1
    assert QuestionWords("Jaka jest inflacja?").shared_with("O stopach w maju.") == 0


def test_of_a_pasted_text_the_first_words_count() -> None:
    wanted = QuestionWords(" ".join(f"word{number:03}xy" for number in range(100)))
    assert wanted.shared_with("about word063xy") == 1
    assert wanted.shared_with("about word064xy") == 0


def _words_together(text: str) -> str:
    folded = unicodedata.normalize("NFKD", text).casefold().translate(normal_form._FOLDED)
    apart = unicodedata.normalize("NFKD", folded)
    return " ".join(normal_form._WORD.findall("".join(c for c in apart if not unicodedata.combining(c))))


@given(_ANY)
def test_words_are_those_of_the_text_taken_apart_as_a_whole(text: str) -> None:
    assert normal_form.words(text) == _words_together(text)
