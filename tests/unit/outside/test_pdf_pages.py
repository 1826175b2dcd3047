"""What the pages of a PDF have in common: running lines go, broken words are whole or marked."""

import pytest

from actors.platform.extractive.quotable import quotable
from actors.platform.pdf import pdf
from actors.platform.pdf.pdf_pages import with_open_beginnings, with_whole_words, without_running_lines
from models.content.pdf import PdfContents
from models.text import seen
from tests.fakes.outside.pdfs import Sheet, make_pdf
from tests.unit.outside.test_pdf import reading
from tests.unit.outside.test_pdf_layout import HOLE

HEAD = "Ola Brandt: Memoirs of a foreman"


def page(number: int, *heads: str) -> list[str]:
    said = ("It rose to 7.", "It fell to 3.", "It rose to 9.", "It fell to 2.", "It is 4.")[number - 1]
    return [*heads, said, "It is so.", f"And {said}", "Yes." * number, f"Page {number} of 3"]


def contents(*pages: list[str]) -> PdfContents:
    raw = reading(make_pdf(*map(Sheet, pages)))
    return pdf._contents("https://example.org/a.pdf", pdf._Told.model_validate(
        {**raw, "texts": tuple(map(tuple, raw["texts"])), "notes": tuple(raw["notes"]), "tables": ()}
    ))  # fmt: skip


def test_what_runs_along_the_edges_is_not_read_at_all() -> None:
    pages, gone = without_running_lines([page(number, HEAD) for number in (1, 2, 3)])
    told = [line for page in pages for line in page]
    assert not [line for line in told if "Brandt" in line or "Page" in line]
    assert gone == [HEAD, "Page 1 of 3", HEAD, "Page 2 of 3", HEAD, "Page 3 of 3"]
    assert "It fell to 3." in pages[1]
    assert without_running_lines([page(1, HEAD)]) == ([page(1, HEAD)], [])


def test_a_running_line_that_ends_like_a_sentence_gives_nobody_the_word() -> None:
    heads = ("ACME Corp: Growth is our business.", "Page {} of the report.")
    told = [page(number, *(head.format(number) for head in heads)) for number in (1, 2, 3)]
    pages, gone = without_running_lines(told)
    assert not [line for page in pages for line in page if "ACME" in line or "report" in line]
    assert len(gone) == 9


def test_sentences_that_differ_in_their_figure_do_not_run() -> None:
    told = [["It rose to 7.", "Yes.", "So it is.", "No.", "It fell."],
            ["It rose to 8.", "Why?", "By rain.", "Ah.", "It stood."]]  # fmt: skip
    assert without_running_lines(told) == (told, [])


def test_left_and_right_pages_have_running_lines_of_their_own() -> None:
    heads = ("A foreman", HEAD)
    pages, _ = without_running_lines([page(number, heads[number % 2]) for number in range(1, 6)])
    assert not [line for page in pages for line in page if line in heads]


def test_a_chapter_has_a_running_line_of_its_own_and_a_short_page_too() -> None:
    chapters = [page(1 + number % 5, f"Chapter {'ABCD'[number // 4]}") for number in range(15)]
    pages, _ = without_running_lines([*chapters, ["Chapter D", "The end."]])
    assert not [line for page in pages for line in page if line.startswith("Chapter")]
    assert pages[-1] == ["The end."]


def test_marks_of_holes_do_not_run() -> None:
    told = [
        ["The rate is", "\ufffc", f"Percent of {word}.", "Yes.", word, "No."] for word in ("gold", "coal")
    ]
    assert without_running_lines(told)[0][0][:3] == ["\ufffc", "Percent of gold.", "Yes."]


def test_what_is_left_out_is_noted() -> None:
    found = contents(*(page(number, HEAD) for number in (1, 2, 3)))
    assert "Brandt" not in found.texts[0]
    assert found.note == (
        f"lines at the edges of pages that repeat: 6 left out, as “{HEAD}”, “Page 1 of 3”, “Page 2 of 3”"
    )


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (["They were un-", "able to go. All were unable."], ["They were unable", "to go. All were unable."]),
        (["Ge-", "stoppt wurde er, gestoppt!"], ["Gestoppt", "wurde er, gestoppt!"]),
        (["a well-", "known man, a well-known one"], ["a well-known", "man, a well-known one"]),
        (["the Anglo-", "Saxon kings"], ["the Anglo-Saxon", "kings"]),
        (["They were un-", "able."], ["They were un-", "able."]),
        (["re-sign or resign: he re-", "signed"], ["re-sign or resign: he re-", "signed"]),
        (["the Ein-", "und Ausfuhr"], ["the Ein-", "und Ausfuhr"]),
        (["INFLA-", "TION"], ["INFLA-", "TION"]),
        (["a co-", "op, a co-op, a coop"], ["a co-", "op, a co-op, a coop"]),
    ],
)
def test_a_broken_word_is_whole_where_the_document_has_it(lines: list[str], told: list[str]) -> None:
    whole, doubtful = with_whole_words([lines])
    assert whole == [told]
    assert doubtful == (lines == told)


@pytest.mark.parametrize("hyphen", ["-", "\xad"])  # of the latter PDFium makes U+0002, as of others
def test_a_word_that_may_have_a_hyphen_is_not_offered(hyphen: str) -> None:
    found = contents(
        [
            "It begins here. The road was old and grey. The train was un" + hyphen,
            "able to go on. The river rose by five metres.",
        ]
    )
    (text,) = found.texts
    assert "un-\nable" in text
    assert [one.text for one in quotable(seen(text), "en")] == [
        "The road was old and grey.",
        "The river rose by five metres.",
    ]
    assert found.note == "words broken at ends of lines that may have a hyphen: 1"


@pytest.mark.parametrize("broken", ["in 2019-\n2020", "of Anglo-\nSaxon kings", "for INFLA\u2010\nTION"])
def test_what_is_broken_at_the_end_of_a_line_is_not_offered(broken: str) -> None:
    text = f"The road was old and grey. It cost 40 million {broken} and more. The river rose by five metres."
    assert [one.text for one in quotable(text, "en")] == [
        "The road was old and grey.",
        "The river rose by five metres.",
    ]


CLOSED = ["Wasser im Tal", "", "Das Wasser kommt aus dem Tal und wird", "nicht teurer."]
BROKEN = ["Das Wasser kommt aus dem Tal. Der Landrat", "hat nie gesagt, dass bald", "", "1 Stand von Mai."]
NEXT = [
    "Wasser und Strom",
    "",
    "Wasser und Strom teurer werden. Die Preise der",
    "Stadt sinken.",
    "",
    "So ist es.",
]


@pytest.mark.parametrize("before", [CLOSED, ["| Wasser | 5 |"], ["Es bleibt so."], ["Er sagte:"], ["14"]])
def test_a_page_begins_a_paragraph(before: list[str]) -> None:
    pages = [(1, before), (2, NEXT)]
    assert with_open_beginnings(pages) == pages


@pytest.mark.parametrize("pages", [[(1, BROKEN), (2, NEXT)], [(1, CLOSED), (3, NEXT)], [(2, NEXT)]])
def test_a_page_that_may_go_on_with_a_sentence_begins_with_holes(pages: list[tuple[int, list[str]]]) -> None:
    """Below its heading, too; and where the page before it was not read."""
    _, told = with_open_beginnings(pages)[-1]
    assert told == [HOLE, NEXT[0], "", HOLE, *NEXT[2:]]


def test_the_first_line_of_a_page_is_a_label_or_a_sentence_like_any_other() -> None:
    gap = [""] * 3
    claim, fact = "The mills of Elm kill every bird on the hill.", "The mills of Elm stop by themselves."
    said = ["Myth", *gap, claim, *gap, "Fact", *gap, fact]
    (text,) = contents(said).texts
    assert [one.text for one in quotable(text, "en")] == [fact]
