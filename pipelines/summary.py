"""What a batch came to: one record per row, as a table for people and a Parquet file for programs.

A pipeline gives the record, and how it is laid out.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.parquet
from rich.table import Table
from rich.text import Text

from models.files import written_atomically
from pipelines.progress import plain

_MOST_ROWS = 200


class Summary(Protocol):
    """What the driver and the table know of a row's outcome; a pydantic record."""

    @property
    def name(self) -> str:
        """The row's name."""

    @property
    def status(self) -> str:
        """One of its layout's."""

    @property
    def skipped(self) -> bool:
        """Whether it had succeeded before this batch."""

    @property
    def error(self) -> str | None:
        """Why it has come to nothing, or to less."""

    def model_dump(self) -> dict[str, Any]:
        """A row of the Parquet file."""


@dataclass(frozen=True)
class Layout:
    """How a pipeline's summaries are laid out.

    `noun` is what people call a row; `styles` are the statuses, in the order they are counted in, with
    their colours; `numbers` are the fields that the table shows; `schema` is the Parquet file's.
    """

    noun: str
    styles: Mapping[str, str]
    numbers: Sequence[str]
    schema: pa.Schema


def write_parquet(rows: Sequence[Summary], path: Path, schema: pa.Schema) -> None:
    """Write the rows to one Parquet file, whole and on disk, or not at all."""
    table = pa.Table.from_pylist([row.model_dump() for row in rows], schema=schema)
    with written_atomically(path) as file:
        pyarrow.parquet.write_table(table, file)


def as_table(rows: Sequence[Summary], layout: Layout) -> Table:
    """The rows for a terminal. What files and models say is text to it, brackets too.

    Of many rows, those with an error, and no more than people read; the file has all.
    """
    counts = Counter(row.status for row in rows)
    title = ", ".join(f"{counts[status]} {status}" for status in layout.styles if counts[status])
    if len(rows) > _MOST_ROWS:
        rows = [row for row in rows if row.error][:_MOST_ROWS]
        title += f"; {len(rows)} with an error are shown"
    table = Table(title=f"{counts.total()} {layout.noun}s: {title}", title_justify="left")
    for column in (layout.noun, "status"):
        table.add_column(column, justify="left", no_wrap=True)
    for column in layout.numbers:
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("error", overflow="fold")
    for row in rows:
        table.add_row(
            Text(plain(row.name)),
            Text.assemble((row.status, layout.styles[row.status]), " (before)" if row.skipped else ""),
            *(f"{getattr(row, column):.0f}" for column in layout.numbers),
            Text(plain(row.error or "")),
        )
    return table
