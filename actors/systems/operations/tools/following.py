"""The tools that follow an operation: how far it is, what happened, and what each iteration came to."""

from typing import Annotated

from pydantic import Field

from actors.platform.tools.tool import Input, Output, ToolContext, tool
from actors.systems.operations.approved import approval_of_results, approving_votes
from actors.systems.operations.results_builder import changes
from actors.systems.operations.tools.visible import (
    OPERATES,
    OPERATES_ANYWHERE,
    OPERATION_ROLE,
    OperationId,
    topic_of_operation,
    visible_operation,
)
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


@tool(OPERATES, rest="GET /api/operations/{id=operation_id}", effect="reads", topic=topic_of_operation)
async def get_operation(context: ToolContext, request: OperationInput) -> GetOperationResponse:
    """Look at an operation: how far it is, and the plan or results that wait for a person."""
    operation = await visible_operation(context, context.connection, request.operation_id)
    found = await overviews.status(
        context.connection, operation, person=context.caller.subject, scopes=context.caller.scopes
    )
    return GetOperationResponse(**dict(found))


class ListOperationsRequest(Input):
    """Which operations; `mine`: those alone that the caller asked for."""

    status: OperationStatus | None = None
    mine: bool = False
    before: Number | None = Field(default=None, description="The number of the last one of the page before")
    limit: Annotated[int, Field(ge=1, le=100)] = 50


class ListOperationsResponse(OperationList, Output):
    """Operations on the caller's topics, the newest first."""


@tool(OPERATES_ANYWHERE, rest="GET /api/operations", effect="reads")
async def list_operations(context: ToolContext, request: ListOperationsRequest) -> ListOperationsResponse:
    """List operations: what was asked, and how each stands."""
    caller = context.caller
    found = await overviews.recent(
        context.connection,
        topics=[topic for topic in context.config.publishing.topics if caller.has(OPERATION_ROLE, topic)],
        requested_by=caller.subject if request.mine else None,
        status=request.status,
        before=request.before,
        limit=request.limit,
    )
    return ListOperationsResponse(**dict(found))


class OperationHistoryResponse(ExecutionContext, Output):
    """All that happened in it, in its order."""


@tool(
    OPERATES, rest="GET /api/operations/{id=operation_id}/history", effect="reads", topic=topic_of_operation
)
async def read_operation_history(context: ToolContext, request: OperationInput) -> OperationHistoryResponse:
    """Read what happened in an operation: plans, decisions, what each agent did, and every iteration."""
    operation = await visible_operation(context, context.connection, request.operation_id)
    found = await history.context(context.connection, operation)
    return OperationHistoryResponse(**dict(found))


class OperationResultsRequest(Input):
    """An operation, and which iteration's results; without one, the last that came to any."""

    operation_id: OperationId
    iteration: Iteration | None = None


class OperationResultsResponse(IterationResults, Output):
    """What an iteration came to."""


@tool(
    OPERATES, rest="GET /api/operations/{id=operation_id}/results", effect="reads", topic=topic_of_operation
)
async def read_operation_results(
    context: ToolContext, request: OperationResultsRequest
) -> OperationResultsResponse:
    """Read what an operation came to: what agents found, what belongs together, and what contradicts."""
    operation = await visible_operation(context, context.connection, request.operation_id)
    found = await iteration_results(context.connection, operation, request.iteration)
    return OperationResultsResponse(**dict(found))


class CompareOperationRequest(Input):
    """An operation, and two of its iterations."""

    operation_id: OperationId
    left: Iteration
    right: Iteration


class CompareOperationResponse(IterationComparison, Output):
    """What is otherwise."""


@tool(
    OPERATES, rest="GET /api/operations/{id=operation_id}/compare", effect="reads", topic=topic_of_operation
)
async def compare_operation(
    context: ToolContext, request: CompareOperationRequest
) -> CompareOperationResponse:
    """Compare two iterations of an operation: which agents found something else, and what that changed."""
    connection = context.connection
    operation = await visible_operation(context, connection, request.operation_id)
    left = await results_of(connection, operation, request.left)
    right = await results_of(connection, operation, request.right)
    return CompareOperationResponse(
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
