"""Chunks of a source: nothing is lost, none is too large, and they end where a reader would pause."""

import time
from itertools import pairwise

import pytest
import regex
from hypothesis import example, given
from hypothesis import strategies as st

from actors.platform.llm.client import text_tokens
from actors.systems.knowledge.extraction.chunks import chunk_sentences, chunk_spans
from actors.systems.knowledge.extraction.graphemes import clusters
from tests.examples import hostile

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
ALPHABET = st.sampled_from(
    [*"aą. \n!?#|-*[]()\"'„”0", "。", "中", "e\u0301", FAMILY, "\U0001f1f5\U0001f1f1", "\u0e01\u0e33", "ا"]
)
TEXTS = st.one_of(st.text(max_size=300), st.lists(ALPHABET, max_size=200).map("".join))


def uncovered(text: str, spans: list[tuple[int, int]]) -> str:
    """What is in no span."""
    left, at = [], 0
    for start, end in spans:
        left.append(text[at:start])
        at = max(at, end)
    return "".join([*left, text[at:]])


@given(TEXTS, st.integers(1, 60))
@example("a" * 500, 1)
@example("a" + "\u0301" * 500, 3)
@example(FAMILY * 20, 1)
@example("abcdefghijkl mno" * 40, 6)
@example("0 000\u0800\U00010000\U00010000\u200d\U00010000", 6)
def test_every_text_is_covered_by_chunks_that_are_small_enough(text: str, most: int) -> None:
    spans = chunk_spans(text, max_tokens=most)
    assert uncovered(text, spans).strip() == ""
    assert all(text_tokens(text[start:end]) <= most for start, end in spans)
    assert all(text[start:end].strip() == text[start:end] != "" for start, end in spans)
    assert [end for _, end in spans] == sorted({end for _, end in spans})
    assert [start for start, _ in spans] == sorted({start for start, _ in spans})


@given(TEXTS)
def test_sentences_are_all_of_a_chunk(text: str) -> None:
    spans = chunk_sentences(text, (0, len(text)))
    assert uncovered(text, spans).strip() == ""
    assert all(a[1] <= b[0] for a, b in pairwise(spans))
    short = [span for span in spans if len(text[slice(*span)].encode()) < 16]
    assert short in ([], spans[-1:])


@given(TEXTS, st.integers(9, 60))
def test_no_chunk_cuts_through_a_character(text: str, most: int) -> None:
    whole = {end for _, end in clusters(text, 0, len(text))} | {0}
    if any(len(text[a:b].encode()) > 3 * most for a, b in clusters(text, 0, len(text))):
        return
    spans = chunk_spans(text, max_tokens=most)
    inside = {place for place in range(len(text) + 1) if place not in whole}
    cut = {place for span in spans for place in span} & inside
    # A blank that carries an accent is stripped with the other blanks around a chunk.
    assert all(text[place - 1].isspace() or text[place].isspace() for place in cut)


@given(st.one_of(st.text(max_size=40), st.lists(ALPHABET, max_size=30).map("".join)))
@example("\u0915\u094d\u0937\u093f")
@example("\U0001f1f5\U0001f1f1\U0001f1e9\U0001f1ea")
@example("\U0001f44d\U0001f3fd \u2764\ufe0f \u1100\u1161\u11a8")
def test_a_character_is_never_cut_where_unicode_has_it_whole(text: str) -> None:
    ours = {end for _, end in clusters(text, 0, len(text))}
    assert ours <= {found.end() for found in regex.finditer(r"\X", text)}


def test_plain_characters_stand_by_themselves() -> None:
    text = "Łódź 中文 " + FAMILY + "e\u0301"
    assert [text[a:b] for a, b in clusters(text, 0, len(text))] == [*"Łódź 中文 ", FAMILY, "e\u0301"]


def chunks(text: str, most: int) -> list[str]:
    """The chunks themselves."""
    return [text[start:end] for start, end in chunk_spans(text, max_tokens=most)]


def test_a_chunk_ends_with_a_paragraph_if_that_is_not_too_early() -> None:
    first = "One thing is said here. And so is another one."
    second = "A second paragraph begins. It goes on for some time. It ends."
    assert chunks(f"{first}\n\n{second}", 24) == [first, second]


def test_a_heading_goes_with_what_it_heads() -> None:
    text = "The first part has some words in it, and it ends here.\n\n## Prices\nThey rose. They fell again."
    assert chunks(text, 22)[0] == "The first part has some words in it, and it ends here."
    assert chunks(text, 22)[1].startswith("## Prices\nThey rose.")


def test_in_a_paragraph_the_last_sentence_comes_again() -> None:
    text = " ".join(f"Sentence {n} is here." for n in range(40))
    found = chunks(text, 80)
    assert len(found) > 2
    for before, after in pairwise(found):
        assert after.startswith(before.rsplit(". ", 1)[1])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Firma Alfa sp. z o.o. zarobiła 5 mln w 2024 r. w Polsce. Prof. J. Nowak to potwierdził.",
            ["Firma Alfa sp. z o.o. zarobiła 5 mln w 2024 r. w Polsce.", "Prof. J. Nowak to potwierdził."],
        ),
        (
            "中国人民银行昨天下调了利率。专家认为这会有帮助吗？他们说以后会更好的。",
            ["中国人民银行昨天下调了利率。", "专家认为这会有帮助吗？", "他们说以后会更好的。"],
        ),
        (
            'He said: "The rate was cut by 3.5 percent." She did not agree with that at all.',
            ['He said: "The rate was cut by 3.5 percent."', "She did not agree with that at all."],
        ),
        (
            "A line that is\nwrapped in the middle. Next sentence of the paragraph.",
            ["A line that is\nwrapped in the middle.", "Next sentence of the paragraph."],
        ),
    ],
)
def test_sentences_are_a_reader_s(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in chunk_sentences(text, (0, len(text)))] == expected


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "a ",
        "a. ",
        "\n",
        "# a\n",
        "(",
        '"',
        "| a |\n",
        "Dr. ",
        "\u0301",
        FAMILY,
        "中。",
        "1. ",
        "- a\n\n",
    ],
)
def test_long_texts_are_cut_in_time(unit: str) -> None:
    text = unit * (hostile(400_000) // len(unit))
    begun = time.process_time()
    chunk_spans(text, max_tokens=500)
    assert time.process_time() - begun < 8


def test_no_room_is_refused() -> None:
    with pytest.raises(ValueError, match="max_tokens is 0"):
        chunk_spans("a", max_tokens=0)
