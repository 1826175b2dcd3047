"""How a text was written: by a model, or of sentences that stand in its sources, word for word."""

from typing import Literal

from models.record import Record

Written = Literal["quotes", "prose"]
ChosenBy = Literal["model", "code"]


class SourcePlace(Record):
    """Where a statement stands in its source: characters `start` to `end` of a text, or cells of a table.

    `source` counts from 1. A cell is (row, column), both from 0.
    """

    source: int
    start: int | None = None
    end: int | None = None
    cells: tuple[tuple[int, int], ...] = ()
