"""Operations over HTTP. Each endpoint is a call of the tool of its name. Seed 003.

Numbers are of operations; whoever is no analyst on an operation's topic is told that there is none.
"""

from typing import Annotated, Any

from fastapi import APIRouter, Body, Path, Query, Request, Response
from pydantic import Field

from actors.systems.operations.tools.deciding import OperationDecidedResponse
from actors.systems.operations.tools.exporting import ExportOperationResponse
from actors.systems.operations.tools.following import (
    CompareOperationResponse,
    GetOperationResponse,
    Iteration,
    ListOperationsResponse,
    OperationHistoryResponse,
    OperationResultsResponse,
)
from actors.systems.operations.tools.starting import CancelOperationResponse, StartOperationResponse
from models.operations.decisions import AgentDecision, ClarificationResponse, PlanDecision, ResultsDecision
from models.operations.exports import ExportFormat
from models.operations.operations import OperationRequest, OperationStatus
from models.record import Record
from models.tools import Number, Prose
from serve.auth.caller import Caller
from serve.problems import problem_responses
from serve.routes.calling import call

router = APIRouter(
    prefix="/api/operations",
    tags=["operations"],
    responses=problem_responses(401, 403, 404, 422, 429, 503),
)
OperationNumber = Annotated[Number, Path(alias="id", examples=[7])]
_CONFLICT = problem_responses(409)


class CancelRequest(Record):
    """Why it is cancelled, where there is something to say; it is kept with the operation."""

    reason: Annotated[Prose, Field(min_length=1, max_length=500)] = "cancelled"


@router.post("", status_code=201)
async def start(request: Request, caller: Caller, body: OperationRequest) -> StartOperationResponse:
    """Begin an operation. The same `request_id` again is the same operation, never a second one."""
    return await call(request, caller, "start_operation", _given(body), StartOperationResponse)


@router.get("")
async def list_operations(
    request: Request,
    caller: Caller,
    status: OperationStatus | None = None,
    mine: bool = False,
    before: Annotated[Number | None, Query()] = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 50,
) -> ListOperationsResponse:
    """Operations on the caller's topics, the newest first; `before`: older than the one of that number."""
    given = {"status": status, "mine": mine, "before": before, "limit": limit}
    return await call(request, caller, "list_operations", given, ListOperationsResponse)


@router.get("/{id}")
async def get_operation(
    request: Request, caller: Caller, operation_id: OperationNumber
) -> GetOperationResponse:
    """One operation: how far it is, and the gate that waits, with all that it shows."""
    return await call(request, caller, "get_operation", {"operation_id": operation_id}, GetOperationResponse)


@router.post("/{id}/plan", responses=_CONFLICT)
async def decide_plan(
    request: Request, caller: Caller, operation_id: OperationNumber, body: Annotated[PlanDecision, Body()]
) -> OperationDecidedResponse:
    """Approve the plan, approve it with changes, or have another one made by what is said.

    409, and nothing happens, where `digest` is not that of what is shown now.
    """
    given = _given(body) | {"operation_id": operation_id}
    return await call(request, caller, "decide_operation_plan", given, OperationDecidedResponse)


@router.post("/{id}/results", responses=_CONFLICT)
async def decide_results(
    request: Request, caller: Caller, operation_id: OperationNumber, body: Annotated[ResultsDecision, Body()]
) -> OperationDecidedResponse:
    """Approve exactly these results, or say what is to be done again. 409 as for plans."""
    given = _given(body) | {"operation_id": operation_id}
    return await call(request, caller, "decide_operation_results", given, OperationDecidedResponse)


@router.post("/{id}/agent", responses=_CONFLICT)
async def decide_agent(
    request: Request, caller: Caller, operation_id: OperationNumber, body: Annotated[AgentDecision, Body()]
) -> OperationDecidedResponse:
    """Say what becomes of an agent that failed or is asked something, or of what one has found."""
    given = _given(body) | {"operation_id": operation_id}
    return await call(request, caller, "decide_operation_agent", given, OperationDecidedResponse)


@router.post("/{id}/clarification", responses=_CONFLICT)
async def clarify(
    request: Request,
    caller: Caller,
    operation_id: OperationNumber,
    body: Annotated[ClarificationResponse, Body()],
) -> OperationDecidedResponse:
    """Answer in words: `OK` and its kin, as a whole answer, are a yes; anything else is what to do again."""
    given = _given(body) | {"operation_id": operation_id}
    return await call(request, caller, "clarify_operation", given, OperationDecidedResponse)


@router.post("/{id}/cancel", responses=_CONFLICT)
async def cancel(
    request: Request, caller: Caller, operation_id: OperationNumber, body: CancelRequest | None = None
) -> CancelOperationResponse:
    """Cancel it for good: once this is answered nothing more is kept. 409 where it is over."""
    given = {"operation_id": operation_id, "reason": (body or CancelRequest()).reason}
    return await call(request, caller, "cancel_operation", given, CancelOperationResponse)


@router.get("/{id}/history")
async def get_history(
    request: Request, caller: Caller, operation_id: OperationNumber
) -> OperationHistoryResponse:
    """All that happened in it, in its order: plans, decisions, and what each agent did."""
    return await call(
        request, caller, "read_operation_history", {"operation_id": operation_id}, OperationHistoryResponse
    )


@router.get("/{id}/results")
async def get_results(
    request: Request,
    caller: Caller,
    operation_id: OperationNumber,
    iteration: Annotated[Iteration | None, Query()] = None,
) -> OperationResultsResponse:
    """What an iteration came to; without one, the last that came to anything."""
    given = {"operation_id": operation_id, "iteration": iteration}
    return await call(request, caller, "read_operation_results", given, OperationResultsResponse)


@router.get("/{id}/compare")
async def compare(
    request: Request,
    caller: Caller,
    operation_id: OperationNumber,
    left: Annotated[Iteration, Query()],
    right: Annotated[Iteration, Query()],
) -> CompareOperationResponse:
    """What is otherwise in the iteration `right` than in `left`."""
    given = {"operation_id": operation_id, "left": left, "right": right}
    return await call(request, caller, "compare_operation", given, CompareOperationResponse)


@router.get(
    "/{id}/export",
    response_class=Response,
    responses={
        200: {
            "content": {
                name: {} for name in ("application/json", "text/markdown", "text/csv", "application/pdf")
            }
        },
        **_CONFLICT,
    },
)
async def export(
    request: Request,
    caller: Caller,
    operation_id: OperationNumber,
    format: Annotated[ExportFormat, Query()],
) -> Response:
    """The results that were approved, as a file. 409 where none were."""
    given = {"operation_id": operation_id, "format": format}
    found = await call(request, caller, "export_operation", given, ExportOperationResponse)
    headers = {"Content-Disposition": f'attachment; filename="{found.file_name}"'}
    return Response(found.content(), media_type=found.media_type, headers=headers)


def _given(body: Any) -> dict[str, Any]:
    said: dict[str, Any] = body.model_dump(mode="json", exclude_unset=True)
    return said
