"""A tool that a person's yes is taken for, unless it is about nothing much."""

from typing import Literal

from actors.platform.tools.tool import Input, Output, ToolContext, tool
from actors.platform.tools.visibility import topic_in_request
from models.store.content import resources
from models.tools import ToolPermission


class PaintToyRequest(Input):
    """In which colour."""

    topic: str
    colour: Literal["white", "red"]


class PaintToyResponse(Output):
    """Where it is told of."""

    resource_id: int


@tool(
    ToolPermission(required_role="analyst", topic_scoped=True, requires_hitl=True),
    rest="POST /toys/paint",
    effect=("writes", "asks"),
    topic=topic_in_request,
    requires_approval=lambda request: request.colour != "white",
)
async def paint_toy(context: ToolContext, request: PaintToyRequest) -> PaintToyResponse:
    """Paint a toy."""
    made = await resources.create_text(
        context.connection,
        topic=request.topic,
        name=f"painted {request.colour}",
        description=None,
        content="It is painted.",
        by=context.caller.subject,
    )
    return PaintToyResponse(resource_id=made.id)
