"""What the extraction batch tells of a source once its workflow has ended."""

from typing import Literal

import pyarrow as pa

from models.record import Record
from pipelines.summary import Layout

Status = Literal["kept", "changed", "error", "stopped"]


class SourceSummary(Record):
    """One source's outcome. `dropped` counts what the model said and is not kept; see `DropReason`.

    `changed`: its text was fetched anew or deleted meanwhile. `seconds` is from the start to the end of its
    workflow.
    """

    source_id: int
    url: str
    status: Status
    skipped: bool = False
    chunks: int = 0
    points: int = 0
    entities: int = 0
    dropped: int = 0
    seconds: float = 0.0
    tokens: int = 0
    error: str | None = None

    @property
    def name(self) -> str:
        """What the source is called."""
        return self.url


LAYOUT = Layout(
    noun="source",
    styles={"kept": "green", "changed": "yellow", "error": "red", "stopped": "magenta"},
    numbers=("chunks", "points", "entities", "dropped", "seconds", "tokens"),
    schema=pa.schema(
        [
            ("source_id", pa.int64()),
            ("url", pa.string()),
            ("status", pa.string()),
            ("skipped", pa.bool_()),
            ("chunks", pa.int32()),
            ("points", pa.int32()),
            ("entities", pa.int32()),
            ("dropped", pa.int32()),
            ("seconds", pa.float64()),
            ("tokens", pa.int64()),
            ("error", pa.string()),
        ]
    ),
)
