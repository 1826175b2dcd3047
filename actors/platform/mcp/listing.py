"""What a server offers now, asked for page by page: of it the site's own tools, and why others can't be had.

What is not allowed is dropped as it comes: a server may list what it likes, and as much as it likes. A tool
that can't be read is withheld, and no other with it.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import find_invalid_x_mcp_header, mcp_param_headers, x_mcp_header_map
from mcp_types import ListToolsRequest, PaginatedRequestParams, Tool
from pydantic import BaseModel, Field, ValidationError

from actors.platform.mcp.connection import ServerConnection
from actors.platform.mcp.exchange import Exchange, Unanswered
from actors.platform.mcp.schemas import canonical, digest_of, refusal_of
from models.config import McpServer
from models.error_lines import error_line
from models.mcp.served_tools import ServedTool, WithheldTool
from models.text import seen, storable

_MOST_PAGES = 100
_MOST_DESCRIPTION = 10_000


@dataclass(frozen=True)
class ToolsOnOffer:
    """Those that may be used, by name, and those that are not to be had."""

    tools: Mapping[str, ServedTool]
    withheld: tuple[WithheldTool, ...]


async def offered_by(connection: ServerConnection, server: str, settings: McpServer) -> ToolsOnOffer:
    """Ask for all pages, within the time of one call.

    Raises:
        Unanswered: a page did not come, breaks the protocol, or they do not end.
    """
    allowed = {*settings.tools, *settings.writes}
    found: dict[str, list[Any]] = {}
    try:
        async with asyncio.timeout(settings.timeout_seconds):
            await _gather(connection, allowed, found)
    except TimeoutError as error:
        connection.retire()
        raise Unanswered(
            "away", f"its list of tools is not whole within timeout_seconds ({settings.timeout_seconds:g} s)"
        ) from error
    except MCPError as error:
        raise Unanswered("invalid", f"it has no list of tools: {error_line(error.message)}") from error
    tools: dict[str, ServedTool] = {}
    withheld = []
    for name in sorted(allowed):
        tool = _only(found.get(name, []))
        reason = tool if isinstance(tool, str) else await _refusal(tool, modern=connection.modern)
        if reason is None:
            assert isinstance(tool, Tool)
            tools[name] = _served(tool, server, settings)
        else:
            withheld.append(WithheldTool(name=name, reason=reason))
    return ToolsOnOffer(tools=tools, withheld=tuple(withheld))


def headers_for(tool: ServedTool, arguments: Mapping[str, Any]) -> dict[str, str]:
    """The headers that a tool of 2026-07-28 wants some of its arguments in, too (`x-mcp-header`)."""
    return mcp_param_headers(x_mcp_header_map(dict(tool.input_schema)), arguments)


class _Page(BaseModel):
    """A page of the list, of which each tool is read by itself."""

    tools: list[Any]
    next_cursor: str | None = Field(default=None, alias="nextCursor")


async def _gather(connection: ServerConnection, allowed: set[str], found: dict[str, list[Any]]) -> None:
    cursor: str | None = None
    for _ in range(_MOST_PAGES):
        # Not the session's own `list_tools`, which keeps something of each tool that was ever listed.
        page = await connection.request(
            ListToolsRequest(params=PaginatedRequestParams(cursor=cursor)), _Page, Exchange(), as_it_is=True
        )
        for tool in page.tools:
            name = tool.get("name") if isinstance(tool, dict) else None
            # Of one that is declared again and again, two are enough to know.
            if isinstance(name, str) and name in allowed and len(declared := found.setdefault(name, [])) < 2:
                declared.append(tool)
        if page.next_cursor is None:
            return
        if page.next_cursor == cursor:
            raise Unanswered("invalid", "its list of tools has no end: a page leads to itself")
        cursor = page.next_cursor
    raise Unanswered("invalid", f"its list of tools has no end: it is over {_MOST_PAGES} pages")


def _only(declared: list[Any]) -> Tool | str:
    """The one tool that is declared; or why there is none."""
    if not declared:
        return "the server does not offer it"
    if len(declared) > 1:
        return "the server declares it twice"
    try:
        return Tool.model_validate(declared[0], by_name=False)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(str(part) for part in fault["loc"])
        return error_line(f"its declaration can't be read: {where}: {fault['msg']}")


async def _refusal(tool: Tool, *, modern: bool) -> str | None:
    if len(tool.description or "") > _MOST_DESCRIPTION:
        return f"its description is over {_MOST_DESCRIPTION:,} characters"
    if reason := await refusal_of(tool.input_schema, of_object=True):
        return f"its input schema is refused: {reason}"
    if tool.output_schema is not None and (reason := await refusal_of(tool.output_schema, of_object=False)):
        return f"its output schema is refused: {reason}"
    try:
        canonical(declaration(tool))
    except ValueError as error:
        return f"its declaration is no JSON: {error_line(error)}"
    if modern and (reason := find_invalid_x_mcp_header(tool.input_schema)):
        return f"its input schema is refused: {error_line(reason)}"
    return None


def _served(tool: Tool, server: str, settings: McpServer) -> ServedTool:
    return ServedTool(
        server=server,
        name=tool.name,
        description=seen(storable(tool.description or "")),
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        writes=tool.name in settings.writes,
        digest=digest_of(declaration(tool)),
        address=settings.address,
    )


def declaration(tool: Tool) -> dict[str, Any]:
    """What of a tool a person approves."""
    annotations = tool.annotations
    return {
        "name": tool.name,
        "description": tool.description,
        "inputSchema": tool.input_schema,
        "outputSchema": tool.output_schema,
        "annotations": None
        if annotations is None
        else annotations.model_dump(by_alias=True, exclude_none=True),
    }
