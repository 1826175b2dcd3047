"""Files that commands write: what is there is kept unless it is said that it may go."""

import os
from pathlib import Path

import pytest

from cluster.cli.saving import check_free, save
from models.errors import InputInvalid


def test_a_file_is_written_as_it_is(tmp_path: Path) -> None:
    save(tmp_path / "a.pdf", b"%PDF\r\n\x00\xff", replace=False)
    assert (tmp_path / "a.pdf").read_bytes() == b"%PDF\r\n\x00\xff"
    assert os.listdir(tmp_path) == ["a.pdf"]


def test_what_is_there_by_then_is_kept(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("ours")
    with pytest.raises(InputInvalid, match="it is there already, and is kept: give --force"):
        save(tmp_path / "a", b"new", replace=False)
    assert ((tmp_path / "a").read_text(), os.listdir(tmp_path)) == ("ours", ["a"])
    save(tmp_path / "a", b"new", replace=True)
    assert ((tmp_path / "a").read_text(), os.listdir(tmp_path)) == ("new", ["a"])


def test_a_link_to_nowhere_is_something_too(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "none")
    with pytest.raises(InputInvalid, match="it is there already"):
        check_free(tmp_path / "a", replace=False)
    with pytest.raises(InputInvalid, match="it is there already"):
        save(tmp_path / "a", b"new", replace=False)
    assert not (tmp_path / "none").exists()


def test_where_no_file_can_be_is_told_before(tmp_path: Path) -> None:
    with pytest.raises(InputInvalid, match="this is a folder"):
        check_free(tmp_path, replace=True)
    with pytest.raises(InputInvalid, match="there is no folder"):
        check_free(tmp_path / "none" / "a", replace=False)
    check_free(tmp_path / "a", replace=False)
