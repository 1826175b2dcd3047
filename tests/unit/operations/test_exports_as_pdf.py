"""Exports as PDF: words of any kind are text in it, and it is what a person can file."""

import io
import json
import re
from pathlib import Path
from typing import Any

import pdfplumber
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from pypdf import PdfReader

from actors.systems.operations.exports import as_pdf as module
from actors.systems.operations.exports.as_pdf import MOST_FINDINGS, MOST_WORDS, as_pdf, report_data
from actors.systems.operations.exports.pdf_setter import set_pdf
from models.errors import ConfigInvalid, PdfNotMade
from models.operations.exports import ApprovedResults
from models.text import one_line
from tests.examples import examples
from tests.unit.operations.approved import TEMPTING, example, hostile_results

TEMPLATE = Path(__file__).resolve().parents[3] / "configs/operations/report.typ"
# Letters that the fonts within Typst have: of these each is read out of the PDF as it was.
LATIN = "aąbcćdeęłńóśźżŻŁäöüßÄÖÜéèñçøåžščřőů0189 .,;:()[]{}<>&%$#@*_-+=/\\'\"`~^|!?€§"


def made(approved: ApprovedResults) -> bytes:
    """The PDF, in this process: Hypothesis wants a hundred of them."""
    return set_pdf(
        {
            "template": TEMPLATE.read_text(encoding="utf-8"),
            "report": json.dumps(report_data(approved)),
            "timestamp": str(int(approved.approval.approved_at.timestamp())),
        }
    )


def text_of(pdf: bytes) -> str:
    return "\n".join(page.extract_text() for page in PdfReader(io.BytesIO(pdf)).pages)


def squeezed(text: str) -> str:
    """A text without blanks: lines end where there is no more room."""
    return re.sub(r"\s", "", text)


def naming(approved: ApprovedResults, words: str, **more: Any) -> ApprovedResults:
    """Other words on the left of the first conflict."""
    conflict = approved.results.conflicts[0]
    left = conflict.left.model_copy(update={"words": words})
    update = {"conflicts": (conflict.model_copy(update={"left": left}),)} | more
    return approved.model_copy(update={"results": approved.results.model_copy(update=update)})


@examples(30, suppress_health_check=[HealthCheck.too_slow])
@given(hostile_results())
@pytest.mark.heavy
def test_no_text_keeps_it_from_being_made_or_comes_alive(approved: ApprovedResults) -> None:
    reader = PdfReader(io.BytesIO(made(approved)))
    assert not reader.attachments
    for page in reader.pages:
        assert "/Annots" not in page  # no link, nothing to click
        assert not page.images
    assert not {"/OpenAction", "/AA", "/AcroForm"} & reader.trailer["/Root"].keys()
    assert "/JavaScript" not in str(reader.trailer["/Root"].get("/Names", ""))


@examples(30, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(st.sampled_from(LATIN), min_size=1, max_size=60))
@pytest.mark.heavy
def test_words_are_read_out_of_it_as_they_were(words: str) -> None:
    assert squeezed(words) in squeezed(text_of(made(naming(example(), words))))


@pytest.mark.parametrize("text", [text for text in TEMPTING if text.isascii() and text.isprintable()])
def test_code_and_markup_stand_in_it_as_text(text: str) -> None:
    shown = one_line(text) if len(text) <= MOST_WORDS else text[:100]
    assert squeezed(shown) in squeezed(text_of(made(naming(example(), text))))


def test_polish_and_german_letters_are_right() -> None:
    words = "Zażółć gęślą jaźń, ŻÓŁTA ŁÓDŹ; Größe Übermaß Ärger öffnen"
    assert words in one_line(text_of(made(naming(example(), words))))


def test_it_says_who_approved_what_and_when_on_each_page() -> None:
    approved = example()
    reader = PdfReader(io.BytesIO(made(approved)))
    first = reader.pages[0].extract_text()
    for text in (
        "anna@site.example",
        "2026-06-30 14:05:07 UTC",
        "12, of iteration 2",
        approved.approval.digest,
    ):
        assert text in first
    for number, page in enumerate(reader.pages, 1):
        told = page.extract_text()
        assert "Approval 12, iteration 2, by anna@site.example" in told
        assert f"Page {number} of {len(reader.pages)}" in told
    told = text_of(made(approved))
    for vendor in ("Northgate Logistics GmbH", "Northgate Logistics", "gmail/1", "/vendor", "K1", "C2"):
        assert vendor in told
    assert reader.metadata is not None
    assert reader.metadata.title == approved.name
    assert (reader.pages[0].mediabox.width, reader.pages[0].mediabox.height) == pytest.approx(
        (595.28, 841.89), abs=0.1
    )


def test_mock_data_is_marked_on_each_page_and_at_each_piece() -> None:
    reader = PdfReader(io.BytesIO(made(example(mock=True))))
    assert all("Contains mock data" in page.extract_text() for page in reader.pages)
    told = text_of(made(example(mock=True)))
    assert "Do not pay or decide by it" in one_line(told)
    assert (
        told.count("MOCK DATA") == 8
    )  # two sentences, a side of K1 and two of C1, the advice, agent and item
    assert "mock" not in text_of(made(example())).lower()


@examples(20, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(st.sampled_from("xW漢é/.-_"), min_size=1, max_size=3), st.integers(1, 400))
@pytest.mark.heavy
def test_no_word_runs_over_into_what_stands_beside_it(part: str, times: int) -> None:
    words = part * times
    approved = naming(example(), words).model_copy(update={"name": words, "requested_by": words})
    with pdfplumber.open(io.BytesIO(made(approved))) as pdf:
        for page in pdf.pages:
            assert max(char["x1"] for char in page.chars) < page.width - 55  # the margin


def test_letters_that_there_are_none_for_are_boxes_and_it_is_said() -> None:
    told = one_line(text_of(made(naming(example(), "漢字 हिन्दी 😀"))))
    assert "shown as boxes" in told
    assert "shown as boxes" not in one_line(text_of(made(example())))


def test_a_long_report_is_cut_and_says_so() -> None:
    approved = example()
    one = approved.results.conflicts[0]
    many = tuple(one.model_copy(update={"number": number}) for number in range(1, MOST_FINDINGS + 8))
    told = report_data(
        naming(approved, "x").model_copy(
            update={"results": approved.results.model_copy(update={"conflicts": many})}
        )
    )
    assert len(told["conflicts"]) == MOST_FINDINGS
    assert told["notes"] == ["There was no room for 7 more contradictions: the JSON export has all."]
    cut = report_data(naming(approved, "x" * 5_000))
    assert len(cut["conflicts"][0]["pairs"][0]["left"]["words"]) == MOST_WORDS
    assert cut["notes"] == ["Long texts end in … here: the JSON export has them whole."]


async def test_the_same_results_make_the_same_bytes() -> None:
    first = await as_pdf(example(), TEMPLATE)
    assert first == await as_pdf(example(), TEMPLATE)
    assert first == made(example())
    assert first.startswith(b"%PDF-1.7")


async def test_a_template_that_is_not_there_is_named() -> None:
    with pytest.raises(ConfigInvalid, match=r"operations\.report_file: .*gone\.typ"):
        await as_pdf(example(), Path("gone.typ"))


async def test_a_template_that_typst_refuses_is_told_in_one_line(tmp_path: Path) -> None:
    broken = tmp_path / "report.typ"
    broken.write_text("#nonsense(", encoding="utf-8")
    with pytest.raises(PdfNotMade, match=r"could not be set .*export another format") as failed:
        await as_pdf(example(), broken)
    assert "\n" not in str(failed.value)


async def test_one_that_takes_too_long_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    endless = tmp_path / "report.typ"
    endless.write_text(
        "#for i in range(100000) { for j in range(100000) { let x = i + j } }", encoding="utf-8"
    )
    monkeypatch.setattr(module, "_SECONDS", 1.0)
    with pytest.raises(PdfNotMade, match="not made within 1 s"):
        await as_pdf(example(), endless)


@pytest.mark.parametrize("reach", ['#read("/etc/passwd")', '#import "@preview/cetz:0.3.0"'])
async def test_the_process_reaches_for_nothing_by_a_text(reach: str) -> None:
    """As a text it is shown; only the template itself could do it."""
    assert squeezed(reach) in squeezed(text_of(await as_pdf(naming(example(), reach), TEMPLATE)))
    template = TEMPLATE.read_text(encoding="utf-8")
    for word in ("#import", "read(", "eval(", "include", "plugin(", "image("):
        assert word not in template
