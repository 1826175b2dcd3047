"""The tools that follow an operation: how far it is, what happened, and what each iteration came to."""

from typing import Annotated

from pydantic import Field

from actors.platform.tools.tool import Input, Output, ToolContext, tool
from actors.systems.operations.approved import approval_of_results, approving_votes
from actors.systems.operations.results_builder import changes
from actors.systems.operations.tools.visible import OPERATIONS, OperationId
from models.errors import OperationNotFound
from models.operations.following import IterationComparison, IterationResults, OperationList
from models.operations.history import ExecutionContext
from models.operations.operations import Operation, OperationStatus, OperationStatusResponse
from models.operations.results import ComprehensiveResults
from models.store import approval_inbox
from models.store.database import Connection
from models.store.operations import history, overviews
from models.tools import Number

Iteration = Annotated[int, Field(ge=1, le=100_000, description="From 1; each revision begins another")]


class OperationInput(Input):
    """An operation."""

    operation_id: OperationId


class GetOperationResponse(OperationStatusResponse, Output):
    """How it stands, and what waits for a decision."""


@OPERATIONS.reads("GET /api/operations/{id=operation_id}", GetOperationResponse)
async def get_operation(
    context: ToolContext, operation: Operation, request: OperationInput
) -> OperationStatusResponse:
    """Look at an operation: how far it is, and the plan or results that wait for a person."""
    return await overviews.status(
        context.connection, operation, person=context.caller.subject, scopes=context.caller.scopes
    )


class ListOperationsRequest(Input):
    """Which operations; `mine`: those alone that the caller asked for."""

    status: OperationStatus | None = None
    mine: bool = False
    before: Number | None = Field(default=None, description="The number of the last one of the page before")
    limit: Annotated[int, Field(ge=1, le=100)] = 50


class ListOperationsResponse(OperationList, Output):
    """Operations on the caller's topics, the newest first."""


@tool(OPERATIONS.anywhere, rest="GET /api/operations", effect="reads")
async def list_operations(context: ToolContext, request: ListOperationsRequest) -> ListOperationsResponse:
    """List operations: what was asked, and how each stands."""
    return ListOperationsResponse(**dict(await OPERATIONS.recent(context, request, overviews.recent)))


class OperationHistoryResponse(ExecutionContext, Output):
    """All that happened in it, in its order."""


@OPERATIONS.reads("GET /api/operations/{id=operation_id}/history", OperationHistoryResponse)
async def read_operation_history(
    context: ToolContext, operation: Operation, request: OperationInput
) -> ExecutionContext:
    """Read what happened in an operation: plans, decisions, what each agent did, and every iteration."""
    return await history.context(context.connection, operation)


class OperationResultsRequest(Input):
    """An operation, and which iteration's results; without one, the last that came to any."""

    operation_id: OperationId
    iteration: Iteration | None = None


class OperationResultsResponse(IterationResults, Output):
    """What an iteration came to."""


@OPERATIONS.reads("GET /api/operations/{id=operation_id}/results", OperationResultsResponse)
async def read_operation_results(
    context: ToolContext, operation: Operation, request: OperationResultsRequest
) -> IterationResults:
    """Read what an operation came to: what agents found, what belongs together, and what contradicts."""
    return await iteration_results(context.connection, operation, request.iteration)


class CompareOperationRequest(Input):
    """An operation, and two of its iterations."""

    operation_id: OperationId
    left: Iteration
    right: Iteration


class CompareOperationResponse(IterationComparison, Output):
    """What is otherwise."""


@OPERATIONS.reads("GET /api/operations/{id=operation_id}/compare", CompareOperationResponse)
async def compare_operation(
    context: ToolContext, operation: Operation, request: CompareOperationRequest
) -> IterationComparison:
    """Compare two iterations of an operation: which agents found something else, and what that changed."""
    left = await results_of(context.connection, operation, request.left)
    right = await results_of(context.connection, operation, request.right)
    return IterationComparison(
        operation_id=operation.id, left=request.left, right=request.right, changes=changes(left, right)
    )


async def iteration_results(
    connection: Connection, operation: Operation, iteration: int | None
) -> IterationResults:
    """An iteration's results, with who approved them, as an export tells it.

    Raises:
        OperationNotFound: it came to none.
    """
    results = await results_of(connection, operation, iteration)
    approvals = await approval_inbox.listed_of_workflow(connection, operation.workflow_id)
    yes = approval_of_results(approvals, results.iteration)
    return IterationResults(
        operation_id=operation.id,
        iteration=results.iteration,
        approved=yes is not None,
        approved_by=None if yes is None else ", ".join(vote.voter for vote in approving_votes(yes)),
        results=results,
    )


async def results_of(
    connection: Connection, operation: Operation, iteration: int | None
) -> ComprehensiveResults:
    """What an iteration came to. OperationNotFound where it came to nothing, or has not yet."""
    found = await history.results_of(connection, operation.id, iteration)
    if found is None:
        which = "no results yet" if iteration is None else f"no results of iteration {iteration}"
        raise OperationNotFound(f"operation {operation.id} has {which}")
    return found
