"""A pipeline that is not editorial: sacks of grain, each a workflow of four steps at a barrier."""

from collections.abc import Mapping, Sequence
from typing import Literal

import pyarrow as pa
from pydantic import BaseModel, ConfigDict

from models.runtime.approvals import content_digest
from models.runtime.workflows import WorkflowRequest
from pipelines.pipeline import Settled
from pipelines.summary import Layout
from tests.fakes.barrier import Barrier


class Sack(BaseModel):
    """A row. `grain` is what it holds; without any it is refused, and chaff can't be made a workflow of."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: str
    grain: str | None

    @property
    def name(self) -> str:
        """Of its file."""
        return self.path.rpartition("/")[2]

    def head(self) -> "Sack":
        """Its path."""
        return self.model_copy(update={"grain": None})


class Flour(BaseModel):
    """What came of a sack."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    status: Literal["ground", "error", "stopped"]
    skipped: bool = False
    steps: int = 0
    error: str | None = None


class Mill:
    """The pipeline. It counts the sacks that are under way at once, and how often a batch came to its end."""

    layout = Layout(
        noun="sack",
        styles={"ground": "green", "error": "red", "stopped": "magenta"},
        numbers=("steps",),
        schema=pa.schema(
            [
                ("name", pa.string()),
                ("status", pa.string()),
                ("skipped", pa.bool_()),
                ("steps", pa.int32()),
                ("error", pa.string()),
            ]
        ),
    )
    steps: Mapping[str, str] = {"one": "weighed"}

    def __init__(self, barrier: Barrier, *, ends_well: bool = True) -> None:
        self.most_at_once = 0
        self.ends = 0
        self._barrier = barrier
        self._under_way = 0
        self._ends_well = ends_well

    def refusal(self, row: Sack) -> str | None:
        """It is empty."""
        return None if row.grain else f"{row.path}: there is nothing in it"

    async def refuse(self, row: Sack, reason: str) -> Flour:
        """Its reason."""
        return Flour(name=row.name, status="error", error=reason)

    def request(self, row: Sack) -> WorkflowRequest:
        """Four steps."""
        if row.grain == "chaff":
            raise ValueError("chaff can't be ground")
        self._under_way += 1
        self.most_at_once = max(self.most_at_once, self._under_way)
        work = {"barrier": self._barrier.address, "grain": row.grain}
        return WorkflowRequest(
            kind="steps",
            key=f"mill:{row.name}",
            input=work,
            input_digest=content_digest(work),
            requested_by="ann",
        )

    async def summarise(self, row: Sack, settled: Settled) -> Flour:
        """The steps that were kept."""
        self._under_way -= 1
        done = settled.workflow.status == "succeeded"
        return Flour(
            name=row.name,
            status="ground" if done else "error",
            skipped=settled.skipped,
            steps=len(settled.documents),
            error=settled.workflow.error,
        )

    def unfinished(self, row: Sack, status: Literal["error", "stopped"], why: str) -> Flour:
        """No flour."""
        return Flour(name=row.name, status=status, error=why)

    def lines(self, summary: Flour) -> Sequence[str]:
        """One."""
        return [f"{summary.name}: {summary.status}"]

    def passes(self, summary: Flour) -> bool:
        """It was ground."""
        return summary.status == "ground"

    async def afterwards(self) -> bool:
        """Count it."""
        self.ends += 1
        return self._ends_well
