"""What is saved by hand: only what can be read, on a day that there is, and by a quote of whole words."""

import unicodedata

import pytest

from actors.systems.knowledge.tools.saving import DocumentData, KnowledgePointData, _read, _span
from models.errors import InputInvalid

TEXT = unicodedata.normalize("NFD", "The café asks 1500 zl, then 1 500 zl, and 500 zl. He\u200bre it is.")


def span(quote: str, start: int | None = None) -> tuple[int, int]:
    """Where it is found."""
    found = _span(TEXT, KnowledgePointData(source_id=1, quote=quote, start=start, statement="It says so."))
    assert TEXT[found.start : found.end] == found.quote == quote
    return found.start, found.end


def test_a_quote_is_of_whole_words_and_numbers() -> None:
    at = TEXT.rindex("500 zl")
    assert span("500 zl") == span("500 zl", at) == (at, at + 6)
    assert span("1500 zl")
    assert span("cafe\u0301")
    for quote, start in (
        ("e", None),
        ("cafe", None),
        ("50", None),
        ("500 zl", TEXT.index("500 zl")),
        ("500 zl", TEXT.index("1 500 zl") + 2),
        ("\u200b", None),
        (" ", 3),
    ):
        with pytest.raises(InputInvalid, match=r"^data\.quote: .* only within a word or a number"):
            span(quote, start)


def test_a_quote_that_is_not_there_or_twice_is_refused() -> None:
    with pytest.raises(InputInvalid, match="does not say that: copy it"):
        span("600 zl")
    with pytest.raises(InputInvalid, match="does not say that at character 3"):
        span("500 zl", 3)
    with pytest.raises(InputInvalid, match="more than once"):
        span("zl")


@pytest.mark.parametrize(
    "date", ["2024-99-99", "2023-02-29", "२०२४-०१-०१", "2024-01-01\n", "20240101", "2024-W01-1", "0000-01-01"]
)
def test_a_date_is_a_day_of_the_calendar(date: str) -> None:
    with pytest.raises(InputInvalid, match=r"^data\.date: .* is no day: give one as YYYY-MM-DD"):
        _read(DocumentData, {"text": "x", "date": date})
    assert _read(DocumentData, {"text": "x", "date": "2024-02-29"}).date == "2024-02-29"


@pytest.mark.parametrize("blank", ["\u200b", " \u2060\n", "\u200d\u00ad", "\u3164", "\u2800", "\u0301"])
def test_what_nobody_can_see_is_no_text_and_no_statement(blank: str) -> None:
    with pytest.raises(InputInvalid, match=r"^data\.text: .*nothing in it can be seen"):
        _read(DocumentData, {"text": blank})
    with pytest.raises(InputInvalid, match=r"^data\.statement: .*nothing in it can be seen"):
        _read(KnowledgePointData, {"source_id": 1, "quote": "x", "statement": blank})
