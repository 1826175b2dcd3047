"""Topic files into topics: reading, checking, and telling what is wrong with a bad one.

The batch reads files with Ray Data from any filesystem pyarrow knows, and checks each in a worker. A
bad file becomes a row with its reason; it never stops the others. Input contract: seed 004 §3.1.
"""

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

import pyarrow.fs
from pydantic import ValidationError

from models.config import ArticleGenerationConfig
from models.content.editorial import TopicInput
from models.errors import PathNotVisible, TopicInvalid
from models.record import Record
from models.runtime.approvals import content_digest
from models.text import unstorable


class TopicRow(Record):
    """One topic file as read: a topic, or the reason why it is none.

    `channel` and `slug` are given as far as the file tells them, so that a bad topic has a name too.
    """

    path: str
    topic: TopicInput | None
    error: str | None
    channel: str | None
    slug: str | None

    @property
    def name(self) -> str:
        """What to call it in a table."""
        return f"{self.channel}/{self.slug}" if self.channel and self.slug else Path(self.path).name

    @property
    def key(self) -> str:
        """The workflow key: one canonical JSON, so one open workflow."""
        return f"editorial:{json.dumps([self.channel, self.slug], ensure_ascii=False)}"

    @property
    def digest(self) -> str:
        """The digest of the topic; unchanged means that a finished run still stands."""
        assert self.topic is not None
        return content_digest(self.topic.model_dump(mode="json"))

    def head(self) -> "TopicRow":
        """Its path, channel and slug."""
        return self.model_copy(update={"topic": None, "error": None})


def find_topic_files(topics: str, *, roots: Iterable[Path]) -> tuple[pyarrow.fs.FileSystem, list[str]]:
    """The `.json` files of a folder (or the one file), and the filesystem they are on.

    Args:
        topics: a path, relative to the first of `roots` that has it, or a URI such as `s3://…`.
        roots: folders that a relative local path may be relative to.

    Raises:
        PathNotVisible: nothing is there, or nothing that could be a topic.
    """
    if "://" in topics:
        try:
            filesystem, base = pyarrow.fs.FileSystem.from_uri(topics)
        except (OSError, ValueError) as error:
            raise PathNotVisible(f"--topics {topics}: can't be opened: {error}") from error
    else:
        candidates = [Path(os.path.normpath(root / Path(topics).expanduser())) for root in roots]
        found = next((path for path in candidates if path.exists()), None)
        if found is None:
            looked = ", ".join(str(path) for path in dict.fromkeys(candidates))
            raise PathNotVisible(
                f"--topics {topics}: nothing is there, seen from this job (looked at {looked})"
            )
        filesystem, base = pyarrow.fs.LocalFileSystem(), str(found)
    try:
        [info] = filesystem.get_file_info([base])
        if info.type == pyarrow.fs.FileType.File:
            return filesystem, [base]
        selector = pyarrow.fs.FileSelector(base, recursive=True)
        files = filesystem.get_file_info(selector)
    except OSError as error:
        raise PathNotVisible(f"--topics {topics}: can't be read: {error}") from error
    paths = sorted(f.path for f in files if f.type == pyarrow.fs.FileType.File and _is_topic(f.path))
    if not paths:
        raise PathNotVisible(f"--topics {topics}: there is no .json file in it")
    return filesystem, paths


def _is_topic(path: str) -> bool:
    name = path.rsplit("/", 1)[-1]
    return name.lower().endswith(".json") and not name.startswith(".")


def read_topic(path: str, content: bytes, *, settings: ArticleGenerationConfig) -> TopicRow:
    """One file's topic, its optional fields filled from the configuration, or the reason why not."""
    raw: Any = None
    try:
        raw = _parse(path, content)
        _refuse_what_is_no_text(path, raw)
        topic = _check(path, raw, settings)
    except TopicInvalid as error:
        channel, slug = (_name(raw, key) for key in ("channel_name", "topic_slug"))
        return TopicRow(path=path, topic=None, error=str(error), channel=channel, slug=slug)
    source = topic.source_metadata
    return TopicRow(path=path, topic=topic, error=None, channel=source.channel_name, slug=source.topic_slug)


def duplicates(names: Iterable[tuple[str, str | None, str | None]]) -> dict[str, str]:
    """Files that would write the same canonical JSON: path to the error that names the others.

    Args:
        names: path, channel and slug of each file.
    """
    by_name: dict[tuple[str, str], list[str]] = {}
    for path, channel, slug in names:
        if channel and slug:
            by_name.setdefault((channel, slug), []).append(path)
    return {
        path: f"{path}: channel_name {channel!r} and topic_slug {slug!r} are also in "
        f"{', '.join(other for other in paths if other != path)}: give each topic its own"
        for (channel, slug), paths in by_name.items()
        if len(paths) > 1
        for path in paths
    }


def _parse(path: str, content: bytes) -> Any:
    def refuse_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = [key for key, _ in pairs]
        if len(set(keys)) < len(keys):
            raise TopicInvalid(f"{path}: the key {next(k for k in keys if keys.count(k) > 1)!r} stands twice")
        return dict(pairs)

    try:
        text = content.decode("utf-8-sig")
        raw = json.loads(text, object_pairs_hook=refuse_twice)
    except UnicodeDecodeError as error:
        raise TopicInvalid(f"{path}: not UTF-8 (byte {error.start}): save it as UTF-8") from error
    except (json.JSONDecodeError, RecursionError) as error:
        raise TopicInvalid(f"{path}: not JSON: {error}") from error
    if not isinstance(raw, dict):
        raise TopicInvalid(f"{path}: a topic is a JSON object, not {type(raw).__name__}")
    return raw


def _refuse_what_is_no_text(path: str, raw: dict[str, Any]) -> None:
    for where, value in _texts(raw):
        if unstorable(value) is not None:
            raise TopicInvalid(f"{path}: {where}: holds a character that is no text (NUL or half a pair)")


def _check(path: str, raw: dict[str, Any], settings: ArticleGenerationConfig) -> TopicInput:
    filled = {
        "style_mode": settings.default_style_mode,
        "target_length_words": settings.default_target_length_words,
        "optional_angle": None,
        **raw,
    }
    try:
        topic = TopicInput.model_validate(filled, strict=True)
    except ValidationError as error:
        faults = [
            f"{'.'.join(str(part) for part in fault['loc'])}: {_reason(fault)}"
            for fault in error.errors(include_url=False, include_input=False)
        ]
        raise TopicInvalid(f"{path}: {'; '.join(faults)}") from error
    if topic.style_mode not in settings.allowed_styles:
        raise TopicInvalid(
            f"{path}: style_mode: {topic.style_mode!r} is not one of {', '.join(settings.allowed_styles)}"
        )
    return topic


def _reason(fault: Any) -> str:
    kind: Literal["missing"] | str = fault["type"]
    if kind == "missing":
        return "is required"
    if kind == "extra_forbidden":
        return "is not a known key"
    if kind in ("string_too_short", "string_pattern_mismatch"):
        return "must not be empty"
    return str(fault["msg"]).removeprefix("Value error, ")


def _name(raw: Any, key: str) -> str | None:
    metadata = raw.get("source_metadata") if isinstance(raw, dict) else None
    value = metadata.get(key) if isinstance(metadata, dict) else None
    return value if isinstance(value, str) and value.strip() and unstorable(value) is None else None


def _texts(value: Any, where: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield where or "(top level)", value
    elif isinstance(value, dict):
        for key, part in value.items():
            yield f"{where}.{key}".strip("."), key
            yield from _texts(part, f"{where}.{key}".strip("."))
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from _texts(part, f"{where}.{number}".strip("."))
