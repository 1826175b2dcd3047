"""Topic files into topics: reading, checking, and telling what is wrong with a bad one.

The batch finds files (`topic_files`), reads them with Ray Data, and checks each in a worker. A bad file
becomes a row with its reason, in time linear in the file; it never stops the others. Input contract: seed
004 §3.1.
"""

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from models.config import ArticleGenerationConfig
from models.content.editorial import TopicInput
from models.error_lines import error_line
from models.errors import TopicInvalid
from models.json_once import NamedTwice, read_once
from models.record import Record, reason_of
from models.runtime.approvals import content_digest
from models.text import cut, storable, unstorable

# What an error quotes of a file, and names of the others it speaks of. It is kept for each file of a batch.
_QUOTED = 200
_FAULTS_TOLD = 10
_OTHERS_NAMED = 3


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


def read_topic(path: str, content: bytes, *, settings: ArticleGenerationConfig) -> TopicRow:
    """One file's topic, its optional fields filled from the configuration, or the reason why not."""
    raw: Any = None
    try:
        raw = _parse(path, content)
        _refuse_what_is_no_text(path, raw)
        topic = _check(path, raw, settings)
    except Exception as error:  # noqa: BLE001  # whatever a file makes of itself, it ends no other
        # On purpose, or in a way that nobody has thought of yet.
        told = isinstance(error, TopicInvalid)
        reason = str(error) if told else f"{path}: can't be read: {error_line(error)}"
        channel, slug = (_name(raw, key) for key in ("channel_name", "topic_slug"))
        return TopicRow(path=path, topic=None, error=storable(reason), channel=channel, slug=slug)
    source = topic.source_metadata
    return TopicRow(path=path, topic=topic, error=None, channel=source.channel_name, slug=source.topic_slug)


def unreadable_topic(path: str, error: OSError) -> TopicRow:
    """The row of a file that is there and can't be read."""
    reason = f"{path}: can't be read: {error_line(error)}"
    return TopicRow(path=path, topic=None, error=storable(reason), channel=None, slug=None)


def duplicates(names: Iterable[tuple[str, str | None, str | None]]) -> dict[str, str]:
    """Files that would write the same canonical JSON: path to the error that names some of the others.

    Args:
        names: path, channel and slug of each file.
    """
    by_name: dict[tuple[str, str], list[str]] = {}
    for path, channel, slug in names:
        if channel and slug:
            by_name.setdefault((channel, slug), []).append(path)
    return {
        path: f"{path}: channel_name {cut(channel, _QUOTED)!r} and topic_slug {cut(slug, _QUOTED)!r} are "
        f"also in {_others(path, paths)}: give each topic its own"
        for (channel, slug), paths in by_name.items()
        if len(paths) > 1
        for path in paths
    }


def _others(path: str, paths: list[str]) -> str:
    named = [other for other in paths[: _OTHERS_NAMED + 1] if other != path][:_OTHERS_NAMED]
    more = len(paths) - 1 - len(named)
    return ", ".join(named) + (f" and {more} more" if more else "")


def _parse(path: str, content: bytes) -> Any:
    try:
        text = content.decode("utf-8-sig")
        raw = read_once(text)
    except NamedTwice as error:
        raise TopicInvalid(f"{path}: the key {cut(error.name, _QUOTED)!r} stands twice") from error
    except UnicodeDecodeError as error:
        raise TopicInvalid(f"{path}: not UTF-8 (byte {error.start}): save it as UTF-8") from error
    except (json.JSONDecodeError, RecursionError) as error:
        raise TopicInvalid(f"{path}: not JSON: {error}") from error
    except ValueError as error:  # what Python makes no number of
        most = sys.get_int_max_str_digits()
        raise TopicInvalid(
            f"{path}: a number in it has more than {most:,} digits: shorten it, or put it in quotation marks"
        ) from error
    if not isinstance(raw, dict):
        raise TopicInvalid(f"{path}: a topic is a JSON object, not {type(raw).__name__}")
    return raw


def _refuse_what_is_no_text(path: str, raw: dict[str, Any]) -> None:
    where = _where_no_text(raw)
    if where is not None:
        told = cut(where, _QUOTED)
        raise TopicInvalid(f"{path}: {told}: holds a character that is no text (NUL or half a pair)")


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
        found = error.errors(include_url=False, include_input=False)
        faults = [
            f"{cut('.'.join(str(part) for part in fault['loc']), _QUOTED)}: {_reason(fault)}"
            for fault in found[:_FAULTS_TOLD]
        ]
        more = f"; and {len(found) - _FAULTS_TOLD} more" if len(found) > _FAULTS_TOLD else ""
        raise TopicInvalid(f"{path}: {'; '.join(faults)}{more}") from error
    if topic.style_mode not in settings.allowed_styles:
        style, allowed = cut(topic.style_mode, _QUOTED), ", ".join(settings.allowed_styles)
        raise TopicInvalid(f"{path}: style_mode: {style!r} is not one of {allowed}")
    return topic


def _reason(fault: Any) -> str:
    kind: Literal["missing"] | str = fault["type"]
    if kind == "missing":
        return "is required"
    if kind == "extra_forbidden":
        return "is not a known key"
    if kind in ("string_too_short", "string_pattern_mismatch"):
        return "must not be empty"
    return reason_of(fault)


def _name(raw: Any, key: str) -> str | None:
    metadata = raw.get("source_metadata") if isinstance(raw, dict) else None
    value = metadata.get(key) if isinstance(metadata, dict) else None
    return value if isinstance(value, str) and value.strip() and unstorable(value) is None else None


def _where_no_text(raw: dict[str, Any]) -> str | None:
    """Where the first text is that can't be kept, a key or a value, as `a.0.b`; None where all can.

    However deep and wide it is: no path is made on the way, and nothing is called within itself.
    """
    way: list[str] = []
    open_ = [_parts(raw)]
    while open_:
        key, part = next(open_[-1], (None, None))
        if key is None:
            open_.pop()
            del way[-1:]
        elif unstorable(key) is not None or (isinstance(part, str) and unstorable(part) is not None):
            return ".".join([*way, key])
        elif isinstance(part, dict | list):
            way.append(key)
            open_.append(_parts(part))
    return None


def _parts(value: dict[str, Any] | list[Any]) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        return iter(value.items())
    return ((str(number), part) for number, part in enumerate(value))
