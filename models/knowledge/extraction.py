"""Extraction of one source: what is asked for, and what came of it."""

from collections.abc import Mapping
from typing import Literal

from models.record import Record


class ExtractionTask(Record):
    """The text of a source, by its digest, is to be read; `extracted_with` says by what."""

    project_id: int
    source_id: int
    text_sha256: str
    extracted_with: str


class ExtractionResult(Record):
    """What was found. `changed`: the text was fetched anew or deleted meanwhile, and nothing is kept."""

    outcome: Literal["kept", "changed"]
    chunks: int
    points: int
    entities: int
    dropped: Mapping[str, int]
