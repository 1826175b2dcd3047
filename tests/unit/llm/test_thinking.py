"""What of a streamed reply reaches people: never a thought, however the stream splits it."""

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.platform.llm.thinking import Spoken

# Texts in which tags, parts of tags and white space are frequent.
REPLIES = st.lists(
    st.sampled_from(
        ["<think>", "</think>", "<", "</", "<thi", "think>", "nk>", " ", "\n", "a", "Ünïcode", "b c"]
    ),
    max_size=12,
).map("".join)


def spoken(deltas: list[str]) -> str:
    filter = Spoken()
    return "".join([*(filter.feed(delta) for delta in deltas), filter.finish()])


def split(text: str, cuts: list[int]) -> list[str]:
    at = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    return [text[a:b] for a, b in itertools.pairwise(at)]


def without_thoughts(text: str) -> str:
    return re.sub(r"<think>.*?(?:</think>|\Z)|</think>", "", text, flags=re.DOTALL).strip()


@given(text=REPLIES, cuts=st.lists(st.integers(min_value=0), max_size=20))
def test_no_split_changes_what_is_said(text: str, cuts: list[int]) -> None:
    assert spoken(split(text, cuts)) == without_thoughts(text)


@given(before=REPLIES, secret=st.text(alphabet="xyz \n<>/", max_size=20), after=REPLIES)
def test_a_thought_reaches_nobody_also_letter_by_letter(before: str, secret: str, after: str) -> None:
    text = f"{before}<think>{secret}SECRET"
    assert "SECRET" not in spoken(list(text.replace("</think>", "")))
    if "</think>" not in secret:
        assert "SECRET" not in spoken(list(f"<think>{secret}SECRET</think>{after}"))


@pytest.mark.parametrize("deltas", [["a ", "b"], ["a", " b"], [" ", "a b\n"], list("a b")])
def test_nothing_is_held_back_for_long(deltas: list[str]) -> None:
    filter = Spoken()
    given_out = ""
    for delta in deltas:
        given_out += filter.feed(delta)
    assert given_out == "a b"
    assert filter.finish() == ""
