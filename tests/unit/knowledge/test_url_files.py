"""Files of addresses: whatever they are written as, one bad line is that line's fault."""

import functools
import gzip
import json
import tracemalloc
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.platform.web.page_urls import host_of, page_url
from models.errors import PathNotVisible
from pipelines import url_files
from pipelines.url_files import interleaved, read_urls

GOOD = ["https://example.com/a", "https://example.org/b"]
BAD = "ftp://example.com/c"
SITEMAP = (
    '<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    + "".join(f"<url><loc> {url} </loc><lastmod>2026-01-01</lastmod></url>" for url in [*GOOD, BAD])
    + "</urlset>"
)


def write(folder: Path, name: str) -> Path:
    path, lines = folder / name, [*GOOD, BAD]
    if name.endswith(".parquet"):
        pyarrow.parquet.write_table(pa.table({"n": [1, 2, 3], "url": lines}), path)
        return path
    text = {
        "u.csv": "title,URL\n" + "".join(f'"a, b",{line}\n' for line in lines),
        "semicolon.csv": "url;title\n" + "".join(f"{line};x\n" for line in lines),
        "bare.csv": "\n".join(lines),
        "u.tsv": "x\turl\n" + "".join(f"1\t{line}\n" for line in lines),
        "u.jsonl": "\n".join(json.dumps({"url": line}) for line in lines),
        "texts.jsonl": "\n".join(json.dumps(line) for line in lines),
        "u.txt": "# ours\n\n" + "\r\n".join(lines),
        "sitemap.xml": SITEMAP,
        "sitemap.xml.gz": SITEMAP,
        "u.txt.gz": "\n".join(lines),
    }[name]
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode("utf-8-sig"))
    return path


NAMES = ["u.csv", "semicolon.csv", "bare.csv", "u.tsv", "u.jsonl", "texts.jsonl", "u.txt", "u.parquet"]
NAMES += ["sitemap.xml", "sitemap.xml.gz", "u.txt.gz"]


@pytest.mark.parametrize("name", NAMES)
def test_addresses_are_read_whatever_they_are_written_as(name: str, tmp_path: Path) -> None:
    path = write(tmp_path, name)
    rows, twice = read_urls(str(path), roots=[tmp_path], normal=page_url)
    assert [row.url for row in rows if row.refused is None] == GOOD
    [refused] = [row.refused for row in rows if row.refused is not None]
    assert (refused.url, refused.fault, twice) == (BAD, "bad_url", 0)


def test_a_folder_is_read_whole_and_each_address_once(tmp_path: Path) -> None:
    for name in ("u.csv", "u.txt"):
        write(tmp_path, name)
    (tmp_path / ".hidden").write_text("https://example.com/hidden")
    rows, twice = read_urls(f"file://{tmp_path}", roots=[], normal=page_url)
    assert ([row.url for row in rows], twice) == ([*GOOD, BAD], 3)


def test_a_broken_line_of_json_is_that_lines_fault(tmp_path: Path) -> None:
    (tmp_path / "u.jsonl").write_text('{"url": "https://example.com/a"}\n{"url": 5}\n{nonsense\n[1]\n')
    rows, _ = read_urls("u.jsonl", roots=[tmp_path], normal=page_url)
    assert [row.refused is None for row in rows] == [True, False, False, False]


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("none.txt", None, "nothing is there"),
        ("u.parquet", b"PAR1 no", "can't be read"),
        ("s.xml", b"<html></html>", "no sitemap"),
        ("s.xml", b"<sitemapindex><sitemap><loc>http://x</loc></sitemap></sitemapindex>", "other sitemaps"),
        ("s.xml", b"<urlset><url><loc>http://x/</loc></url>", "breaks off"),
        ("u.txt.gz", b"\x1f\x8bno", "can't be unpacked"),
    ],
)
def test_what_holds_no_addresses_is_refused_with_its_name(
    name: str, content: bytes | None, told: str, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(PathNotVisible, match=rf"--urls .*{name}.*{told}"):
        read_urls(name, roots=[tmp_path], normal=page_url)


_MB = 1024**2
BOMBS = {
    "same.txt.gz": (f"{GOOD[0]}?{'x' * 1500}\n", 8 * _MB),
    "line.txt.gz": ("x", 24 * _MB),
    "line.csv.gz": ("a,", 24 * _MB),
    "open.csv.gz": ('"\n', 2 * _MB),
    "same.jsonl.gz": (json.dumps({"url": GOOD[0], "more": "x" * 900}) + "\n", 8 * _MB),
    "line.jsonl.gz": ("[", 24 * _MB),
    "lines.xml.gz": ("<urlset>&", 16 * _MB),
}


@pytest.mark.parametrize("name", BOMBS)
@pytest.mark.heavy
def test_what_is_packed_is_read_in_little_memory(name: str, tmp_path: Path) -> None:
    piece, size = BOMBS[name]
    with gzip.open(tmp_path / name, "wb", compresslevel=1) as file:
        block = (f"url\n{GOOD[1]}\n".encode() if "csv" in name else b"") + piece.encode() * (
            65_536 // len(piece)
        )
        for _ in range(size // len(block)):
            file.write(block)
    tracemalloc.start()
    try:
        rows, _ = read_urls(name, roots=[tmp_path], normal=page_url)
        said = {row.url for row in rows if row.refused is None}
    except PathNotVisible as refused:
        said = {str(refused)}
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < max(size // 2, 2 * _MB)
    if "csv" in name:
        assert said == {GOOD[1]}
    elif "xml" not in name:
        assert len(said) == ("same" in name)


@pytest.mark.heavy
def test_a_parquet_that_repeats_one_long_text_holds_it_once(tmp_path: Path) -> None:
    long = f"{GOOD[0]}?{'x' * 1_000_000}"
    indices = pa.array([0] * 3000, pa.int32())
    column = pa.DictionaryArray.from_arrays(indices, pa.array([long]))
    pyarrow.parquet.write_table(pa.table({"url": column}), tmp_path / "p.parquet")
    before = pa.total_allocated_bytes()
    tracemalloc.start()
    rows, twice = read_urls("p.parquet", roots=[tmp_path], normal=page_url)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (len(rows), twice) == (1, 2999)
    assert peak + pa.total_allocated_bytes() - before < 40 * 1024**2


@pytest.mark.parametrize(("bound", "most"), [("_MOST_UNPACKED", 50), ("_MOST_HELD", 30), ("_MOST_LINES", 2)])
def test_a_file_that_comes_to_too_much_is_refused(
    bound: str, most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(url_files, bound, most)
    name = "u.parquet" if bound == "_MOST_LINES" else "u.csv"
    write(tmp_path, name)
    with pytest.raises(PathNotVisible, match="over"):
        read_urls(name, roots=[tmp_path], normal=page_url)


def test_after_a_mark_that_is_not_closed_the_rows_go_on(tmp_path: Path) -> None:
    (tmp_path / "u.csv").write_text(f"url\n{GOOD[0]}\n" + '"a\n' + "x\n" * 1000 + f"{GOOD[1]}\n")
    rows, _ = read_urls("u.csv", roots=[tmp_path], normal=page_url)
    assert [row.url for row in rows if row.refused is None] == GOOD
    assert any("is not closed" in row.url for row in rows)


def test_a_web_address_is_for_the_other_option() -> None:
    with pytest.raises(PathNotVisible, match=r"--urls https://e\.com/s\.xml: .*--sitemap"):
        read_urls("https://e.com/s.xml", roots=[], normal=page_url)


def test_a_parquet_without_the_column_names_those_it_has(tmp_path: Path) -> None:
    pyarrow.parquet.write_table(pa.table({"page": ["x"]}), tmp_path / "p.parquet")
    with pytest.raises(PathNotVisible, match=r"no column url.*page"):
        read_urls("p.parquet", roots=[tmp_path], normal=page_url)


@given(st.lists(st.sampled_from(["a", "b", "c"]), max_size=30))
def test_each_host_is_asked_in_its_turn(hosts: list[str]) -> None:
    urls = [f"http://{host}.com/{number}" for number, host in enumerate(hosts)]
    order = interleaved(urls, host_of)
    assert sorted(order) == sorted(urls)
    for host in "abc":
        own = [url for url in urls if host_of(url) == f"{host}.com"]
        assert [url for url in order if host_of(url) == f"{host}.com"] == own
    rank = functools.partial(_rank, order)
    assert [rank(url) for url in order] == sorted(rank(url) for url in order)


def _rank(order: list[str], url: str) -> int:
    return sum(host_of(each) == host_of(url) for each in order[: order.index(url)])
