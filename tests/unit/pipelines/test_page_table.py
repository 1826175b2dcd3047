"""The file of a scraping batch is there when it is whole, and then in pieces that can be read."""

from pathlib import Path

import pyarrow.fs
import pyarrow.parquet
import pytest

from models.knowledge.pages import ScrapedPage
from pipelines.page_table import PageTable

PAGE = ScrapedPage(url="https://example.com/", fault="not_found", reason="404")


def table(folder: Path, *, store: bool = False) -> PageTable:
    filesystem = pyarrow.fs.LocalFileSystem()
    if store:  # whatever is no local one is written under its own name, as an object store's
        filesystem = pyarrow.fs.SubTreeFileSystem(str(folder), filesystem)
        return PageTable(filesystem, "out/b.parquet")
    return PageTable(filesystem, str(folder / "out" / "b.parquet"))


@pytest.mark.parametrize("store", [False, True])
def test_rows_are_written_many_together(store: bool, tmp_path: Path) -> None:
    with table(tmp_path, store=store) as writing:
        for _ in range(500):
            writing.add([(PAGE, False)] * 5)
    [path] = (tmp_path / "out").iterdir()
    found = pyarrow.parquet.ParquetFile(path)
    assert (path.name, found.metadata.num_rows, found.metadata.num_row_groups) == ("b.parquet", 2500, 3)


@pytest.mark.parametrize("store", [False, True])
def test_what_is_not_whole_is_not_left(store: bool, tmp_path: Path) -> None:
    def fail() -> None:
        with table(tmp_path, store=store) as writing:
            writing.add([(PAGE, False)] * 2000)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert list((tmp_path / "out").iterdir()) == []
    with table(tmp_path, store=store) as writing:
        writing.add([(PAGE, False)])
        writing.discard()
    assert list((tmp_path / "out").iterdir()) == []
    writing.add([(PAGE, False)])  # by a thread that is left behind
