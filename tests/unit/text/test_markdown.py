"""Untrusted text in Markdown: it is shown as it stands, and no part of it becomes markup or a link."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from actors.platform.text.markdown import escaped, link, opening, unlinked, web_address
from models.text import one_line

_ANY = st.text(st.sampled_from("\\`*_{}[]()<>#+-.!|~^:&;$/@ \n\t1aż") | st.characters(), max_size=40)
_OPENINGS = st.sampled_from(
    ["", "# ", "- ", "+ ", "* ", "1. ", "12) ", "> ", "---", "===", "```", "    ", "www."]
)
WORDS = st.builds("{}{}".format, _OPENINGS, _ANY)


@given(WORDS)
def test_an_escaped_text_is_a_paragraph_of_text(text: str) -> None:
    for line in (escaped(text), opening(unlinked(text))):
        tokens = MarkdownIt("commonmark").parse(line)
        if not line.strip():
            continue
        assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"], line
        assert {child.type for child in tokens[1].children or ()} == {"text"}, line


@given(st.text("ab *_`[]~|\\-+#>=1.)", max_size=40))
def test_an_escaped_text_reads_as_it_was_written(text: str) -> None:
    [_, inline, _] = MarkdownIt("commonmark").parse(f"{escaped(text)}") or [None, None, None]
    shown = "" if inline is None else "".join(child.content for child in inline.children or ())
    assert shown == one_line(text)


@given(WORDS)
def test_an_escaped_text_holds_nothing_that_renderers_make_a_link_of(text: str) -> None:
    for wish in (f"https://{text}", f"www.{text}", f"mailto:{text}", f"a@{text}", f"hthttps://tps://{text}"):
        assert not re.search(r"(?i)https?://|www\.\w|mailto:\S|\S@\S", escaped(f"see {wish}", 1000))


@given(WORDS, st.integers(1, 50))
def test_an_escaped_text_is_bounded(text: str, most: int) -> None:
    # Each character brings a backslash or a space at most.
    assert len(escaped(text, most)) <= 2 * most


def test_numbers_are_no_lists_and_stay_as_they_are() -> None:
    assert [opening(line) for line in ("1. One", "12) b", "3.5 percent", "2024.", "-1")] == [
        "1\\. One",
        "12\\) b",
        "3.5 percent",
        "2024\\.",
        "\\-1",
    ]


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "https://",
        "https://a@b.example",
        "x",
        "https://[",
        "https://b.example/\ud800",
        None,
    ],
)
def test_a_title_alone_where_there_is_no_address(url: str | None) -> None:
    assert link("A_b", url) == "A\\_b"


@given(WORDS.map("https://example.org/{}".format))
def test_an_address_ends_no_link(url: str) -> None:
    target = web_address(url)
    assert target is None or not set("()<> \n[]") & set(target)
