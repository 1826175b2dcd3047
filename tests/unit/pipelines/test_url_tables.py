"""Tables of addresses as they are: unquoted commas, and lines that are no CSV."""

from pathlib import Path

import pytest

from actors.platform.web.page_urls import page_url
from pipelines.url_files import UrlRow, read_urls


def read(folder: Path, text: str) -> list[UrlRow]:
    (folder / "u.csv").write_text(text, encoding="utf-8")
    rows, _ = read_urls("u.csv", roots=[folder], normal=page_url)
    return rows


@pytest.mark.parametrize("head", ["url\n", "https://example.com/head\n"])
def test_a_comma_in_the_only_column_is_of_the_address(head: str, tmp_path: Path) -> None:
    rows = read(tmp_path, f'{head}https://example.com/a,b,c\n"https://example.com/d,e"\n\n')
    assert [row.url for row in rows][-2:] == ["https://example.com/a,b,c", "https://example.com/d,e"]
    assert all(row.refused is None for row in rows)


def test_a_line_that_is_no_csv_is_that_lines_fault(tmp_path: Path) -> None:
    long = '"' + "x" * 200_000 + '"'
    rows = read(tmp_path, f"url,title\nhttps://example.com/a,A\n{long},B\nhttps://example.com/b,B\n")
    assert [row.url for row in rows if row.refused is None] == [
        "https://example.com/a",
        "https://example.com/b",
    ]
    [refused] = [row.refused for row in rows if row.refused is not None]
    assert refused.fault == "bad_url"
    assert "line 3 is no CSV" in refused.url
