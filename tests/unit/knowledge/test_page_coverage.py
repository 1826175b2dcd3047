"""How much of a page was kept, and what is told of the rest."""

from actors.systems.knowledge.parsing.main_text import read_html
from actors.systems.knowledge.parsing.page_reading import read_html_page
from models.knowledge.pages import PageCoverage, ScrapedPage
from pipelines.page_table import as_row

TEXT = "".join(f"<p>The committee met on Tuesday and talked about pump number {n}.</p>" for n in range(9))
MENU = "<nav><a href=/>Home</a> <a href=/b>Archive of all the years</a></nav>"
LOST = "Readers of ann@example.org also liked the story of the old bridge."


def page(inside: str) -> bytes:
    return f"<html lang=en><body>{MENU}<main><article>{TEXT}</article></main>{inside}</body></html>".encode()


def coverage(inside: str) -> PageCoverage:
    found = read_html(page(inside), url="https://example.org/a", content_type=None).coverage
    assert found is not None
    return found


def test_a_page_that_is_kept_whole_but_for_its_menu_lost_nothing() -> None:
    found = coverage("")
    assert (found.left_out, found.lost, found.told) == ((), 0, None)
    assert found.seen == found.kept + found.around
    assert found.around == len("Home Archive of all the years")


def test_what_is_left_out_is_counted_and_told() -> None:
    found = coverage(f"<div class=related><p>{LOST}</p></div>" * 30)
    assert found.left_out == (LOST,) * 20
    assert (found.others, found.lost) == (10, 30 * len(LOST))
    assert found.told is not None
    assert "1,980 of" in found.told
    assert "Readers of ann@example.org" in found.told


def test_what_stands_twice_on_a_page_and_once_in_its_text_is_not_lost() -> None:
    found = coverage(f"<div class=mobile>{TEXT}</div>")
    assert found.lost == 0


def test_personal_data_is_taken_out_of_what_was_left_out_too() -> None:
    body = page(f"<div class=related><p>{LOST}</p></div>")
    found = read_html_page(body, "https://example.org/a", None, ("email",), None).page
    assert found is not None
    assert found.coverage is not None
    assert "example.org" not in found.coverage.model_dump_json()
    row = as_row(ScrapedPage(url="https://example.org/a", page=found), held=False)
    assert row["seen_characters"] - row["kept_characters"] > len(LOST)
    assert len(row["left_out"]) == 1


def test_little_is_not_worth_a_line_and_a_note_is() -> None:
    assert PageCoverage(seen=1000, kept=950, left_out=("x" * 50,)).told is None
    assert PageCoverage(seen=10, kept=10, notes=("only the first 3 of 5 pages were read",)).told is not None
