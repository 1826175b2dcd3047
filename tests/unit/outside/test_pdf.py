"""PDFs over real HTTP, read in a real process: what comes of them, and what is refused."""

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.platform.pdf import pdf, pdf_reader
from models.content.pdf import PdfContents
from models.errors import AddressRefused, DocumentUnreadable, ProviderFailed
from tests.fakes.outside.pdfs import Sheet, bomb_pdf, encrypted_pdf, make_pdf
from tests.fakes.outside.search_providers import Reply, SearchServer, redirect
from tests.unit.outside.search_config import configured

TABLE = [["month", "CPI"], ["2026-05", "3.1"], ["2026-06", ""]]
REPORT = make_pdf(
    Sheet(["Inflation (annual) fell.", "It was 3.1 percent."], TABLE), Sheet(["The outlook"]), title="Prices"
)


FETCHED = "https://example.org/a%20b.pdf"


@pytest.fixture
def server() -> Iterator[SearchServer]:
    with SearchServer() as running:
        yield running


async def read(url: str, **limits: Any) -> PdfContents:
    config = configured()
    settings = config.outside.pdf.model_copy(update=limits)
    return await pdf.read_pdf(url, config=configured(pdf=settings))


async def unreadable(server: SearchServer, body: bytes, **limits: Any) -> str:
    """Why it can't be read; afterwards no reader runs any more."""
    url = server.put("/doc.pdf", body)
    with pytest.raises(DocumentUnreadable) as caught:
        await read(url, **limits)
    assert readers() == []
    return str(caught.value)


def readers() -> list[str]:
    """The readers that this process has started and that still run."""
    found = []
    for thread in Path(f"/proc/{os.getpid()}/task").iterdir():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
            for number in (thread / "children").read_text().split():
                if b"pdf_reader" in Path(f"/proc/{number}/cmdline").read_bytes():
                    found.append(number)
    return found


async def test_text_and_tables_are_read(server: SearchServer) -> None:
    url = server.put("/reports/prices.pdf", REPORT)
    contents = await read(url + "#page=2")
    assert (contents.url, contents.title, contents.pages, contents.note) == (url, "Prices", 2, None)
    (text,) = contents.texts
    assert text.startswith("[page 1]\n\nInflation (annual) fell.\nIt was 3.1 percent.")
    assert text.endswith("[page 2]\n\nThe outlook")
    (table,) = contents.tables
    assert (table.page, table.columns) == (1, ("month", "CPI"))
    assert table.rows == (("2026-05", "3.1"), ("2026-06", None))
    assert server.asked[0].headers["accept"] == "application/pdf"


async def test_the_mark_decides_and_not_the_content_type(server: SearchServer) -> None:
    url = server.put("/download", b"\r\n" + make_pdf(Sheet(["Hello"])), "application/octet-stream")
    assert (await read(url)).title == "download"
    told = await unreadable(server, b"<html>Sign in</html>" + b" " * 2000 + b"%PDF-1.7")
    assert "no PDF (application/pdf)" in told
    assert "address of the PDF itself" in told


async def test_what_opens_for_everybody_is_read_and_what_takes_a_password_is_not(
    server: SearchServer,
) -> None:
    url = server.put("/open.pdf", encrypted_pdf(REPORT, ""))
    contents = await read(url)
    assert contents.tables[0].columns == ("month", "CPI")
    assert "encrypted" in await unreadable(server, encrypted_pdf(REPORT, "word"))


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (make_pdf(Sheet(), Sheet()), "OCR"),
        (b"%PDF-1.7\nnonsense", "is broken, and can't be read: PdfStreamError"),
        (REPORT[:400], "is broken"),
        (encrypted_pdf(REPORT, "word"), "is encrypted"),
        (bomb_pdf(100), "unpacks into more"),
    ],
    ids=["scanned", "nonsense", "cut", "encrypted", "bomb"],
)
def test_what_can_not_be_read_is_told_apart(data: bytes, told: str) -> None:
    with pytest.raises(DocumentUnreadable) as caught:
        pdf._contents(FETCHED, pdf._Told.model_validate_json(json.dumps(reading(data))))
    assert told in str(caught.value)


async def test_a_document_over_the_limit_is_not_fetched_whole(server: SearchServer) -> None:
    assert "outside.pdf.max_bytes" in await unreadable(server, REPORT, max_bytes=1000)
    server.script(Reply(200, b"%PDF-1.7" + b"x" * 1000, endless=True))
    with pytest.raises(DocumentUnreadable, match=r"outside\.pdf\.max_bytes"):
        await read(server.url + "/endless.pdf", max_bytes=100_000)


async def test_pages_over_the_limit_are_left_out_and_said_so(server: SearchServer) -> None:
    url = server.put("/long.pdf", make_pdf(*[Sheet([f"number {n}"], TABLE) for n in range(1, 6)]))
    contents = await read(url, max_pages=2)
    assert contents.pages == 5
    assert contents.note == "only the first 2 of 5 pages were read (outside.pdf.max_pages)"
    assert "number 2" in contents.texts[0]
    assert "number 3" not in contents.texts[0]
    assert [table.page for table in contents.tables] == [1, 2]


async def test_a_reader_that_takes_too_long_is_killed(
    server: SearchServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = tmp_path / "slow.py"
    slow.write_text("while True: pass")
    monkeypatch.setattr(pdf, "_READER", slow)
    url = server.put("/doc.pdf", REPORT)
    with pytest.raises(DocumentUnreadable, match=r"within 0\.5 s \(outside\.pdf\.timeout_seconds\)"):
        await read(url, timeout_seconds=0.5)


@pytest.mark.parametrize("megabytes", [4, 40])
async def test_pages_that_show_too_much_are_given_up_before_they_take_the_memory(
    server: SearchServer, megabytes: int
) -> None:
    assert "unpacks into more than can be read" in await unreadable(server, bomb_pdf(megabytes))


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("import sys; sys.exit(3)", "ended with 3"),
        ("import os; os.kill(os.getpid(), 9)", "ended with -9"),
        ("import os; os.kill(os.getpid(), 24)", "within 60 s"),
        ("print('{')", "made no sense"),
        ("print('{\"more\": 1}')", "made no sense"),
        ("import sys; sys.stdin.read = None; print('[]')", "made no sense"),
        ("while True: print('x' * 1_000_000)", "more than can be kept"),
    ],
)
async def test_a_reader_that_fails_is_an_error(
    server: SearchServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, told: str
) -> None:
    odd = tmp_path / "pdf_reader.py"
    odd.write_text(script)
    monkeypatch.setattr(pdf, "_READER", odd)
    # More than a pipe holds, so that it is still being written when the reader ends.
    assert told in await unreadable(server, REPORT + b" " * 1_000_000)


async def test_a_reader_that_says_too_much_is_given_up_at_once(
    server: SearchServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it has said more is in its pipe, which must be read, or its end is never seen."""
    odd = tmp_path / "pdf_reader.py"
    odd.write_text("while True: print('x' * 1_000_000)")
    monkeypatch.setattr(pdf, "_READER", odd)
    monkeypatch.setattr(pdf, "_MOST_TOLD", 1)
    for _ in range(10):
        async with asyncio.timeout(20):
            assert "more than can be kept" in await unreadable(server, REPORT)


async def test_a_cancelled_call_leaves_no_reader(
    server: SearchServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = tmp_path / "begun"
    slow = tmp_path / "pdf_reader.py"
    slow.write_text(f"open({str(begun)!r}, 'w').close()\nwhile True: pass")
    monkeypatch.setattr(pdf, "_READER", slow)
    reading = asyncio.create_task(read(server.put("/doc.pdf", REPORT)))
    async with asyncio.timeout(20):
        while not begun.exists():  # noqa: ASYNC110  # another process makes it
            await asyncio.sleep(0.01)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert readers() == []


async def test_two_at_once_are_kept_apart(server: SearchServer) -> None:
    urls = [server.put(f"/{word}.pdf", make_pdf(Sheet([word]))) for word in ("one", "two")]
    contents = await asyncio.gather(*map(read, urls))
    assert [each.texts for each in contents] == [("[page 1]\n\none",), ("[page 1]\n\ntwo",)]


async def test_where_it_is_goes_through_the_guard(server: SearchServer) -> None:
    with pytest.raises(AddressRefused, match=r"outgoing\.allow_internal"):
        await pdf.read_pdf(server.put("/doc.pdf", REPORT), config=configured(allow_internal=()))
    assert server.asked == []
    server.script(redirect("http://169.254.169.254/doc.pdf"))
    with pytest.raises(AddressRefused, match=r"169\.254\.169\.254"):
        await read(server.url + "/doc.pdf")
    for odd in ("file:///etc/passwd", "http://[", "doc.pdf", "http://user:word@example.org/a.pdf"):
        with pytest.raises(AddressRefused):
            await read(odd)


async def test_an_address_where_nothing_is_is_told(server: SearchServer) -> None:
    with pytest.raises(ProviderFailed, match=r"127\.0\.0\.1: answered 404 Not Found"):
        await read(server.url + "/gone.pdf")


def test_the_reader_has_little_memory_and_no_files(tmp_path: Path) -> None:
    script = (
        "import resource, runpy, sys, io\n"
        f"sys.argv = ['pdf_reader', '5', '7.5']; sys.stdin = io.TextIOWrapper(io.BytesIO(b'%PDF-'))\n"
        f"runpy.run_path({pdf_reader.__file__!r}, run_name='__main__')\n"
        "limits = ('AS', 'CPU', 'FSIZE', 'CORE')\n"
        "print([resource.getrlimit(getattr(resource, 'RLIMIT_' + each))[0] for each in limits])\n"
    )
    told = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    assert told.stdout.endswith("[1073741824, 9, 0, 0]\n")
    assert json.loads(told.stdout.rpartition("[")[0])["fault"] == "broken"


def reading(data: bytes, pages: int = 100, seconds: float = 60) -> dict[str, Any]:
    """What the reader tells, in this process; the alarm is given back to whoever had it."""
    before = signal.getsignal(signal.SIGALRM)
    try:
        return pdf_reader.read(data, pages, seconds)
    finally:
        signal.signal(signal.SIGALRM, before)


def test_a_broken_page_does_not_spoil_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    layout = pdf_reader._beside("pdf_layout")
    whole = layout.lines_of

    def lines_of(page: Any) -> list[str]:
        lines = whole(page)
        if "second" in lines:
            raise KeyError("/Font")
        return list(lines)

    monkeypatch.setattr(layout, "lines_of", lines_of)
    told = reading(make_pdf(Sheet(["first"]), Sheet(["second"], TABLE), Sheet(["third"], TABLE)))
    assert [number for number, _ in told["texts"]] == [1, 3]
    assert told["notes"] == ["pages that can't be read: 2"]
    assert [table["page"] for table in told["tables"]] == [3]


def spin(*_: object) -> Any:
    """Goes on for ever, and swallows errors as decoders do."""
    while True:
        try:
            sum(range(1000))
        except Exception:  # noqa: BLE001  # that is the point
            continue


def test_text_is_kept_when_its_tables_take_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pdfplumber.page.Page.extract_tables", spin)
    told = reading(REPORT, seconds=1)
    assert [number for number, _ in told["texts"]] == [1, 2]
    assert told["notes"] == ["its tables were not read whole in time (outside.pdf.timeout_seconds)"]


def test_pages_that_were_read_are_kept_when_the_next_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    layout = pdf_reader._beside("pdf_layout")
    whole = layout.lines_of
    monkeypatch.setattr(
        layout, "lines_of", lambda page: lines if "out" not in "".join(lines := whole(page)) else spin()
    )
    told = reading(REPORT, seconds=1)
    assert [number for number, _ in told["texts"]] == [1]
    assert told["notes"][0] == "the text was not read whole in time (outside.pdf.timeout_seconds)"
    monkeypatch.setattr(layout, "lines_of", spin)
    assert reading(REPORT, seconds=0.5) == {"fault": "late"}


def test_text_stays_within_its_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf_reader, "_MOST_TEXT", 12)
    told = reading(make_pdf(Sheet(["12345678"]), Sheet(["abcdefgh"]), Sheet(["never"])))
    assert told["texts"] == [(1, "12345678"), (2, "abcd")]
    assert told["notes"] == ["the text is cut at 12 characters, on page 2"]


def test_tables_stay_within_their_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    table, cut = pdf_reader._table([[f"c{n}" for n in range(300)], *[["1"] * 300] * 2000])
    assert table is not None
    assert cut
    assert len(table["columns"]) == 200
    assert (len(table["rows"]), len(table["rows"][0])) == (1000, 200)
    monkeypatch.setattr(pdf_reader, "_MOST_TABLES", 1)
    told = reading(make_pdf(Sheet(["x"], TABLE), Sheet(["y"], TABLE)))
    assert len(told["tables"]) == 1
    assert told["notes"] == ["tables from page 2 on were left out: too many"]


Grid = st.lists(st.lists(st.none() | st.text(max_size=5), max_size=5), max_size=6)


@given(Grid)
def test_any_grid_becomes_a_rectangle_or_nothing(raw: list[list[str | None]]) -> None:
    table, _ = pdf_reader._table(raw)
    if table is not None:
        assert len(table["columns"]) >= 2
        assert table["rows"]
        assert all(name.strip() for name in table["columns"])
        assert {len(row) for row in table["rows"]} == {len(table["columns"])}


@given(st.lists(st.text("ab\n", min_size=1, max_size=60), max_size=8))
def test_long_texts_are_split_and_nothing_is_lost(pages: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pdf, "_LONGEST_TEXT", 20)
        parts = list(pdf._split(pages))
    assert all(0 < len(part) <= 20 for part in parts)
    assert "".join(parts).replace("\n", "") == "".join(pages).replace("\n", "")


def test_odd_characters_do_not_get_through() -> None:
    told = pdf._Told(
        title="",
        pages=1,
        texts=((1, "pay\x00 \u202eload"),),
        tables=(pdf.PdfTable(page=1, columns=("\u200b", "b"), rows=(("\x00", "x\u2066y"),)),),
        notes=("left out: “a\x1b\u202eb”",),
    )
    contents = pdf._contents(FETCHED, told)
    assert contents.title == "a b.pdf"
    assert contents.note == "left out: “a b”"
    assert contents.texts == ("[page 1]\n\npay  load",)
    assert contents.tables[0].columns == ("column 1", "b")
    assert contents.tables[0].rows == ((None, "xy"),)
