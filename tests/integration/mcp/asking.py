"""What the tests of MCP servers share: an agent's side of them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from actors.platform.mcp.servers import McpServers
from actors.platform.sending import Sender, now, sending_for
from models.mcp.served_tools import ServedTool
from models.mcp.tool_answers import ServedToolCall
from tests.fakes.mcp_servers import configured


@asynccontextmanager
async def opened(url: str, **settings: Any) -> AsyncIterator[McpServers]:
    """The servers of a site that has one, `mail`, at this URL."""
    servers = McpServers({"mail": configured(url, **settings)})
    try:
        # What writes goes out under a claim, or until a time.
        with sending_for(Sender(until=now() + 600)):
            yield servers
    finally:
        await servers.close()


async def offered(servers: McpServers, name: str) -> ServedTool:
    """A tool as `mail` offers it now."""
    listing = await servers.listing("mail")
    return next(tool for tool in listing.tools if tool.name == name)


async def call_of(servers: McpServers, name: str, **arguments: Any) -> ServedToolCall:
    """A call of a tool that `mail` offers now."""
    tool = await offered(servers, name)
    return ServedToolCall(
        server="mail", tool=name, digest=tool.digest, address=tool.address, arguments=arguments
    )
