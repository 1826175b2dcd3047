"""Numbers in quotations: a quotation never begins or ends within a figure, nor behind its sign."""

import pytest

from actors.systems.knowledge.extraction.chunks import chunk_spans
from actors.systems.knowledge.extraction.spans import ChunkText, find_span, stands_whole


def found(text: str, quote: str, chunk: tuple[int, int] | None = None) -> bool:
    """Whether a quotation is found, and is the same for whoever quotes by offsets."""
    chunk = chunk or (0, len(text))
    span = find_span(text, chunk, quote, near=chunk)
    place = text.find(quote, *chunk)
    if place >= 0:
        assert (span is not None) is stands_whole(text, place, place + len(quote))
    return span is not None


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("Koszt to 1 500 zł miesięcznie.", "500 zł"),
        ("Koszt to 1\u00a0500 zł.", "500 zł"),
        ("Koszt to 1\u202f500\u202f000 zł.", "500\u202f000 zł"),
        ("Koszt to 1\u2009500 zł.", "500 zł"),
        ("Koszt to 1 500 000 zł.", "Koszt to 1 500"),
        ("Koszt to 1 500 000 zł.", "1"),
        ("Koszt to 1 **500** zł.", "500"),
        ("Preis 1'500 CHF", "500 CHF"),
        ("Preis 1’500 CHF", "500 CHF"),
        ("١٬٥٠٠ ريال", "٥٠٠ ريال"),
        ("٣٫٥ ريال", "٥ ريال"),
        ("收入为1，234亿", "234亿"),
        ("收入为１，２３４亿", "２３４亿"),
        ("收入为1.5亿", "5亿"),
        ("a loss of -$5 million", "$5 million"),
        ("a loss of -$5 million", "5 million"),
        ("a loss of -US$5 million", "5 million"),
        ("a loss of -EUR 5 million", "EUR 5 million"),
        ("a loss of -€ 5 million", "5 million"),
        ("a loss of \u2212 5 million", "5 million"),
        ("a loss of – 5 million", "5 million"),
        ("a loss of \u2212 $5 million", "$5 million"),
        ("a loss (\u22125 million)", "5 million"),
        ("x=-5 now", "5 now"),
        ("\u2212 5 °C is cold", "5 °C is cold"),
        ("a loss of -5 million", "a loss of -"),
    ],
)
def test_no_quotation_cuts_a_figure_or_takes_its_sign_away(text: str, quote: str) -> None:
    assert not found(text, quote)


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("Koszt to 1 500 zł miesięcznie.", "1 500 zł"),
        ("Koszt to 1\u202f500\u202f000 zł.", "1\u202f500\u202f000 zł"),
        ("In 2019 500 people came.", "500 people"),
        ("In 2019 500 people came.", "In 2019"),
        ("In 2019 1 500 people came.", "1 500 people"),
        ("Rooms 12 5000 guests", "5000 guests"),
        ("Part 12\n\n500 people came.", "500 people came"),
        ("Part 12\n\n500 people came.", "Part 12"),
        ("2019，500人来了", "500人来了"),
        ("在2019，20人来了", "20人来了"),
        ("a range of 3–15 units", "15 units"),
        ("a range of $5-$10", "$10"),
        ("a range of 5%-10%", "10%"),
        ("COVID-19 came", "19 came"),
        ("The result — 5 million people", "5 million people"),
        ("Growth:\n- 5 mills opened\n- 7 mills closed", "7 mills closed"),
        ("- 5 mills opened", "5 mills opened"),
        ("a loss of -$5 million", "-$5 million"),
        ("a profit of ($5m)", "$5m"),
        ("the '90s", "90s"),
        ("It rose 12, 500 came.", "500 came"),
    ],
)
def test_whole_figures_can_be_quoted(text: str, quote: str) -> None:
    assert found(text, quote)


def test_a_figure_that_a_chunk_s_border_cuts_is_not_quoted() -> None:
    text = "The price is 1 500 zł. It is -$5 million, and 7\n\n800 came."
    at = text.index
    assert not found(text, "The price is 1", (0, at(" 500")))
    assert not found(text, "500 zł", (at("500"), at(" It is")))
    assert not found(text, "5 million", (at("5 million"), len(text)))
    assert not found(text, "$5 million", (at("$5 million"), len(text)))
    assert found(text, "800 came", (at("800"), len(text)))
    assert found(text, "and 7", (0, at("\n\n800")))


def test_an_indented_mark_at_the_chunk_s_beginning_is_still_a_mark() -> None:
    text = "Mills:\n  - **One** mill"
    start = text.index("-")
    assert ChunkText(text, (start, len(text))).shown(start, len(text)) == "One mill"


@pytest.mark.parametrize(
    "figure", ["123456亿元", "1 234 567亿元", "1,234,567亿元", "-$5.25亿元", "1'234'567亿元", "abcdefg"]
)
def test_no_chunk_is_cut_within_a_word_or_a_figure(figure: str) -> None:
    for before in range(1988, 2000, 3):
        text = "甲" * before + "收入为" + figure + "乙" * 300
        told = text.index(figure), text.index(figure) + len(figure.rstrip("亿元"))
        for start, end in chunk_spans(text, max_tokens=2000):
            assert not told[0] < start < told[1]
            assert not told[0] < end < told[1]


def test_a_slice_that_cuts_a_character_or_says_nothing_is_not_whole() -> None:
    text = "The cafe\u0301 is 1500 zl, and \u200b\u200b **here**."
    whole = [
        stands_whole(text, text.index(each), text.index(each) + len(each))
        for each in (
            "cafe",
            "cafe\u0301",
            "500 zl",
            "1500 zl",
            "150",
            "\u200b",
            "**here**",
            "here",
            "he",
            " is ",
        )
    ]
    assert whole == [False, True, False, True, False, False, True, True, False, True]


def test_compatible_letters_are_equal_and_are_never_cut() -> None:
    assert found("The \ufb01nance minister", "\ufb01nance minister")
    for text, quote, slice_ in (
        ("The \ufb01nance minister", "finance minister", "\ufb01nance minister"),
        ("The finance minister", "\ufb01nance", "finance"),
        ("ＡＢＣ公司成立", "ABC公司", "ＡＢＣ公司"),
        ("１２３４亿元", "1234亿元", "１２３４亿元"),
    ):
        span = find_span(text, (0, len(text)), quote)
        assert span is not None
        assert span.quote == slice_
    assert find_span("The \ufb01nance minister", (0, 19), "inance") is None
    assert find_span("10²", (0, 3), "102") is None


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("欧洲中央银行", "欧洲中央银行（ECB）今天宣布加息。"),
        ("欧洲中央银行", "欧洲中央银行（以下简称ECB）今天宣布加息。"),
        ("欧洲中央银行", "欧洲中央银行（简称：ECB，总部在法兰克福）今天宣布加息。"),
        ("欧洲中央银行", "欧洲中央银行【ECB】今天宣布加息。"),
        ("欧洲中央银行", "欧洲中央银行［ECB、欧央行］今天宣布加息。"),
        ("欧洲中央银行", "ECB（欧洲中央银行）今天宣布加息。"),
        ("European Central Bank", "The European Central Bank [ECB] met."),
    ],
)
def test_an_acronym_is_explained_in_any_brackets(name: str, said: str) -> None:
    text = ChunkText(said, (0, len(said)))
    assert text.explains(name, "ECB")
    assert not text.explains(name, "CB")
    assert not text.explains(name, "BoJ")
