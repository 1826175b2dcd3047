"""Spans: a slice of the source, the right one, or none."""

import time
import unicodedata

import pytest
import regex
from hypothesis import assume, example, given
from hypothesis import strategies as st

from actors.systems.knowledge.extraction.aligned_text import _PLAIN_TEXT, NormalizedText, _plain, normal_form
from actors.systems.knowledge.extraction.graphemes import clusters
from actors.systems.knowledge.extraction.spans import ChunkText, find_span

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"


def found(text: str, quote: str, near: tuple[int, int] | None = None) -> str | None:
    """The slice that is found, checked to be one."""
    span = find_span(text, (0, len(text)), quote, near=near or (0, len(text)))
    assert span is None or text[span.start : span.end] == span.quote
    return span.quote if span else None


@pytest.mark.parametrize(
    ("text", "quote", "slice_"),
    [
        ("Zażółć gęślą jaźń.", "gęślą jaźń", "gęślą jaźń"),
        (unicodedata.normalize("NFD", "Zażółć gęślą."), "gęślą", unicodedata.normalize("NFD", "gęślą")),
        ("Łódź leży.", unicodedata.normalize("NFD", "Łódź"), "Łódź"),
        ("北京是中国的首都。", "中国的首都", "中国的首都"),
        (f"Hi {FAMILY}! ok", f"{FAMILY}! ok", f"{FAMILY}! ok"),
        ("I \u2764\ufe0f it", "I \u2764 it", "I \u2764\ufe0f it"),
        ("the rate\nwas  cut", "the rate was cut", "the rate\nwas  cut"),
        ("5\u00a0000 zł rocznie", "5 000 zł", "5\u00a0000 zł"),
        ("He said “never again” twice", 'said "never again" twice', "said “never again” twice"),
        ("Rzekł „nigdy”.", 'Rzekł "nigdy"', "Rzekł „nigdy”"),
        ("It’s 2020–2021 now…", "It's 2020-2021 now...", "It’s 2020–2021 now…"),
        ("the **big** bank", "the big bank", "the **big** bank"),
        ("**Price:** 5 EUR", "Price: 5 EUR", "Price:** 5 EUR"),
        ("这是**重点**内容", "重点内容", "重点**内容"),
        ("see [the report](https://a.example/b_(c)) now", "see the report now", None),
        ("run `make setup` first", "run make setup first", "run `make setup` first"),
        ("wrapped\n> in a quote", "wrapped in a quote", "wrapped\n> in a quote"),
        ("# Title\ntext", "Title text", "Title\ntext"),
        ("a\\*b\\_c", "a*b_c", "a\\*b\\_c"),
        ("Bun\u00addes\u200bbank", "Bundesbank", "Bun\u00addes\u200bbank"),
        ("שלום \u200fעולם", "שלום עולם", "שלום \u200fעולם"),
        ("हिन्दी भाषा", "हिन्दी", "हिन्दी"),
        ("삼성은 크다", "삼성", "삼성"),
        ("Peter's bank", "Peter", "Peter"),
        ("ประเทศไทย", "ไทย", "ไทย"),
    ],
)
def test_a_quotation_is_found_as_the_source_has_it(text: str, quote: str, slice_: str | None) -> None:
    if slice_ is None:
        slice_ = text
    assert found(text, quote) == slice_


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("a party", "art"),
        ("the rate", "The rate"),
        ("the rate was cut", "the rate is cut"),
        ("Łódź leży", "Lodz"),
        ("It rose by 5.3 percent", "It rose by 5"),
        ("It rose by 1,500", "500"),
        ("It fell to -5 degrees", "5 degrees"),
        ("1500", "500"),
        ("the 2*10 board", "the 210 board"),
        ("snake_case", "snakecase"),
        ("5 *3 m", "5 3 m"),
        ("a dose of > 5 mg", "a dose of 5 mg"),
        (f"Hi {FAMILY}", "\U0001f469"),
        (f"Hi {FAMILY}", "\U0001f468"),
        ("\U0001f1f5\U0001f1f1", "\U0001f1f1"),
        ("\U0001f44d\U0001f3fd", "\U0001f44d"),
        ("cafe\u0301", "cafe"),
        ("हिन्दी", "हिन"),
        ("x…", "x."),
        ("the rate rose", "the … rose"),
        ("the rate", ""),
        ("the rate", " \n"),
        ("[the report](https://a.example/secret)", "secret"),
        ("The report", "report The"),
    ],
)
def test_what_is_not_in_the_source_word_for_word_is_not_found(text: str, quote: str) -> None:
    assert found(text, quote) is None


def test_the_mention_in_the_sentence_that_was_named_is_meant() -> None:
    text = "Alfa rose. Beta fell, and Alfa too. Gamma held. Alfa rose again."
    sentences = [(0, 10), (11, 35), (36, 47), (48, 64)]
    starts = [find_span(text, (0, len(text)), "Alfa", near=near) for near in sentences]
    assert [span.start if span else None for span in starts] == [0, 26, 48, 48]
    touching = find_span("好。好。", (0, 4), "好。", near=(2, 4))
    assert touching is not None
    assert touching.start == 2
    assert find_span(text, (0, len(text)), "Alfa") is None  # which one is meant was not said
    assert find_span(text, (0, len(text)), "Gamma") is not None


def test_only_the_chunk_is_looked_in_and_its_edges_cut_no_word() -> None:
    text = "The party ended. The art began."
    assert find_span(text, (17, len(text)), "party", near=(17, 31)) is None
    span = find_span(text, (17, len(text)), "The", near=(17, 31))
    assert span is not None
    assert span.start == 17
    assert find_span(text, (5, 8), "art", near=(5, 8)) is None
    assert find_span("e\u0301", (0, 1), "e", near=(0, 1)) is None


def test_an_acronym_is_explained_in_brackets() -> None:
    text = ChunkText(
        said := "The European Central Bank (ECB) met; so did the NBP (Narodowy Bank Polski). "
        "Bank of Japan (hereinafter the “BoJ”), Fed. The Bundesbank (Frankfurt) and EZB.",
        (0, len(said)),
    )
    assert text.explains("European Central Bank", "ECB")
    assert text.explains("Narodowy Bank Polski", "NBP")
    assert text.explains("Bank of Japan", "BoJ")
    assert not text.explains("Bundesbank", "EZB")
    assert not text.explains("Bank", "CB")


PIECES = st.sampled_from(
    [
        *(
            "ą",
            "ż",
            "z\u0307",
            "中",
            "国",
            "。",
            FAMILY,
            "\U0001f1f5\U0001f1f1",
            "e\u0301",
            "é",
            "ا",
            "\u200f",
        ),
        *(
            "न्",
            "दी",
            "a",
            "art",
            "party",
            "5",
            ".",
            ",",
            "-",
            " ",
            "  ",
            "\n",
            "\n\n",
            "*",
            "**",
            "_",
            "`",
            "[",
        ),
        *("](u)", "# ", "> ", "“", '"', "’", "…", "\\*", "\u00ad", "\u2764\ufe0f", "\u2764", "\u0e01\u0e33"),
        *("ᄀ", "ᅡ"),
    ]
)
TEXTS = st.one_of(st.lists(PIECES, max_size=40).map("".join), st.text(max_size=60))


@given(TEXTS, TEXTS, st.data())
@example("** *a* **", "a", None)
def test_whatever_is_found_is_a_slice_equal_in_its_normal_form(
    text: str, other: str, data: st.DataObject
) -> None:
    if data is None:
        quote = other
    else:
        start = data.draw(st.integers(0, len(text)))
        quote = data.draw(st.sampled_from([text[start : start + 9], other, normal_form(text[start:])]))
    span = find_span(text, (0, len(text)), quote, near=(0, len(text)))
    if span is None:
        return
    assert text[span.start : span.end] == span.quote
    edges = {0} | {match.end() for match in regex.finditer(r"\X", text)}
    assert {span.start, span.end} <= edges
    normal = NormalizedText(text, 0, len(text))
    whole = [
        first
        for first in range(len(normal.form))
        if normal.form.startswith(normal_form(quote), first)
        and normal.source(first, first + len(normal_form(quote))) == (span.start, span.end)
    ]
    assert whole


@given(
    st.lists(st.text("abcdeąęłóżźćńś中国人民,.!\U0001f600", min_size=1, max_size=8), min_size=3, max_size=30),
    st.data(),
)
def test_every_run_of_words_is_found_where_it_stands(words: list[str], data: st.DataObject) -> None:
    text = "\n".join(words)
    first = data.draw(st.integers(0, len(words) - 1))
    last = data.draw(st.integers(first + 1, len(words)))
    start = len("\n".join(words[:first])) + (first > 0)
    quote = unicodedata.normalize("NFD", " ".join(words[first:last]))
    end = start + len("\n".join(words[first:last]))
    span = find_span(text, (0, len(text)), quote, near=(start, end))
    assert span is not None
    assert (span.start, span.end) == (start, end)


def test_what_is_taken_many_at_a_time_is_plain() -> None:
    plain = [chr(code) for code in range(0x10000) if _PLAIN_TEXT.fullmatch(chr(code))]
    text = "".join(plain)
    assert len(plain) > 20_000
    assert all(_plain(character) == character for character in plain)
    assert all(done == begun + 1 for begun, done in clusters(text, 0, len(text)))


@given(TEXTS)
def test_the_normal_form_is_its_own(text: str) -> None:
    # Without what is invisible, letters that it kept apart are another character.
    assume(not any(unicodedata.category(character) == "Cf" for character in text))
    form = normal_form(text)
    assume("\\" not in form and not set("*_`~[") & set(form))
    assert normal_form(form) == form


@given(TEXTS)
def test_what_is_shown_can_be_quoted(text: str) -> None:
    shown = ChunkText(text, (0, len(text))).shown(0, len(text))
    assert "\n" not in shown
    # Without what is invisible, letters that it kept apart are another character: that is not found, rightly.
    apart = any(unicodedata.category(character) == "Cf" for character in text)
    if shown and not apart and not set("*_`~[\\#>-") & set(text):
        assert found(text, shown) is not None


@pytest.mark.parametrize(
    "unit",
    [
        "[",
        "](",
        "](a(b)",
        "*a",
        "**",
        "_ ",
        "a\u0301",
        "\u0301",
        "\n",
        "\n> ",
        "[a](b) ",
        "`",
        "\\",
        "(a",
        "a",
    ],
)
def test_long_texts_are_read_in_time(unit: str) -> None:
    text = unit * (60_000 // len(unit))
    begun = time.process_time()
    chunk = ChunkText(text, (0, len(text)))
    chunk.find(unit * 20, (0, 1))
    chunk.explains(unit, "ABC")
    assert time.process_time() - begun < 3
