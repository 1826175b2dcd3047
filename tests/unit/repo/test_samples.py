"""The shipped samples keep to the input contract (seed 004 §3.1) and to what the demo can bear."""

import json
from pathlib import Path
from typing import Any

import pytest

from actors.platform.systems import load
from models.config import Config
from models.content.editorial import TopicInput

ROOT = Path(__file__).resolve().parents[3]
TOPICS = sorted((ROOT / "configs" / "samples" / "topics").iterdir())
DOCUMENTS = sorted((ROOT / "configs" / "samples" / "knowledgebase").iterdir())
METADATA_KEYS = {
    "source_file",
    "channel_name",
    "video_id",
    "video_title",
    "publish_date",
    "topic_slug",
    "topic_title",
}


@pytest.fixture(scope="module")
def config() -> Config:
    return load(ROOT / "configs" / "local.yaml", root=ROOT)


def read(path: Path) -> dict[str, Any]:
    topic = json.loads(path.read_text(encoding="utf-8"))
    assert isinstance(topic, dict)
    return topic


@pytest.mark.parametrize("path", TOPICS, ids=lambda path: path.stem)
def test_a_topic_is_valid_and_short(path: Path, config: Config) -> None:
    editorial = config.article_generation
    defaults = {
        "style_mode": editorial.default_style_mode,
        "target_length_words": editorial.default_target_length_words,
    }
    topic = TopicInput.model_validate(defaults | read(path), strict=True)
    assert topic.style_mode in editorial.allowed_styles
    assert topic.target_length_words == "80-120"
    assert 150 <= len(topic.source_text.split()) <= 230
    assert topic.source_metadata.topic_slug == path.stem
    assert ROOT / topic.source_metadata.source_file == path


def test_the_topics_are_eight_and_none_overwrites_another() -> None:
    metadata = [read(path)["source_metadata"] for path in TOPICS]
    assert len({(about["channel_name"], about["topic_slug"]) for about in metadata}) == len(TOPICS) == 8
    assert len({about["video_id"] for about in metadata}) == 8


def test_the_topics_show_every_part_of_the_contract() -> None:
    topics = [read(path) for path in TOPICS]
    assert all(set(topic["source_metadata"]) == METADATA_KEYS for topic in topics)
    assert {topic.get("style_mode") for topic in topics} == {"NATURE_NEWS", "SCIAM_MAGAZINE", None}
    assert sum("optional_angle" in topic for topic in topics) == 1
    assert sum(topic["source_metadata"]["publish_date"] is None for topic in topics) == 1


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_a_document_is_of_a_kind_and_length_that_is_indexed(path: Path) -> None:
    assert path.suffix in {".md", ".txt"}
    assert 150 <= len(path.read_text(encoding="utf-8").split()) <= 300


def test_the_knowledge_base_is_small_and_of_both_kinds() -> None:
    assert 10 <= len(DOCUMENTS) <= 12
    assert {path.suffix for path in DOCUMENTS} == {".md", ".txt"}
