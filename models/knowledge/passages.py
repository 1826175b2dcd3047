"""Passages of sources, and the segments of the index that they are found by. Seed 002 §6.2, subsystem 7."""

from typing import Literal, NamedTuple

from models.record import Record

SegmentKind = Literal["flat", "ivf", "hnsw"]


class SourceText(Record):
    """A source's text as it was read; `text_sha256` tells whether it is still the one."""

    id: int
    project_id: int
    text: str
    text_sha256: str


class MadePassage(NamedTuple):
    """A passage that is to be kept: `text[start:end]` of its source, in characters.

    `vector` is of length 1, as 32-bit floats, little endian.
    """

    start: int
    end: int
    text: str
    vector: bytes


class SourcePassage(Record):
    """A passage as it is shown: `text` is the source's text from `start` to `end`, in characters."""

    id: int
    source_id: int
    start: int
    end: int
    text: str


class PassageHit(Record):
    """A passage that was found by meaning; `score` is a cosine."""

    passage_id: int
    score: float


class IndexSegment(Record):
    """A part of a project's index that does not change any more: a FAISS index of `vectors` passages.

    `file` is under `knowledge.index.dir`. `recall` is how much of the true nearest ten was found when it was
    measured with `effort`: inverted lists that are looked into, or nodes that are kept in view.
    """

    id: int
    project_id: int
    kind: SegmentKind
    file: str
    sha256: str
    vectors: int
    bytes: int
    recall: float
    effort: int
    made_with: str
