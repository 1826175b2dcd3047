"""What a pipeline gives the driver: the workflow of a row, what came of it, and the words for it.

A new kind of batch is a `Pipeline` of its own, with a row and a summary; `edit_articles` is one.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

import pyarrow as pa

from models.runtime.workflows import Workflow, WorkflowRequest
from pipelines.rows import Row
from pipelines.summary import Layout, Summary

R_contra = TypeVar("R_contra", bound=Row, contravariant=True)
S = TypeVar("S", bound=Summary)
Write = Callable[[Sequence[Summary], Path, pa.Schema], None]


@dataclass(frozen=True)
class BatchOptions:
    """Who submitted a batch, and how: `force` redoes finished rows, `at_once` are under way at a time."""

    submitter: str
    force: bool
    at_once: int


@dataclass(frozen=True)
class Settled:
    """A row's workflow once it has ended, and what it has kept; `skipped` if it had succeeded before."""

    workflow: Workflow
    skipped: bool
    documents: Mapping[str, Any]
    tokens: int

    @property
    def seconds(self) -> float:
        """From its start to its end."""
        started, finished = self.workflow.started_at, self.workflow.finished_at
        return (finished - started).total_seconds() if started and finished else 0.0


class Pipeline(Protocol[R_contra, S]):
    """What one kind of batch knows of its rows and their workflows."""

    @property
    def layout(self) -> Layout:
        """How its summaries are laid out, and what a row is called."""

    @property
    def steps(self) -> Mapping[str, str]:
        """What to say of each step that is done; see `progress.show`."""

    def refusal(self, row: R_contra) -> str | None:
        """Why no workflow can be made of a row, if none can."""

    async def refuse(self, row: R_contra, reason: str) -> S:
        """Leave word of a row that is refused."""

    def request(self, row: R_contra) -> WorkflowRequest:
        """The workflow of a row. Its key must be the row's own: by it, submitting again finds it."""

    async def summarise(self, row: R_contra, settled: Settled) -> S:
        """What has come of a row whose workflow has ended."""

    def unfinished(self, row: R_contra, status: Literal["error", "stopped"], why: str) -> S:
        """A row whose end the batch did not see; it may be only its head."""

    def lines(self, summary: S) -> Sequence[str]:
        """What people read of it below the table."""

    def passes(self, summary: S) -> bool:
        """Whether the batch succeeds with this outcome among them."""

    async def afterwards(self) -> bool:
        """Do what is done when all have ended and nobody stopped it. Whether it went well."""
