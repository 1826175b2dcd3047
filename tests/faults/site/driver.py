"""A batch's driver as a process of the campaign: the product's own, less Ray Data, over a folder of topics.

It leaves the exit code that it came to beside the folder. One that dies before is submitted again.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from models.config import Config
from models.errors import DatabaseUnavailable
from models.store.database import GONE
from pipelines.drafts import Drafting
from pipelines.edit_articles import edit
from pipelines.pipeline import BatchOptions
from pipelines.summary import Summary, write_parquet
from pipelines.topics import TopicRow, read_topic
from tests.fakes.rows import ListedRows

_SUBMITTER = "ann"
# Of these a driver may die: the person who submitted it does so again.
_AWAY = (*GONE, DatabaseUnavailable, OSError)


def exit_file(topics: Path) -> Path:
    """Where the exit code of the driver over a folder is, once it has ended by itself."""
    return topics.with_suffix(".exit")


def unwritten_file(topics: Path) -> Path:
    """Is there where the driver found no room for its summary."""
    return topics.with_suffix(".unwritten")


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
    wishes = BatchOptions(
        submitter=_SUBMITTER, force=False, at_once=config.article_generation.batch.max_topics_at_once
    )
    rows = ListedRows(read_topics(topics, config))
    unwritten_file(topics).unlink(missing_ok=True)

    def noted(summaries: Sequence[Summary], path: Path, schema: pa.Schema) -> None:
        try:
            write_parquet(summaries, path, schema)
        except OSError:
            unwritten_file(topics).touch()
            raise

    try:
        code = asyncio.run(
            edit(rows, config, database_url, wishes, Drafting(), allow_blocked=False, write=noted)
        )
    except Exception as error:
        if not is_explained(error):
            with open(crash_file(topics), "a", encoding="utf-8") as file:
                file.write(f"{type(error).__name__}: {error}\n")
        raise
    draft = topics.with_suffix(".code")
    draft.write_text(str(code), encoding="utf-8")
    draft.replace(exit_file(topics))


def is_explained(error: BaseException) -> bool:
    """Whether something outside a driver explains that it died."""
    if isinstance(error, BaseExceptionGroup):
        return all(is_explained(one) for one in error.exceptions)
    return isinstance(error, _AWAY)
