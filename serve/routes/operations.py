"""An operation's approved results as a file. All else of operations is at its tools' own addresses."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response

from actors.platform.tools.registry import Registry
from actors.systems.operations.tools.exporting import ExportOperationResponse
from models.operations.exports import ExportFormat
from models.tools import Number
from serve.auth.caller import Caller
from serve.problems import problem_responses

router = APIRouter(tags=["operations"])
_MEDIA_TYPES = ("application/json", "text/markdown", "text/csv", "application/pdf")


@router.get(
    "/api/operations/{id}/export",
    response_class=Response,
    responses={
        200: {"content": {name: {} for name in _MEDIA_TYPES}},
        **problem_responses(401, 403, 404, 409, 422, 429, 503),
    },
)
async def export(
    request: Request,
    caller: Caller,
    operation_id: Annotated[Number, Path(alias="id", examples=[7])],
    format: Annotated[ExportFormat, Query()],
) -> Response:
    """The results that were approved, as a file. 409 where none were."""
    registry: Registry = request.app.state.registry
    given = {"operation_id": operation_id, "format": format}
    found = await registry.call("export_operation", given, caller=caller, door="rest")
    assert isinstance(found, ExportOperationResponse)
    headers = {"Content-Disposition": f'attachment; filename="{found.file_name}"'}
    return Response(found.content(), media_type=found.media_type, headers=headers)
