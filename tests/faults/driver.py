"""A batch's driver as a process of the campaign: the product's own, less Ray Data, over a folder of topics.

It leaves the exit code that it came to beside the folder. One that dies before is submitted again.
"""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from models.config import Config
from models.errors import DatabaseUnavailable
from models.store.database import GONE
from pipelines.edit_articles import Wishes, _edit
from pipelines.topics import TopicRow, read_topic

_SUBMITTER = "ann"
# Of these a driver may die: the person who submitted it does so again.
_AWAY = (*GONE, DatabaseUnavailable, OSError)


class _Rows:
    """Stands where Ray Data's rows do."""

    def __init__(self, rows: list[TopicRow]) -> None:
        self._rows = [
            {"path": row.path, "channel": row.channel, "slug": row.slug, "row": row.model_dump_json()}
            for row in rows
        ]

    def select_columns(self, names: list[str]) -> "_Rows":
        return self

    def take_all(self) -> list[dict[str, Any]]:
        return self._rows

    def iter_rows(self) -> Iterator[dict[str, Any]]:
        return iter(self._rows)


def exit_file(topics: Path) -> Path:
    """Where the exit code of the driver over a folder is, once it has ended by itself."""
    return topics.with_suffix(".exit")


def crash_file(topics: Path) -> Path:
    """Where is told of what drivers over a folder died that nothing outside them explains."""
    return topics.with_suffix(".crashes")


def read_topics(topics: Path, config: Config) -> list[TopicRow]:
    """The folder's topics, in order."""
    settings = config.article_generation
    return [
        read_topic(path=str(path), content=path.read_bytes(), settings=settings)
        for path in sorted(topics.glob("*.json"))
    ]


def drive(topics: Path, config: Config, database_url: str) -> None:
    """Carry the batch to its end, and leave its exit code."""
    wishes = Wishes(
        submitter=_SUBMITTER,
        force=False,
        allow_blocked=False,
        at_once=config.article_generation.batch.max_topics_at_once,
        draft_in=None,
        request_publication=False,
        requests_at_most=None,
    )
    rows: Any = _Rows(read_topics(topics, config))
    try:
        code = asyncio.run(_edit(rows, config, database_url, wishes))
    except Exception as error:
        if not _explained(error):
            with open(crash_file(topics), "a", encoding="utf-8") as file:
                file.write(f"{type(error).__name__}: {error}\n")
        raise
    draft = topics.with_suffix(".code")
    draft.write_text(str(code), encoding="utf-8")
    draft.replace(exit_file(topics))


def _explained(error: BaseException) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return all(_explained(one) for one in error.exceptions)
    return isinstance(error, _AWAY)
