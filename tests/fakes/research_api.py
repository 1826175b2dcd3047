"""The REST API of research on loopback: `tests.fakes.gated_api`."""

from collections.abc import Mapping
from typing import Any

from models.record import Record
from models.research.agent_workflows import (
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
from tests.fakes.gated_api import NOW, GatedApi
from tests.fakes.heard_api import Asked, Problem, read_body

_PAGE = 2
# The kind of gate that shows each content.
KINDS = {record.__name__: kind for kind, record in CONTENT_OF_GATE.items()}


class ResearchApi(GatedApi):
    """Research 7."""

    command = "research"
    path = "/api/v1/agent-workflows"
    kinds = KINDS

    def __init__(self, *gates: Record, name: str = "How do rates move?") -> None:
        super().__init__(*gates, name=name)
        self.outcome: ResearchOutcome | None = None
        self.estimate_is_learnt = True
        self.result: ResearchResult | None = ResearchResult(outcome="done", pages=2, points=3, sentences=1)
        self.messages: list[AgentMessage] = []
        self.results: dict[str, Any] = {}
        self.lineage = ResearchLineage(workflow_id=7, sentences=(), points=(), sources=())

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

    def tell(self, what: str, asked: Asked) -> Record | None:
        """The answer to a request."""
        match what:
            case "POST /start":
                return self._start(read_body(StartRequest, asked.body))
            case "GET ":
                return self._list(asked.query)
            case "GET /ID":
                return self._status()
            case "POST /ID/approve":
                return self._approve(read_body(ApproveRequest, asked.body))
            case "GET /ID/messages":
                return self._messages(int(asked.query.get("after", "0")))
            case "GET /ID/results":
                return self._results()
            case "GET /ID/lineage":
                return self.lineage
            case "GET /ID/points":
                return ResearchPoints.model_validate(
                    self.lineage.model_dump(exclude={"sentences"}) | {"next_after": 9}
                )
            case "POST /ID/stop":
                self.gates, self.status = [], "stopped"
                return self._status()
        return None

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

    def _list(self, query: Mapping[str, str]) -> ResearchList:
        one = ResearchSummary(
            id=7, name=self.name, status=self.standing, task_type="research", project_id=3, topic="macro",
            requested_by="ann", parent_workflow_id=None, waits_for_decision=bool(self.gates),
            outcome=self.outcome, reason=self.reason, created_at=NOW, updated_at=NOW,
        )  # fmt: skip
        return ResearchList(workflows=(one,), next_before=7 if query.get("limit") == "1" else None)

    def _status(self) -> ResearchStatusResponse:
        return ResearchStatusResponse(
            id=7,
            name=self.name,
            status=self.standing,
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
            approval=WaitingGate.model_validate(gate) if (gate := self.gate()) else None,
        )

    def _approve(self, request: ApproveRequest) -> ApproveResponse:
        self.check(request.digest)
        if request.decision == "reject" and not (request.notes or "").strip():
            raise Problem(422, "DecisionInvalid", "notes: a rejection needs its reason")
        if request.decision != "modify" and request.modifications is not None:
            raise Problem(422, "InputInvalid", "modifications: they go with modify")
        if request.modifications is not None and "ftp://x" in request.modifications.add_urls:
            raise Problem(422, "InputInvalid", "modifications.add_urls.0: it is none of the web")
        modified, rejected = request.decision == "modify", request.decision == "reject"
        came = self.decided(request, changed=modified, rejected=rejected)
        return ApproveResponse(workflow_id=7, status=self.standing, next_step="scrape_urls", **came)

    def _messages(self, after: int) -> ResearchMessages:
        found = [one for one in self.messages if one.id > after]
        more = found[_PAGE - 1].id if len(found) > _PAGE else None
        return ResearchMessages(workflow_id=7, messages=tuple(found[:_PAGE]), next_after=more)

    def _results(self) -> ResearchResults:
        given: dict[str, Any] = {
            "workflow_id": 7,
            "status": self.standing,
            "result": self.result,
            "reason": self.reason,
            "urls": (),
            "tree": None,
            "counts": SynthesisCounts(),
            "sentences": (),
            "approved": None,
        }
        return ResearchResults.model_validate({**given, **self.results})
