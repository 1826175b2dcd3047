"""Which characters of a PDF a reader sees, and how raised, turned and very large ones are read."""

import io

import pytest
from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, DictionaryObject, FloatObject, NameObject

from actors.platform.pdf import pdf_reader
from tests.fakes.outside.pdfs import assemble
from tests.unit.outside.test_pdf import reading
from tests.unit.outside.test_pdf_layout import HOLE, LEFT, lines, put, rows, width_of

BODY = put(*rows((50, LEFT)))
WORDS = "Words are here."


def at(text: str = WORDS, *, x: float = 50, y: float = 600, size: float = 10, more: str = "") -> str:
    return f"q {more} BT /F1 {size} Tf 1 0 0 1 {x} {y} Tm ({text}) Tj ET Q"


UNSEEN = {
    "white": at(more="1 g"),
    "nearly white": at(more="0.97 g"),
    "white on black that is no longer there": "0 g 40 590 200 30 re f 1 g 40 590 200 30 re f "
    + at(more="1 g"),
    "tiny": at(size=1),
    "tiny by its scale": at(more="0.1 0 0 0.1 40 500 cm"),
    "invisible": at(more="3 Tr"),
    "above": at(y=900),
    "beside": at(x=700),
    "covered by white": at() + " 1 g 40 590 200 30 re f",
    "covered by black": at() + " 0 g 40 590 200 30 re f",
    "clipped": "q 300 300 50 50 re W n " + at() + " Q",
}


@pytest.mark.parametrize("content", UNSEEN.values(), ids=UNSEEN)
def test_what_is_not_seen_is_not_read_and_is_told(content: str) -> None:
    told = reading(assemble([BODY + b"\n" + content.encode()]))
    assert told["texts"] == [(1, "\n".join(LEFT))]
    assert told["notes"] == [f"words that can't be seen were left out, on pages 1, as “{WORDS}”"]


def test_a_line_that_runs_off_the_page_has_a_hole_there() -> None:
    told = lines(put((480, 700, "The bank said that it is so, and"), (480, 686, "will be so in May.")))
    assert told == [f"The bank said that it is so, {HOLE}", "will be so in May."]
    told = lines(put((-40, 700, "The bank said that it is so, and"), (10, 686, "will be so in May.")))
    assert told[0].startswith(HOLE)


def test_a_figure_that_is_covered_leaves_a_hole() -> None:
    start = width_of("The rate fell by ") + 50
    cover = f" 0 g {start - 0.5} 695 6.5 14 re f"
    told = lines(put((50, 700, "The rate fell by 5 percent.")) + cover.encode())
    assert told == [f"The rate fell by {HOLE} percent."]


@pytest.mark.parametrize(
    "content",
    [
        "0 g 40 590 200 30 re f " + at(more="1 g"),
        at(more="0.6 g"),
        at(more="0.8 0 0 rg"),
        "0 g 49 598 85 12 re f " + at(more="3 Tr"),
        at(size=6),
    ],
    ids=["white on black", "grey", "red", "over what is painted", "small"],
)
def test_what_is_seen_is_read(content: str) -> None:
    if "3 Tr" in content:  # as over a scan: what is painted there has the shape of words
        content = "".join(f"0 g {x} 598 3 9 re f " for x in range(50, 130, 6)) + at(more="3 Tr")
    assert lines(BODY + b"\n" + content.encode()) == [*LEFT, "", WORDS]


def test_words_of_a_page_that_is_not_painted_count_by_their_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf_reader, "_MOST_PAINTED", 0)
    content = " ".join([at("White."), at("Black.", y=560), at("Hidden.", y=540, more="3 Tr")])
    assert lines(content.replace("q ", "q 1 g ", 1).encode()) == ["Black."]


@pytest.mark.parametrize("more", ["3 Tr", "1 g"])
def test_a_layer_under_words_that_are_seen_is_not_read(more: str) -> None:
    seen, hidden = "The bridge was closed in May.", "The bridge was open to all in May."
    told = reading(assemble([f"{at(seen)} {at(hidden, more=more)}".encode()]))
    assert told["texts"][0][1].replace(HOLE, "").split() == seen.split()
    assert hidden in told["notes"][0]


STRUCK = {
    "a line": "{0} {1} m {2} {1} l S",
    "a rectangle": "{0} {1} {3} 1 re f",
    "a thick one": "{0} {1} {3} 2 re f",
    "several in one path": "50 400 m 300 400 l {0} {1} m {2} {1} l 50 300 m 300 300 l S",
    "aslant": "{0} 701.2 m {2} 704.8 l S",
    "by a matrix": "q 0.1 0 0 0.1 {0} {1} cm 0 0 m {4} 0 l S Q",
    "by hand": "{0} {1} m {0} 705 {2} 701 {2} {1} c S",
}


@pytest.mark.parametrize("line", STRUCK.values(), ids=STRUCK)
@pytest.mark.parametrize("word", ["not ", "not keep a "])
def test_words_that_are_struck_out_leave_a_hole_and_are_told(line: str, word: str) -> None:
    start, end = 50 + width_of("You shall "), 50 + width_of(f"You shall {word}".rstrip())
    drawn = line.format(start, 702.5, end, end - start, 10 * (end - start))
    told = reading(assemble([put((50, 700, f"You shall {word}dog here.")) + f" {drawn}".encode()]))
    assert told["texts"] == [(1, f"You shall {HOLE} dog here.")]
    assert told["notes"] == [f"words that are struck out were left out, on pages 1, as “{word.strip()}”"]


@pytest.mark.parametrize(
    "line",
    ["50 698 m 200 698 l S", "50 711 m 200 711 l S", "40 690 300 20 re S", "45 697 200 12 re 0.9 g f 0 g",
     "50 702 m 200 702 l n", "90 500 m 91 900 l S", "50 702 m 50 702 l S"],
    ids=["under", "over", "a frame", "a ground", "not painted", "upright", "a point"],
)  # fmt: skip
def test_other_lines_strike_nothing_out(line: str) -> None:
    assert lines(line.encode() + b" " + put((50, 700, "You shall not keep a dog."))) == [
        "You shall not keep a dog."
    ]


def test_what_a_reader_struck_out_leaves_a_hole() -> None:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(assemble([put((50, 700, "You shall not go."))]))))
    left, right = 50 + width_of("You shall "), 50 + width_of("You shall not")
    corners = [left, 709, right, 709, left, 698, right, 698]
    writer.add_annotation(
        0,
        DictionaryObject(
            {
                NameObject("/Type"): NameObject("/Annot"),
                NameObject("/Subtype"): NameObject("/StrikeOut"),
                NameObject("/Rect"): ArrayObject(map(FloatObject, (left, 698, right, 709))),
                NameObject("/QuadPoints"): ArrayObject(map(FloatObject, corners)),
            }
        ),
    )
    out = io.BytesIO()
    writer.write(out)
    assert reading(out.getvalue())["texts"] == [(1, f"You shall {HOLE} go.")]


def test_pages_without_words_that_are_seen_have_no_text() -> None:
    assert reading(assemble([at(more="3 Tr").encode()])) == {"fault": "without_text"}


def test_what_is_turned_is_read_for_itself() -> None:
    stamp = (
        "BT /F1 10 Tf 0 1 -1 0 40 690 Tm (Copy of 3 May) Tj ET "
        "BT /F1 30 Tf 0.7 0.7 -0.7 0.7 90 600 Tm (DRAFT) Tj ET"
    )
    assert lines(BODY + b"\n" + stamp.encode()) == [*LEFT, "", "Copy of 3 May", "", "DRAFT"]


def test_a_page_that_lies_on_its_side_is_read() -> None:
    turned = "\n".join(
        f"BT /F1 10 Tf 0 1 -1 0 {100 + 14 * row} 100 Tm ({line}) Tj ET" for row, line in enumerate(LEFT)
    )
    assert lines(turned.encode()) == list(LEFT)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("(He has 5 million) Tj /F1 6 Tf 4 Ts (12) Tj /F1 10 Tf 0 Ts ( now.) Tj", "He has 5 million¹² now."),
        ("(It cost 5) Tj /F1 7 Tf 3 Ts (1,2) Tj /F1 10 Tf 0 Ts ( euro.) Tj", f"It cost 5{HOLE}¹,² euro."),
        ("(It was 5) Tj /F1 6 Tf 4 Ts (3) Tj /F1 10 Tf 0 Ts (, not 4.) Tj", f"It was 5{HOLE}³, not 4."),
        ("(It is 10) Tj 4 Ts (6) Tj 0 Ts ( km.) Tj", f"It is 10{HOLE}⁶ km."),
        ("(The bank) Tj /F1 6 Tf 4 Ts (a) Tj /F1 10 Tf 0 Ts ( fell.) Tj", "The bankᵃ fell."),
        ("(The 21) Tj /F1 6 Tf 4 Ts (st) Tj /F1 10 Tf 0 Ts ( century.) Tj", "The 21st century."),
        ("(CO) Tj /F1 6 Tf -2 Ts (2) Tj /F1 10 Tf 0 Ts ( rose by 5.) Tj", "CO2 rose by 5."),
    ],
)  # fmt: skip
def test_raised_figures_are_no_part_of_others(text: str, told: str) -> None:
    assert lines(f"BT /F1 10 Tf 1 0 0 1 50 700 Tm {text} ET".encode()) == [told]


def test_a_raised_figure_that_is_written_after_its_line_is_in_it() -> None:
    said = "It cost 5 million euros."
    mark = f"BT /F1 6 Tf 1 0 0 1 {50 + width_of(said)} 704 Tm (12) Tj ET"
    page = put((50, 700, said), (50, 686, "The rate fell in May.")) + mark.encode()
    assert lines(page) == [f"{said}¹²", "The rate fell in May."]


@pytest.mark.parametrize(("letter", "told"), [("T", "The works"), ("A", f"A{HOLE}he works")])
def test_a_letter_over_several_lines_begins_its_word(letter: str, told: str) -> None:
    """What may be a word by itself is not put together."""
    cap = f"BT /F1 30 Tf 1 0 0 1 50 690 Tm ({letter}) Tj ET ".encode()
    texts = ("he works decided to close the old bridge in", "June. All traffic will use the new road, the")
    said = put((72, 702, texts[0]), (72, 690, texts[1]), (50, 678, "mayor said."))
    assert lines(cap + said) == [told + texts[0].removeprefix("he works"), texts[1], "mayor said."]
