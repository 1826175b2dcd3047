"""The order in which a PDF's page is read: columns, wide-set words, and what stands on every page."""

import io
import re

import pytest
from pypdf import PdfReader, PdfWriter
from pypdf.generic import DictionaryObject, NameObject
from pypdfium2 import PdfDocument

from actors.platform.extractive.quotable import quotable
from actors.platform.pdf.pdf_signs import Sign
from actors.platform.pdf.pdf_words import set_words
from models.text import seen
from tests.fakes.outside.pdfs import assemble
from tests.unit.outside.test_pdf import reading

HOLE = "\ufffc"
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


def offered(told: list[str]) -> list[str]:
    return [one.text for one in quotable(seen("\n".join(told)), "en")]


def lines(content: bytes) -> list[str]:
    """The lines of a page, holes that stand before one each as a line."""
    told = str(reading(assemble([content]))["texts"][0][1])
    return re.sub(r"(?m)^\ufffc (?=\w)", f"{HOLE}\n", told).split("\n")


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


@pytest.mark.parametrize("gutter", [8, 9, 10])
def test_columns_with_a_narrow_gutter_are_not_mixed(gutter: int) -> None:
    """Written row by row; the lines of the left one are all as wide as it is."""
    mixed = [
        f"{(158 - width_of(left)) / left.count(' '):.3f} Tw {put((50, y, left)).decode()} "
        f"0 Tw {put((208 + gutter, y, right)).decode()}"
        for y, left, right in zip((780, 766, 752, 738), LEFT, RIGHT, strict=True)
    ]
    assert lines("\n".join(mixed).encode()) == [*LEFT, "", *RIGHT]


@pytest.mark.parametrize("is_by_row", [True, False])
def test_columns_whose_lines_rarely_stand_side_by_side_are_not_mixed(is_by_row: bool) -> None:
    left = [(50, 780 - 14 * row, line) for row, line in enumerate(LEFT)]
    right = [(58 + width_of(LEFT[0]), 780 - 17 * row, line) for row, line in enumerate(RIGHT)]
    both = [one for pair in zip(left, right, strict=True) for one in pair] if is_by_row else [*left, *right]
    assert lines(put(*both)) == [*LEFT, "", *RIGHT]


def test_two_lines_of_columns_with_a_narrow_gutter_are_not_mixed() -> None:
    told = lines(put((50, 780, LEFT[0]), (58 + width_of(LEFT[0]), 780, RIGHT[0])))
    assert told == [f"{LEFT[0]} {HOLE} {RIGHT[0]}"]


def width_of(line: str) -> float:
    """In Helvetica of 10 points."""
    text = PdfDocument(assemble([put((0, 700, line))]))[0].get_textpage()
    return float(text.get_charbox(text.count_chars() - 1, loose=True)[2])


def test_columns_with_baselines_of_their_own_are_not_mixed() -> None:
    assert lines(put(*rows((50, LEFT)), *rows((215, RIGHT), top=774))) == [*LEFT, "", *RIGHT]
    told = lines(put(*rows((50, LEFT[:2])), *rows((215, RIGHT[:2]), top=774)))
    assert told == [*LEFT[:2], HOLE, *RIGHT[:2]]


def test_what_a_line_across_both_columns_breaks_off_is_not_put_together() -> None:
    caption = "Figure 1: the works and the bridge of the northern district, as they were in June"
    above, below = rows((50, LEFT[:3]), (215, RIGHT[:3])), rows((50, LEFT[1:]), (215, RIGHT[1:]), top=710)
    told = lines(put(*above, (50, 730, caption), *below))
    assert told == [*LEFT[:3], HOLE, *RIGHT[:3], HOLE, caption, HOLE, *LEFT[1:], HOLE, *RIGHT[1:]]
    assert offered(told)
    assert all(one in " ".join(LEFT) or one in " ".join(RIGHT) for one in offered(told))


@pytest.mark.parametrize("base", [766, 760])
def test_a_note_in_the_margin_is_apart(base: int) -> None:
    told = lines(put(*rows((150, LEFT)), (50, base, "see the annex")))
    assert without_holes(told) == ["see the annex", *LEFT]
    told = lines(put(*rows((50, (LEFT[0], LEFT[1], f"{LEFT[2]} the"))), (240, base, "see the annex")))
    assert without_holes(told) == [
        LEFT[0],
        LEFT[1],
        f"{LEFT[2]} the",
        "see the annex",
    ]


def without_holes(told: list[str]) -> list[str]:
    return [line for line in (line.replace(HOLE, "").strip() for line in told) if line]


@pytest.mark.parametrize("torn", [1, 2])
def test_words_that_a_gap_tears_off_leave_a_hole(torn: int) -> None:
    """Whether they are a note in the margin isn't certain where they stand level with a line."""
    body = (
        "The harbour board told the owners of all the boats in",
        "writing that it has for this reason in 2026 again",
        "raised the fees, and that the owners may of course",
        "pay them at the end of the year. The owners of the boats",
        "agreed to pay for the lamps.",
    )
    told = lines(put(*rows((50, body)), *rows((330, ("not", "never")[:torn]), top=766)))
    assert told[1] == f"{body[1]} {HOLE}"
    assert offered(told) == ["The owners of the boats agreed to pay for the lamps."]


def test_a_sidebar_of_other_letters_is_apart() -> None:
    small = b"\n".join(b"BT /F1 8 Tf 1 0 0 1 230 %d Tm (%s) Tj ET" % (776 - 11 * row, line.encode())
                       for row, line in enumerate(RIGHT))  # fmt: skip
    assert lines(put(*rows((50, LEFT))) + b"\n" + small) == [*LEFT, "", *RIGHT]


@pytest.mark.parametrize("left", [30, 36])
def test_numbers_of_lines_are_apart(left: int) -> None:
    counted = [(left, 780 - 14 * row, str(row + 5)) for row in range(4)]
    told = lines(put(*(place for pair in zip(counted, rows((50, LEFT)), strict=True) for place in pair)))
    assert told[-4:] == list(LEFT)
    assert [line for line in told[:-4] if line] == ["5", "6", "7", "8"]


def test_numbers_and_bullets_of_lists_stay_with_their_items() -> None:
    told = lines(
        put((50, 780, "1."), (80, 780, LEFT[0]), (80, 766, "hall."), (50, 752, "•"), (80, 752, LEFT[3]))
    )
    assert told == [f"1. {LEFT[0]}", "hall.", f"• {LEFT[3]}"]


def test_a_hole_in_a_line_is_marked() -> None:
    told = lines(
        put((50, 780, "So it said. The rate is"), (200, 780, "percent of the price of the"),
            (50, 766, "coal in the district of the north. It is so."))
    )  # fmt: skip
    assert told[0] == f"So it said. The rate is {HOLE} percent of the price of the"
    assert not [said for said in offered(told) if "rate" in said or "percent" in said]
    told = lines(put(*rows((50, ("The bank said so.", "The rate of it is", "coal in the north", "and more"))),
                     (160, 766, "percent.")))  # fmt: skip
    assert told[1] == f"The rate of it is {HOLE}"
    assert told[-1].startswith(HOLE)
    assert told[-1].endswith(" percent.")


def test_a_table_stays_in_its_rows() -> None:
    columns = rows((50, ("month", "2026-05", "2026-06", "2026-07")), (250, ("CPI", "3.1", "3.2", "3.3")))
    assert lines(put(*columns)) == [
        "| month | CPI |",
        "| 2026-05 | 3.1 |",
        "| 2026-06 | 3.2 |",
        "| 2026-07 | 3.3 |",
    ]


@pytest.mark.parametrize("step", [9, 12, 19])
def test_words_that_are_set_wide_are_whole(step: int) -> None:
    said = "The rate rose by 0.5 percent."
    wide = [(50 + step * place, 700, letter) for place, letter in enumerate(said) if letter != " "]
    assert lines(put(*wide)) == [said]


def test_words_whose_letters_partly_stand_apart_are_not_offered() -> None:
    """Each letter takes up the same, as in the type of a typewriter."""
    said = "It rose by 5 percent."
    told = lines(
        put(*((50 + 5.6 * place, 700, letter) for place, letter in enumerate(said) if letter != " "))
    )
    assert told[0].replace(" ", "") == HOLE + said.replace(" ", "")
    assert offered(told) == []


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


NOUNS = (
    "Der Landrat hat nie gesagt, dass",
    "Wasser und Strom teurer werden.",
    "Die Stadtwerke senken vielmehr ihre",
    "Preise um einen Cent. Die Kunden",
    "bekommen im Mai einen Brief.",
)


@pytest.mark.parametrize("top", [780, 760])
def test_the_first_line_of_a_narrow_column_is_not_cut_off(top: int) -> None:
    """Its lines are short beside the page, not beside the column."""
    told = lines(put(*rows((50, NOUNS)), *rows((330, LEFT), top=top)))
    assert told[: len(NOUNS)] == list(NOUNS)


@pytest.mark.parametrize("place", [0, 1])
def test_a_short_first_line_is_a_heading_where_the_next_word_had_room(place: int) -> None:
    column = ("Er sagt nie, dass bald", "Wasserwirtschaftsunternehmen es", *NOUNS[2:])
    told = lines(put(*rows((50, LEFT), (330, column)) if place else rows((50, column), (330, LEFT))))
    assert [*column] == told[told.index(column[0]) :][: len(column)]
    column = ("Mythos", "Die Wasserwerke sagen nie, dass", *NOUNS[2:])
    told = lines(put(*rows((50, LEFT), (330, column)) if place else rows((50, column), (330, LEFT))))
    assert told[told.index(column[0]) + 1] == ""


@pytest.mark.parametrize("step", [24, 30])
def test_lines_with_much_space_between_them_are_of_one_paragraph(step: int) -> None:
    told = lines(put(*rows((50, NOUNS), step=step)))
    assert [line for line in told if line] == list(NOUNS)
    assert told[:2] == list(NOUNS[:2])


@pytest.mark.parametrize("more", ["", " des Amtes im Tal und in allen Dörfern des Kreises rund um den See"])
def test_what_a_figure_parts_is_not_offered(more: str) -> None:
    parted = (f"{NOUNS[0]}{more}", *(f"{line}{more}" for line in NOUNS[1:]))
    told = reading(assemble([put(*rows((50, (*parted[2:4], parted[0]))), *rows((50, parted[1:]), top=600))]))
    assert not [said for said in offered(told["texts"][0][1].split("\n")) if said.startswith("Wasser")]


def test_what_a_figure_parts_has_a_hole() -> None:
    told = lines(put(*rows((50, (*NOUNS[2:], NOUNS[0]))), *rows((50, NOUNS[1:]), top=600)))
    assert told[3:6] == [NOUNS[0], "", HOLE]


def test_the_last_word_of_a_page_is_no_number_of_it() -> None:
    said = (*LEFT[:3], "traffic will use the new road in", "2027.")
    assert lines(put(*rows((50, said)))) == list(said)


def test_columns_are_not_mixed_across_a_box() -> None:
    """The box stands across both, and its lines are no wider than the left one."""
    box = (50, 716, "All users are asked to stay.")
    above, below = rows((50, LEFT[:3]), (250, RIGHT[:3])), rows((50, LEFT[1:]), (250, RIGHT[1:]), top=690)
    told = lines(put(*above, box, *below))
    assert all(one in " ".join((*LEFT, box[2])) or one in " ".join(RIGHT) for one in offered(told))
    assert told.index(RIGHT[0]) < told.index(LEFT[3])


@pytest.mark.parametrize("gap", [3, 4.5])
@pytest.mark.parametrize("said", ["nicht", "gar"])
def test_a_word_that_is_set_wide_amid_a_line_is_whole(gap: float, said: str) -> None:
    start, end = "Der Rat hat den Plan am Montag", "genehmigt, sagt die Kanzlei."
    wide = f"BT /F1 10 Tf 50 700 Td ({start} ) Tj {gap} Tc ({said}) Tj 0 Tc ( {end}) Tj ET"
    assert lines(wide.encode()) == [f"{start} {said} {end}"]


def test_letters_that_are_written_with_spaces_are_not_offered() -> None:
    told = lines(put((50, 700, "Der Rat hat den Plan am Montag n i c h t genehmigt, sagt die Kanzlei.")))
    assert told[0].count(HOLE) == 1
    assert not offered(told)


def test_single_letters_that_are_words_stay() -> None:
    said = "Prom linii miejskiej stoi w porcie, a w nocy i w upale czeka tam na ludzi."
    assert lines(put((50, 700, said))) == [said]


def test_lines_that_fill_a_narrow_column_are_no_table() -> None:
    said = ["in Lindental hat ihre", "alte Versammlung im", "gelben Haus getagt"]
    stretched = [
        f"{(125 - width_of(line)) / line.count(' '):.2f} Tw {put((50, 700 - 14 * row, line)).decode()}"
        for row, line in enumerate(said)
    ]
    assert lines("\n".join(stretched).encode()) == said


@pytest.mark.parametrize("head", ["KEY FACTS", "Facts"])
def test_a_heading_right_above_its_column_is_no_part_of_its_sentence(head: str) -> None:
    """In capitals, or in bold letters."""
    font = put((50, 780, head)).decode()
    page = (font if head.isupper() else font.replace("/F1", "/F2")).encode()
    told = reading(with_bold(assemble([page + b" " + put(*rows((50, LEFT), top=767, step=13))])))
    assert told["texts"][0][1].split("\n") == [head, "", *LEFT]


def with_bold(document: bytes) -> bytes:
    """With a second font of bold letters."""
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(document)))
    fonts = writer.pages[0]["/Resources"]["/Font"]  # type: ignore[index]
    bold = DictionaryObject(fonts["/F1"].get_object())
    bold[NameObject("/BaseFont")] = NameObject("/Helvetica-Bold")
    fonts[NameObject("/F2")] = bold
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def test_a_footnote_is_not_offered_with_its_number() -> None:
    said = "The works had lost money."
    small = b"\n".join(
        b"BT /F1 8 Tf 1 0 0 1 50 %d Tm (%d %s) Tj ET" % (90 - 10 * row, row, said.encode()) for row in (1, 2)
    )
    told = lines(put(*rows((50, LEFT))) + b"\n" + small)
    assert told[-2:] == [f"{row} {HOLE} {said}" for row in (1, 2)]


def test_words_that_are_written_from_the_right_have_holes() -> None:
    letters = {"A": "\u05e9", "B": "\u05d5", "C": "\u05e7"}
    signs = [Sign(letters.get(one, one), 50 + 6 * at, 55 + 6 * at, 0, 0, 700, 10, 700)
             for at, one in enumerate("is ABC now AB")]  # fmt: skip
    signs = [Sign(" ") if one.text == " " else one for one in signs]
    set_words(signs)
    assert [one.text for one in signs if one.is_doubtful] == ["\u05e9", "\u05e9"]
