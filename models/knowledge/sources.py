"""Sources: the texts that a project holds, each with where it came from. Seed 002 §4, §6.2 (`document`)."""

from collections.abc import Mapping
from datetime import datetime

from models.knowledge.pages import Engine, PageCoverage, PageFault
from models.record import Record


class KnowledgeSource(Record):
    """A page that a project has asked for, as it was read; or the fault and its reason.

    `text` is Markdown; spans are offsets of characters into it. `sha256` is of the bytes that were fetched,
    `text_sha256` of the text; `coverage` says what of the page is not in it. `url` is the address as it was
    asked for, `final_url` where it was read.
    """

    id: int
    project_id: int
    url: str
    final_url: str | None
    engine: Engine | None
    status: int | None
    content_type: str | None
    sha256: str | None
    bytes: int
    fetched_at: datetime | None
    title: str | None
    author: str | None
    date: str | None
    language: str | None
    text: str | None
    text_sha256: str | None
    links: tuple[str, ...]
    redacted: Mapping[str, int]
    fault: PageFault | None
    reason: str | None
    coverage: PageCoverage | None = None
