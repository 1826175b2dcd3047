"""Topic files: whatever is in one, it is a topic or a reason, and never the end of the batch."""

import json
from pathlib import Path
from typing import Any

import pyarrow.fs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.systems import load
from models.errors import PathNotVisible
from pipelines.topics import TopicRow, duplicates, find_topic_files, read_topic

SETTINGS = load(Path(__file__).parents[3] / "configs/local.yaml").article_generation
SOURCE = {
    "source_file": "a.txt",
    "channel_name": "c",
    "video_id": "v",
    "video_title": "t",
    "publish_date": None,
    "topic_slug": "s",
    "topic_title": "T",
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


def read(raw: Any) -> TopicRow:
    """The row of a file with this JSON in it."""
    return read_topic(path="f.json", content=json.dumps(raw).encode(), settings=SETTINGS)


@given(st.binary() | JSON.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_are_a_reason_that_names_the_file(content: bytes) -> None:
    row = read_topic(path="f.json", content=content, settings=SETTINGS)
    assert row.topic is None
    assert row.error is not None
    assert row.error.startswith("f.json: ")
    row.model_dump_json().encode()


@given(
    st.dictionaries(st.sampled_from([*SOURCE, "more"]), JSON, max_size=3),
    st.dictionaries(
        st.sampled_from(["source_text", "style_mode", "target_length_words", "optional_angle", "x"]),
        JSON,
        max_size=3,
    ),
)
def test_a_topic_with_anything_in_it_is_read_or_refused_and_can_be_stored(
    metadata: dict[str, Any], rest: dict[str, Any]
) -> None:
    row = read({"source_text": "text", "source_metadata": {**SOURCE, **metadata}, **rest})
    assert (row.topic is None) == (row.error is not None)
    text = row.model_dump_json()
    text.encode()
    assert "\\u0000" not in json.dumps([row.topic and row.topic.model_dump(), row.channel, row.slug])
    if row.topic:
        assert row.topic.style_mode in SETTINGS.allowed_styles
        assert len(row.digest) == 64


def test_optional_fields_are_filled_and_count_in_the_digest() -> None:
    plain = read({"source_text": "text", "source_metadata": SOURCE})
    assert plain.topic is not None
    assert plain.topic.style_mode == SETTINGS.default_style_mode
    assert plain.topic.target_length_words == SETTINGS.default_target_length_words
    spelled = read(
        {"source_text": "text", "source_metadata": SOURCE, "style_mode": SETTINGS.default_style_mode}
    )
    assert spelled.digest == plain.digest
    assert read({"source_text": "text!", "source_metadata": SOURCE}).digest != plain.digest
    angled = read({"source_text": "text", "source_metadata": SOURCE, "optional_angle": "jobs"})
    assert angled.digest != plain.digest


@pytest.mark.parametrize("nothing", ["", " \n", "\u200b\ufeff", "\u2060 \u00ad"])
def test_a_text_in_which_nothing_can_be_seen_is_none(nothing: str) -> None:
    row = read({"source_text": nothing, "source_metadata": SOURCE})
    assert row.error is not None
    assert row.error.startswith("f.json: source_text: must not be empty")


def test_a_key_that_stands_twice_is_refused() -> None:
    row = read_topic(path="f.json", content=b'{"source_text": "a", "source_text": "b"}', settings=SETTINGS)
    assert row.error == "f.json: the key 'source_text' stands twice"


def test_only_files_that_share_channel_and_slug_are_duplicates() -> None:
    found = duplicates(
        [("1", "c", "s"), ("2", "c", "t"), ("3", "c", "s"), ("4", None, "s"), ("5", None, "s")]
    )
    assert sorted(found) == ["1", "3"]
    assert "also in 3" in found["1"]


def test_topic_files_are_found_by_path_below_any_root_and_by_uri(tmp_path: Path) -> None:
    (tmp_path / "in/deep").mkdir(parents=True)
    for name in ("in/b.json", "in/deep/a.json", "in/.hidden.json", "in/notes.txt", "in/z.JSON"):
        (tmp_path / name).write_text("{}")
    wanted = [str(tmp_path / "in/b.json"), str(tmp_path / "in/deep/a.json"), str(tmp_path / "in/z.JSON")]
    other = tmp_path / "elsewhere"
    for topics, roots in (
        ("in", [other, tmp_path]),
        (str(tmp_path / "in"), [other]),
        ("file://" + str(tmp_path / "in"), []),
    ):
        filesystem, paths = find_topic_files(topics, roots=roots)
        assert isinstance(filesystem, pyarrow.fs.LocalFileSystem)
        assert paths == wanted
    assert find_topic_files("in/b.json", roots=[tmp_path])[1] == wanted[:1]


@pytest.mark.parametrize(
    ("topics", "reason"),
    [
        ("nowhere", "nothing is there"),
        ("empty", "no .json file"),
        ("file:///nowhere/at/all", "can't be read"),
    ],
)
def test_a_path_without_topics_is_an_error(tmp_path: Path, topics: str, reason: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(PathNotVisible, match=reason):
        find_topic_files(topics, roots=[tmp_path])
