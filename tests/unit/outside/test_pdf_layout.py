"""The order in which a PDF's page is read: columns, wide-set words, and what stands on every page."""

import pytest
from pypdfium2 import PdfDocument

from actors.outside.pdf_layout import lines_of
from tests.fakes.outside.pdfs import assemble

LEFT = (
    "The council met on Monday in the",
    "hall of the works. It decided to",
    "close the old bridge in June. All",
    "traffic will use the new road.",
)
RIGHT = (
    "Prices of water rose by 5 percent",
    "in May. The works had lost money",
    "since 2019, the report says. The",
    "mayor will speak on Friday.",
)


def put(*texts: tuple[float, float, str]) -> bytes:
    """A page with a text at each place, from the left and the bottom."""
    told = (f"BT /F1 10 Tf 1 0 0 1 {x} {y} Tm ({text}) Tj ET" for x, y, text in texts)
    return "\n".join(told).encode("cp1252")


def lines(content: bytes) -> list[str]:
    return lines_of(PdfDocument(assemble([content]))[0])


def rows(
    *columns: tuple[float, tuple[str, ...]], top: float = 780, step: float = 14
) -> list[tuple[float, float, str]]:
    """Columns written row by row, as many programs do."""
    count = max(len(column) for _, column in columns)
    return [
        (x, top - step * row, column[row])
        for row in range(count)
        for x, column in columns
        if row < len(column)
    ]


def test_columns_are_read_one_after_the_other() -> None:
    assert lines(put(*rows((50, LEFT), (320, RIGHT)))) == [*LEFT, "", *RIGHT]


def test_a_sentence_goes_on_in_the_next_column() -> None:
    told = lines(put(*rows((50, LEFT[:3]), (320, (LEFT[3], *RIGHT[:2])))))
    assert told == [*LEFT, *RIGHT[:2]]


def test_three_columns_below_a_headline() -> None:
    headline = "The works and the bridge of the northern district and what they cost in the year"
    columns = rows((50, LEFT[:3]), (230, RIGHT[:3]), (410, LEFT[1:4]), top=740)
    told = [line for line in lines(put((50, 780, headline), *columns)) if line]
    assert told == [headline, *LEFT[:3], *RIGHT[:3], *LEFT[1:4]]


def test_a_table_stays_in_its_rows() -> None:
    columns = rows((50, ("month", "2026-05", "2026-06", "2026-07")), (250, ("CPI", "3.1", "3.2", "3.3")))
    assert lines(put(*columns)) == ["month CPI", "2026-05 3.1", "2026-06 3.2", "2026-07 3.3"]


@pytest.mark.parametrize("step", [9, 12, 20])
def test_words_that_are_set_wide_are_whole(step: int) -> None:
    said = "The rate rose by 0.5 percent."
    wide = [(50 + step * place, 700, letter) for place, letter in enumerate(said) if letter != " "]
    assert lines(put(*wide)) == [said]


def test_a_line_at_the_edge_of_a_page_is_set_apart() -> None:
    told = lines(
        put(
            *rows((50, ("ACME Corp - Quarterly report",)), top=800),
            *rows((50, (f"{LEFT[0]} large hall, where", f"{RIGHT[0]} of it", "this year.", "Page 1 of 3")),
                  top=787, step=13),
        )
    )  # fmt: skip
    assert told[:2] == ["ACME Corp - Quarterly report", ""]
    assert told[-3:] == ["this year.", "", "Page 1 of 3"]
