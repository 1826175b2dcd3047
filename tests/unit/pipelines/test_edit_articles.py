"""The editorial batch's files: the database has what they say, whatever lies in their place."""

from pathlib import Path

import pytest

from models.content.editorial import ArticleGenerationResult
from pipelines.edit_articles import _restore


@pytest.mark.parametrize(
    "there", [None, b"{}", b"\xff\xfe", "same"], ids=["gone", "other", "no text", "same"]
)
def test_the_file_of_a_topic_that_has_succeeded_is_put_back(
    tmp_path: Path, there: bytes | str | None
) -> None:
    result = ArticleGenerationResult(success=True, error="ü\r\n")
    text = result.model_dump_json(indent=2).encode()
    path = tmp_path / "s.json"
    if there is not None:
        path.write_bytes(text if isinstance(there, str) else there)
    before = path.stat().st_mtime_ns if there == "same" else None
    _restore(path, result)
    assert path.read_bytes() == text
    assert before in (None, path.stat().st_mtime_ns), "what is right is not written again"
