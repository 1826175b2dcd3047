"""Exports as Markdown: a report in which nothing that others wrote is a link, an image or a tag."""

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from actors.systems.operations.exports.as_markdown import as_markdown, code_span
from models.operations.exports import ApprovedResults
from models.text import seen
from tests.unit.operations.approved import HOSTILE, example, hostile_results

EXAMPLE = Path(__file__).with_name("example_report.md")
BLOCKS = {
    "heading_open",
    "heading_close",
    "paragraph_open",
    "paragraph_close",
    "bullet_list_open",
    "bullet_list_close",
    "list_item_open",
    "list_item_close",
    "blockquote_open",
    "blockquote_close",
    "inline",
}
INLINE = {"text", "code_inline", "strong_open", "strong_close", "em_open", "em_close"}
# What GitHub's dialect and mail programs make a link of in plain text.
SELF_LINKING = re.compile(r"(?i)[a-z][a-z0-9+.-]*://\S|\bwww\.\S|\b(?:mailto|xmpp):\S|\S@\S")


def inline_tokens(markdown: str, dialect: str) -> list[Any]:
    tokens = MarkdownIt(dialect, {"html": True, "linkify": False}).parse(markdown)
    assert {token.type for token in tokens} <= BLOCKS
    return [child for token in tokens for child in token.children or ()]


@pytest.mark.parametrize("dialect", ["commonmark", "gfm-like"])
@given(approved=hostile_results())
@pytest.mark.heavy
def test_nothing_from_outside_comes_alive(approved: ApprovedResults, dialect: str) -> None:
    tokens = inline_tokens(as_markdown(approved), dialect)
    assert {token.type for token in tokens} <= INLINE
    assert not [t.content for t in tokens if t.type == "text" and SELF_LINKING.search(t.content)]


@given(hostile_results())
def test_words_stand_there_to_the_letter(approved: ApprovedResults) -> None:
    spans = [t.content for t in inline_tokens(as_markdown(approved), "commonmark") if t.type == "code_inline"]
    results = approved.results
    sides = [side for one in results.conflicts for side in (one.left, one.right)]
    sides += [side for one in results.matches for m in one.matches for side in (m.left, m.right)]
    for text in (text for side in sides for text in (side.words, side.item, side.path)):
        line = re.sub(r"[\r\n\t]", " ", seen(text))
        assert not line.strip() or line in spans


@given(HOSTILE | st.text(st.sampled_from("` ab\n"), max_size=12))
def test_a_code_span_shows_its_text_and_nothing_else(text: str) -> None:
    line = re.sub(r"[\r\n\t]", " ", seen(text))
    tokens = inline_tokens(f"- a: {code_span(text)}", "commonmark")
    if line.strip():
        assert [(t.type, t.content) for t in tokens] == [("text", "a: "), ("code_inline", line)]
    else:
        assert "".join(t.content for t in tokens) == "a: (nothing that can be seen)"


@given(hostile_results())
def test_nothing_in_it_is_unseen_or_steers(approved: ApprovedResults) -> None:
    text = as_markdown(approved)
    assert text == seen(text)
    assert "\r" not in text
    assert text == as_markdown(ApprovedResults.model_validate_json(approved.model_dump_json()))


def test_the_report_reads_so() -> None:
    assert as_markdown(example(mock=True)) == EXAMPLE.read_text(encoding="utf-8")


def test_without_mock_data_nothing_speaks_of_it() -> None:
    assert "mock" not in as_markdown(example()).lower()
