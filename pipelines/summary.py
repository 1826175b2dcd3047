"""What a batch came to: one row per topic, as a table for people and a Parquet file for programs."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.parquet
from rich.table import Table
from rich.text import Text

from models.editorial import Record
from pipelines.progress import plain

Status = Literal["passed", "blocked", "error", "stopped"]
_STYLE: dict[Status, str] = {"passed": "green", "blocked": "yellow", "error": "red", "stopped": "magenta"}


class TopicSummary(Record):
    """One topic's outcome. `concerns` counts those that remain, and `remaining` quotes them.

    `seconds` is from the start to the end of its workflow.
    """

    topic: str
    status: Status
    skipped: bool
    rounds: int
    concerns: int
    remaining: list[str]
    seconds: float
    tokens: int
    headline: str | None
    path: str | None
    error: str | None


_SCHEMA = pa.schema(
    [
        ("topic", pa.string()),
        ("status", pa.string()),
        ("skipped", pa.bool_()),
        ("rounds", pa.int32()),
        ("concerns", pa.int32()),
        ("remaining", pa.list_(pa.string())),
        ("seconds", pa.float64()),
        ("tokens", pa.int64()),
        ("headline", pa.string()),
        ("path", pa.string()),
        ("error", pa.string()),
    ]
)


def write_parquet(rows: Sequence[TopicSummary], path: Path) -> None:
    """Write the rows to one Parquet file, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".tmp")
    table = pa.Table.from_pylist([row.model_dump() for row in rows], schema=_SCHEMA)
    pyarrow.parquet.write_table(table, temporary)
    temporary.replace(path)


def as_table(rows: Sequence[TopicSummary]) -> Table:
    """The rows for a terminal. What files and models say is text to it, brackets too."""
    counts = Counter(row.status for row in rows)
    title = ", ".join(f"{counts[status]} {status}" for status in _STYLE if counts[status])
    table = Table(title=f"{len(rows)} topics: {title}", title_justify="left")
    for column in ("topic", "status", "rounds", "concerns", "seconds", "tokens"):
        table.add_column(column, justify="left" if column in ("topic", "status") else "right", no_wrap=True)
    table.add_column("error", overflow="fold")
    for row in rows:
        table.add_row(
            Text(plain(row.topic)),
            Text.assemble((row.status, _STYLE[row.status]), " (before)" if row.skipped else ""),
            str(row.rounds),
            str(row.concerns),
            f"{row.seconds:.0f}",
            str(row.tokens),
            Text(plain(row.error or "")),
        )
    return table


def as_lines(row: TopicSummary) -> list[str]:
    """The article's headline, where its JSON is, and what its editors still have against it."""
    lines = [f"{row.topic}: {row.status}: {row.headline or row.error or 'no headline'}"]
    if row.path is not None:
        lines.append(f"    {row.path}")
    return lines + [f"    concern that remains: {excerpt}" for excerpt in row.remaining]


def exit_code(rows: Sequence[TopicSummary], *, allow_blocked: bool) -> int:
    """1 if any topic did not pass; with `allow_blocked` only errors and stops count."""
    fine = {"passed", "blocked"} if allow_blocked else {"passed"}
    return 0 if all(row.status in fine for row in rows) else 1
