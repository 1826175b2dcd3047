"""Sets of record linkage as they are read: whichever their marks, and the column and the order of ids."""

from pathlib import Path

from benchmarks.linkage import read_set


def test_two_tables_and_their_truth(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,name\na1,x\na2,y\n")
    (tmp_path / "b.csv").write_text("name|key|id\nX|1|b9\nY|2|b8\n")
    (tmp_path / "t.csv").write_text("left#right\na2#b8\nb9#a1\n")
    read = read_set(tmp_path / "a.csv", tmp_path / "b.csv", tmp_path / "t.csv")
    assert read.left == [{"name": "x"}, {"name": "y"}]
    assert read.right == [{"name": "X", "key": "1"}, {"name": "Y", "key": "2"}]
    assert read.truth == {(1, 1), (0, 0)}


def test_one_table_with_duplicates(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("number,name\n5,x\n7,x\n")
    (tmp_path / "t.csv").write_text("7|5\n5|5\n")
    read = read_set(tmp_path / "a.csv", None, tmp_path / "t.csv")
    assert (read.right, read.truth) == (None, {(0, 1)})
