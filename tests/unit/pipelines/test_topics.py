"""Topic files: whatever is in one, it is a topic or a reason, and never the end of the batch."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.platform.systems import load
from pipelines import topics
from pipelines.topics import TopicRow, duplicates, read_topic

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


def read_bytes(content: bytes) -> TopicRow:
    """The row of a file with this in it, which can be sent on."""
    row = read_topic(path="f.json", content=content, settings=SETTINGS)
    row.model_dump_json().encode()
    return row


def read(raw: Any) -> TopicRow:
    """The row of a file with this JSON in it."""
    return read_bytes(json.dumps(raw).encode())


def seconds(content: bytes) -> float:
    """How long a file takes that is refused."""
    begun = time.process_time()
    assert read_bytes(content).error is not None
    return time.process_time() - begun


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
    row = read_bytes(b'{"source_text": "a", "source_text": "b"}')
    assert row.error == "f.json: the key 'source_text' stands twice"


def test_a_number_too_long_for_python_is_a_reason_and_not_the_end_of_the_batch() -> None:
    row = read_bytes(b'{"target_length_words": -' + b"1" * 4301 + b"}")
    assert row.error == (
        "f.json: a number in it has more than 4,300 digits: shorten it, or put it in quotation marks"
    )


def test_what_nobody_has_thought_of_is_a_reason_on_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise MemoryError("no room\nfor it")

    monkeypatch.setattr(topics, "_check", broken)
    row = read({"source_metadata": SOURCE})
    assert row.error == "f.json: can't be read: MemoryError: no room"
    assert row.name == "c/s", "it is told as far as it is known"


def test_half_a_character_in_a_key_is_a_reason_that_can_be_sent_on() -> None:
    row = read_bytes(b'{"a": [{"\\ud800": 1}]}')
    assert row.error == "f.json: a.0.?: holds a character that is no text (NUL or half a pair)"


def test_of_two_hundred_thousand_keys_the_one_that_stands_twice_is_found_at_once() -> None:
    keys = [f'"k{number}": 1' for number in range(200_000)]
    assert seconds(f"{{{', '.join([*keys, keys[-1]])}}}".encode()) < 5


def test_a_long_key_over_many_values_takes_no_longer_than_its_file() -> None:
    children = ", ".join(['"x"'] * 200_000)
    content = f'{{"{"k" * 4_000_000}": [{children}, "\\u0000"]}}'.encode()
    assert seconds(content) < 5
    error = read_bytes(content).error
    assert error is not None
    assert error.endswith("k…: holds a character that is no text (NUL or half a pair)")
    assert len(error) < 400


def test_what_is_quoted_of_a_file_is_short() -> None:
    long = "k" * 100_000
    style = {"source_text": "text", "source_metadata": SOURCE, "style_mode": long}
    for content in (f'{{"{long}": 1, "{long}": 2}}'.encode(), json.dumps(style).encode()):
        assert len(read_bytes(content).error or "") < 500
    row = read({"source_text": "text", "source_metadata": SOURCE, **dict.fromkeys(map(str, range(50)), long)})
    assert row.error is not None
    assert row.error.endswith("9: is not a known key; and 40 more")


def test_only_files_that_share_channel_and_slug_are_duplicates() -> None:
    found = duplicates(
        [("1", "c", "s"), ("2", "c", "t"), ("3", "c", "s"), ("4", None, "s"), ("5", None, "s")]
    )
    assert sorted(found) == ["1", "3"]
    assert "also in 3" in found["1"]


def test_of_many_duplicates_each_names_a_few_others_and_tells_how_many_more_there_are() -> None:
    found = duplicates((str(number), "c", "s") for number in range(1, 7))
    told = {path: error.partition("also in ")[2].partition(":")[0] for path, error in found.items()}
    assert told == {
        "1": "2, 3, 4 and 2 more",
        "2": "1, 3, 4 and 2 more",
        "3": "1, 2, 4 and 2 more",
        "4": "1, 2, 3 and 2 more",
        "5": "1, 2, 3 and 2 more",
        "6": "1, 2, 3 and 2 more",
    }
    assert duplicates((str(number), "c", "s") for number in range(4))["3"].count("0, 1, 2: ") == 1
    many = duplicates((f"folder/{number}.json", "c", "s" * 100_000) for number in range(2_000))
    assert sum(map(len, many.values())) < 2_000 * 500
