"""What the editorial batch tells of a topic once it has ended: its article, and what is held against it."""

from typing import Literal

import pyarrow as pa

from models.record import Record
from pipelines.summary import Layout

Status = Literal["passed", "blocked", "error", "stopped"]


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

    @property
    def name(self) -> str:
        """What the topic is called."""
        return self.topic


LAYOUT = Layout(
    noun="topic",
    styles={"passed": "green", "blocked": "yellow", "error": "red", "stopped": "magenta"},
    numbers=("rounds", "concerns", "seconds", "tokens"),
    schema=pa.schema(
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
    ),
)


def as_lines(row: TopicSummary) -> list[str]:
    """The article's headline, where its JSON is, and what its editors still have against it."""
    lines = [f"{row.topic}: {row.status}: {row.headline or row.error or 'no headline'}"]
    if row.path is not None:
        lines.append(f"    {row.path}")
    return lines + [f"    concern that remains: {excerpt}" for excerpt in row.remaining]


def passes(row: TopicSummary, *, allow_blocked: bool) -> bool:
    """Whether its outcome lets the batch succeed; with `allow_blocked` only errors and stops do not."""
    return row.status == "passed" or (allow_blocked and row.status == "blocked")
