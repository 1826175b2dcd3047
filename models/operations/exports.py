"""Approved results as they are handed over: what was approved, by whom and when, and in which forms."""

from datetime import datetime
from typing import Literal

from models.operations.plans import OperationAgent
from models.operations.results import ComprehensiveResults
from models.record import Record
from models.runtime.approvals import Vote

ExportFormat = Literal["json", "markdown", "csv", "pdf"]


class ResultsApproval(Record):
    """The decision that results are handed over on.

    `digest`: `models.runtime.approvals.content_digest` of exactly what was shown. `votes`: each person's yes.
    """

    approval_id: str
    iteration: int
    digest: str
    approved_at: datetime
    votes: tuple[Vote, ...]


class ApprovedResults(Record):
    """Results of an operation that people have approved, and what it was. All forms are made of this."""

    operation_id: int
    name: str
    topic: str
    task_type: str
    requested_by: str
    requested_at: datetime
    approval: ResultsApproval
    results: ComprehensiveResults

    @property
    def mocked(self) -> tuple[OperationAgent, ...]:
        """The agents whose data, or any of it, is a stand-in's."""
        return self.results.stand_ins
