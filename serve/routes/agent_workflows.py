"""Research over HTTP: the endpoints of seed 002 §8.1, and lineage. Each is a call of the tool of its name.

Numbers are of researches; whoever is no analyst on a research's topic is told that there is none.
"""

from typing import Annotated

from fastapi import APIRouter, Body, Path, Query, Request
from pydantic import Field

from actors.systems.research.tools.deciding import DecideResearchResponse
from actors.systems.research.tools.following import (
    After,
    GetResearchResponse,
    Limit,
    ListResearchResponse,
    ResearchLineageResponse,
    ResearchMessagesResponse,
    ResearchPointsResponse,
    ResearchResultsResponse,
    ResearchToolUsesResponse,
)
from actors.systems.research.tools.starting import StartResearchResponse, StopResearchResponse
from models.record import Record
from models.research.agent_workflows import AgentWorkflowStatus, StartRequest
from models.research.gate_decisions import ApproveRequest
from models.tools import Number, Prose
from serve.auth.caller import Caller
from serve.problems import problem_responses
from serve.routes.calling import call

router = APIRouter(
    prefix="/api/v1/agent-workflows",
    tags=["research"],
    responses=problem_responses(401, 403, 404, 422, 429, 503),
)
WorkflowId = Annotated[Number, Path(alias="id", examples=[12])]


class StopRequest(Record):
    """Why it is stopped, where there is something to say; it is kept with the research."""

    reason: Annotated[Prose, Field(min_length=1, max_length=500)] = "stopped"


@router.post("/start", status_code=201, responses=problem_responses(409))
async def start(request: Request, caller: Caller, body: StartRequest) -> StartResearchResponse:
    """Begin a research. The same `request_id` again is the same research, never a second one."""
    return await call(
        request,
        caller,
        "start_research",
        body.model_dump(mode="json", exclude_unset=True),
        StartResearchResponse,
    )


@router.get("")
async def list_agent_workflows(
    request: Request,
    caller: Caller,
    status: AgentWorkflowStatus | None = None,
    project_id: Annotated[Number | None, Query()] = None,
    parent_workflow_id: Annotated[Number | None, Query()] = None,
    mine: bool = False,
    before: Annotated[Number | None, Query()] = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 50,
) -> ListResearchResponse:
    """Researches on the caller's topics, the newest first; `before`: older than the one of that number."""
    given = {
        "status": status,
        "project_id": project_id,
        "parent_workflow_id": parent_workflow_id,
        "mine": mine,
        "before": before,
        "limit": limit,
    }
    return await call(request, caller, "list_research", given, ListResearchResponse)


@router.get("/{id}")
async def get_agent_workflow(
    request: Request, caller: Caller, workflow_id: WorkflowId
) -> GetResearchResponse:
    """One research: how far it is, what it has found, and the gate that waits, with all that it shows."""
    return await call(request, caller, "get_research", {"workflow_id": workflow_id}, GetResearchResponse)


@router.post("/{id}/approve", responses=problem_responses(409))
async def approve(
    request: Request, caller: Caller, workflow_id: WorkflowId, body: Annotated[ApproveRequest, Body()]
) -> DecideResearchResponse:
    """Approve what the gate shows, approve it with changes, or reject it.

    409, and nothing happens, where `digest` is not that of what it shows now.
    """
    given = body.model_dump(mode="json", exclude_unset=True) | {"workflow_id": workflow_id}
    return await call(request, caller, "decide_research", given, DecideResearchResponse)


@router.get("/{id}/messages")
async def get_messages(
    request: Request,
    caller: Caller,
    workflow_id: WorkflowId,
    after: Annotated[After, Query()] = 0,
    limit: Annotated[Limit, Query()] = 100,
) -> ResearchMessagesResponse:
    """What its agents did at each step, and why, the oldest first; `after`: later than the one of that id."""
    given = {"workflow_id": workflow_id, "after": after, "limit": limit}
    return await call(request, caller, "read_research_messages", given, ResearchMessagesResponse)


@router.get("/{id}/tools")
async def get_tools(
    request: Request,
    caller: Caller,
    workflow_id: WorkflowId,
    after: Annotated[After, Query()] = 0,
    limit: Annotated[Limit, Query()] = 100,
) -> ResearchToolUsesResponse:
    """The calls of tools that its agents made, the oldest first; `after`: later than the one of that id."""
    given = {"workflow_id": workflow_id, "after": after, "limit": limit}
    return await call(request, caller, "read_research_tools", given, ResearchToolUsesResponse)


@router.post("/{id}/stop", responses=problem_responses(409))
async def stop(
    request: Request, caller: Caller, workflow_id: WorkflowId, body: StopRequest | None = None
) -> StopResearchResponse:
    """Stop it for good: once this is answered nothing more is written, nor another page asked for.

    409 where it is over.
    """
    given = {"workflow_id": workflow_id, "reason": (body or StopRequest()).reason}
    return await call(request, caller, "stop_research", given, StopResearchResponse)


@router.get("/{id}/results")
async def get_results(request: Request, caller: Caller, workflow_id: WorkflowId) -> ResearchResultsResponse:
    """What it has come to so far: its addresses, its tree of knowledge, and its sentences."""
    return await call(
        request, caller, "read_research_results", {"workflow_id": workflow_id}, ResearchResultsResponse
    )


@router.get("/{id}/lineage")
async def get_lineage(request: Request, caller: Caller, workflow_id: WorkflowId) -> ResearchLineageResponse:
    """From each sentence to its points, their exact words, the documents, and whoever let these in."""
    return await call(
        request, caller, "read_research_lineage", {"workflow_id": workflow_id}, ResearchLineageResponse
    )


@router.get("/{id}/points")
async def get_points(
    request: Request,
    caller: Caller,
    workflow_id: WorkflowId,
    after: Annotated[After, Query()] = 0,
    limit: Annotated[Limit, Query()] = 100,
) -> ResearchPointsResponse:
    """From each of its points, cited or not, to the exact words, the document, and whoever let that in."""
    given = {"workflow_id": workflow_id, "after": after, "limit": limit}
    return await call(request, caller, "read_research_points", given, ResearchPointsResponse)
