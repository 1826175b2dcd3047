"""The REST API of research on loopback, with one research that goes from gate to gate as it is decided on.

It reads bodies and answers with the records of the API, and keeps what was asked. A test says which gates
come, and may put another content in place of the one that waits, as when somebody else has changed it.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Self

from models.record import Record
from models.research.agent_workflows import (
    AgentWorkflowStatus,
    ProgressInfo,
    ResearchCounts,
    ResearchOutcome,
    ResearchStatusResponse,
    StartRequest,
    StartResponse,
    WaitingGate,
)
from models.research.following import (
    AgentMessage,
    ResearchLineage,
    ResearchList,
    ResearchMessages,
    ResearchPoints,
    ResearchResults,
    ResearchSummary,
)
from models.research.gate_decisions import ApproveRequest, ApproveResponse
from models.research.gates import CONTENT_OF_GATE
from models.research.results import ResearchResult
from models.research.synthesis import SynthesisCounts
from models.runtime.approvals import content_digest
from tests.fakes.heard_api import Asked, HeardApi, Problem, read_body

NOW = datetime(2026, 3, 3, 10, 20, tzinfo=UTC)
_PATH = "/api/v1/agent-workflows"
_PAGE = 2
# The kind of gate that shows each content.
KINDS = {record.__name__: kind for kind, record in CONTENT_OF_GATE.items()}


class ResearchApi:
    """The server, a context manager. Research 7 waits at the first of `gates`, or has ended without any."""

    def __init__(self, *gates: Record, name: str = "How do rates move?") -> None:
        self._http = HeardApi(lambda asked: self.answer(asked))
        self.asked, self.of, self.until = self._http.asked, self._http.of, self._http.until
        self.url = self._http.url
        self.answers: list[ApproveRequest] = []
        self.gates = list(gates)
        self.name = name
        self.kind: str | None = None
        self.title = "Decide"
        self.may_decide = True
        self.quorum = 1
        # Under four eyes whoever changes a gate's content is involved, and may not approve it.
        self.four_eyes = False
        self.amended_by: str | None = None
        self.outcome: ResearchOutcome | None = None
        self.estimate_is_learnt = True
        # In place of the content's own digest.
        self.digest: str | None = None
        # Is so while no gate waits.
        self.status: AgentWorkflowStatus = "completed"
        self.error: str | None = None
        self.reason: str | None = None
        self.result: ResearchResult | None = ResearchResult(outcome="done", pages=2, points=3, sentences=1)
        self.messages: list[AgentMessage] = []
        self.results: dict[str, Any] = {}
        self.lineage = ResearchLineage(workflow_id=7, sentences=(), points=(), sources=())
        # Refusals of the next requests, before anything else is looked at.
        self.refusals: list[tuple[int, str]] = []
        # What a newer site says besides.
        self.more: dict[str, Any] = {}

    def __enter__(self) -> Self:
        self._http.start()
        return self

    def __exit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        self._http.stop()

    @property
    def content(self) -> dict[str, Any]:
        """What the gate that waits is about."""
        told: dict[str, Any] = self.gates[0].model_dump(mode="json")
        return told | ({"involved": [self.amended_by]} if self.amended_by else {})

    def say(self, *contents: str, reasoning: str = "because") -> None:
        """Have the scraper say something."""
        for content in contents:
            self.messages.append(
                AgentMessage(
                    id=len(self.messages) + 1,
                    agent_type="scraper",
                    step="scrape_urls",
                    content=content,
                    reasoning=reasoning,
                    metadata={},
                    created_at=NOW,
                )
            )

    def answer(self, asked: Asked) -> Mapping[str, Any]:
        """The answer to a request, as JSON."""
        if self.refusals:
            status, detail = self.refusals.pop(0)
            raise Problem(status, "Refused", detail)
        found: Record
        match asked.method, re.sub(r"^/\d+", "/ID", asked.path.removeprefix(_PATH)):
            case "POST", "/start":
                found = self._start(read_body(StartRequest, asked.body))
            case "GET", "":
                found = self._list(asked.query)
            case "GET", "/ID":
                found = self._status()
            case "POST", "/ID/approve":
                found = self._approve(read_body(ApproveRequest, asked.body))
            case "GET", "/ID/messages":
                found = self._messages(int(asked.query.get("after", "0")))
            case "GET", "/ID/results":
                found = self._results()
            case "GET", "/ID/lineage":
                found = self.lineage
            case "GET", "/ID/points":
                found = ResearchPoints.model_validate(
                    self.lineage.model_dump(exclude={"sentences"}) | {"next_after": 9}
                )
            case "POST", "/ID/stop":
                self.gates, self.status = [], "stopped"
                found = self._status()
            case _:
                raise Problem(404, "NotFound", "there is no such page")
        return {**found.model_dump(mode="json"), **self.more}

    def _start(self, request: StartRequest) -> StartResponse:
        self.name = request.user_query
        return StartResponse(
            workflow_id=7,
            status="pending",
            estimated_steps=11,
            current_step="classify_intent",
            current_agent=None,
            estimated_duration_minutes=12,
            message="The research has begun.",
            project_id=request.project_id or 3,
            estimate_is_learnt=self.estimate_is_learnt,
        )

    def _standing(self) -> AgentWorkflowStatus:
        return "awaiting_approval" if self.gates else self.status

    def _list(self, query: Mapping[str, str]) -> ResearchList:
        one = ResearchSummary(
            id=7, name=self.name, status=self._standing(), task_type="research", project_id=3, topic="macro",
            requested_by="ann", parent_workflow_id=None, waits_for_decision=bool(self.gates),
            outcome=self.outcome, reason=self.reason, created_at=NOW, updated_at=NOW,
        )  # fmt: skip
        return ResearchList(workflows=(one,), next_before=7 if query.get("limit") == "1" else None)

    def _status(self) -> ResearchStatusResponse:
        return ResearchStatusResponse(
            id=7,
            name=self.name,
            status=self._standing(),
            task_type="research",
            current_step="scrape_urls",
            current_agent="scraper",
            progress=ProgressInfo(
                completed_steps=4,
                total_steps=11,
                percentage=36.4,
                current_operation="reading pages",
                urls_done=1,
                urls_approved=2,
                estimated_minutes_left=2.5,
            ),
            agent_reasoning=None,
            results=ResearchCounts(
                urls_discovered=5, urls_scraped=1, knowledge_points=3, relationships=1, knowledge_tree_id=None
            ),
            created_at=NOW,
            updated_at=NOW,
            project_id=3,
            topic="macro",
            parent_workflow_id=None,
            waits_for=None,
            error=self.error,
            reason=self.reason,
            approval=self._gate() if self.gates else None,
        )

    def _gate(self) -> WaitingGate:
        kind = self.kind or KINDS[type(self.gates[0]).__name__]
        return WaitingGate(
            approval_id=str(20 - len(self.gates)),
            kind=kind,
            digest=self.digest or content_digest(self.content),
            title=self.title,
            content=self.content,
            expires_at=NOW,
            may_decide=self.may_decide,
            amended_by=self.amended_by,
        )

    def _approve(self, request: ApproveRequest) -> ApproveResponse:
        if not self.gates:
            raise Problem(409, "ApprovalConflict", "approval 19 is already approved")
        if request.digest != content_digest(self.content):
            raise Problem(
                409,
                "ApprovalConflict",
                "approval 19 shows other content than was shown to you: look at it again, and decide on that",
            )
        if request.decision == "reject" and not (request.notes or "").strip():
            raise Problem(422, "DecisionInvalid", "notes: a rejection needs its reason")
        if request.decision != "modify" and request.modifications is not None:
            raise Problem(422, "InputInvalid", "modifications: they go with modify")
        if request.modifications is not None and "ftp://x" in request.modifications.add_urls:
            raise Problem(422, "InputInvalid", "modifications.add_urls.0: it is none of the web")
        self.answers.append(request)
        if self.four_eyes and request.decision == "modify":
            self.amended_by, self.may_decide = "ann", False
            message = (
                "ann changed the list: the changed list is shown now, and another person must approve it."
            )
        elif len(self.answers) < self.quorum:
            message = f"Your yes is kept: approved by {len(self.answers)} of {self.quorum} so far."
        elif request.decision == "reject":
            self.gates, message = [], "Rejected: the research ends."
        else:
            self.gates.pop(0)
            message = "Approved."
        return ApproveResponse(
            message=message,
            workflow_id=7,
            status=self._standing(),
            next_step="scrape_urls",
            digest=content_digest(self.content) if "must" in message or "so far" in message else None,
        )

    def _messages(self, after: int) -> ResearchMessages:
        found = [one for one in self.messages if one.id > after]
        more = found[_PAGE - 1].id if len(found) > _PAGE else None
        return ResearchMessages(workflow_id=7, messages=tuple(found[:_PAGE]), next_after=more)

    def _results(self) -> ResearchResults:
        given: dict[str, Any] = {
            "workflow_id": 7,
            "status": self._standing(),
            "result": self.result,
            "reason": self.reason,
            "urls": (),
            "tree": None,
            "counts": SynthesisCounts(),
            "sentences": (),
            "approved": None,
        }
        return ResearchResults.model_validate({**given, **self.results})
