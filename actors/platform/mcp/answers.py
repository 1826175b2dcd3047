"""A server's answer to a call as a record. What it says stays text; what it links to is never fetched."""

from collections.abc import Mapping, Sequence
from typing import Any

from mcp_types import (
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from actors.platform.mcp.exchange import Unanswered
from actors.platform.mcp.schemas import fault_in
from models.mcp.tool_answers import ServedToolCall, ToolAnswer
from models.text import seen, storable


async def answer_of(
    result: CallToolResult, call: ServedToolCall, output_schema: Mapping[str, Any] | None, *, seconds: float
) -> ToolAnswer:
    """What the tool answered.

    Raises:
        Unanswered: it breaks the tool's own schema.
    """
    text = text_of(result.content)
    if result.is_error:
        return ToolAnswer(server=call.server, tool=call.tool, status="failed", text=text, seconds=seconds)
    structured = _storable(result.structured_content)
    if output_schema is not None:
        if structured is None and "structured_content" not in result.model_fields_set:
            raise Unanswered("invalid", "its answer lacks the structuredContent that its schema promises")
        if wrong := await fault_in(structured, output_schema):
            raise Unanswered("invalid", f"its structuredContent breaks its own schema: {wrong}")
    return ToolAnswer(
        server=call.server,
        tool=call.tool,
        status="answered",
        text=text,
        lengths=tuple(len(_text(block)) for block in result.content) if len(result.content) > 1 else (),
        structured=structured,
        seconds=seconds,
    )


def text_of(content: Sequence[ContentBlock]) -> str:
    """What is said in it, as people see it, and what else there is by its kind."""
    return "\n".join(map(_text, content))


def _text(block: ContentBlock) -> str:
    return seen(storable(_said(block)))


def _said(block: ContentBlock) -> str:
    match block:
        case TextContent():
            return block.text
        case EmbeddedResource(resource=TextResourceContents() as resource):
            return resource.text
        case ResourceLink():
            return f"[link: {block.uri}]"
    return f"[{block.type}, left out]"


def _storable(value: Any) -> Any:
    """A JSON value as a journal can keep it."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, list):
        return [_storable(each) for each in value]
    if isinstance(value, dict):
        return {storable(name): _storable(each) for name, each in value.items()}
    return value
