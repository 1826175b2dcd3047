"""What agents see of a server, and what comes of calls: the SDK's own servers over HTTP, in both eras."""

from typing import Any

import pytest
from mcp.server.mcpserver import MCPServer
from pydantic import BaseModel

from actors.platform.mcp import servers as mcp_servers
from actors.platform.mcp.connection import ServerConnection
from actors.platform.mcp.listing import ToolsOnOffer
from models.errors import McpServerAway, ServedToolChanged, ServedToolRefused
from models.mcp.tool_answers import ServedToolCall
from tests.fakes.mcp_servers import ERAS, serving
from tests.integration.mcp.asking import call_of, opened
from tests.ports import free_port


class Found(BaseModel):
    count: int


def mail_server() -> MCPServer:
    server = MCPServer("mail")
    server.sent = []  # type: ignore[attr-defined]

    @server.tool()
    def look(text: str, most: int = 10) -> Found:
        """Look for mails."""
        return Found(count=len(text) + most)

    @server.tool()
    def send(to: str) -> str:
        """Send a mail."""
        server.sent.append(to)  # type: ignore[attr-defined]
        return f"sent to {to}"

    @server.tool()
    def wipe() -> str:
        """Wipe everything."""
        return "wiped"

    return server


@pytest.mark.parametrize("era", [*ERAS, "newest"])
async def test_only_what_is_allowed_is_listed_and_called(era: str) -> None:
    async with serving(mail_server()) as url, opened(url, era=era) as servers:
        listing = await servers.listing("mail")
        assert (listing.state, listing.reason) == ("answers", None)
        assert listing.protocol == (ERAS[0] if era == "newest" else era)
        assert [(tool.name, tool.writes) for tool in listing.tools] == [("look", False), ("send", True)]
        answer = await servers.call(await call_of(servers, "look", text="abc"))
        assert (answer.status, answer.structured, answer.mock) == ("answered", {"count": 13}, False)
        wipe = ServedToolCall(server="mail", tool="wipe", digest="0" * 64, arguments={})
        with pytest.raises(ServedToolRefused, match=r"mail\.wipe: is not allowed"):
            await servers.call(wipe, confirmed=True)


async def test_what_was_approved_at_one_address_is_not_called_at_another() -> None:
    """The operator moves the server: who said yes has seen where it was."""
    here, there = mail_server(), mail_server()
    async with serving(here) as before, serving(there) as url:
        async with opened(before) as servers:
            calls = [await call_of(servers, "look", text="abc"), await call_of(servers, "send", to="ann")]
        assert [call.address for call in calls] == [before] * 2
        async with opened(url) as servers:
            for call in calls:
                with pytest.raises(ServedToolChanged, match=f"at {url} now, and it was approved at {before}"):
                    await servers.call(call, confirmed=True)
            assert there.sent == []  # type: ignore[attr-defined]
            for call in calls:  # from before addresses were told
                old = call.model_copy(update={"address": None})
                assert (await servers.call(old, confirmed=True)).status == "answered"


@pytest.mark.parametrize("era", ERAS)
async def test_a_connection_that_anothers_fault_closes_has_said_what_it_said(
    era: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many share a connection: a fault of one retires it, right behind the answer to another."""
    asked = mcp_servers.offered_by

    async def and_closed(connection: ServerConnection, *given: Any) -> ToolsOnOffer:
        offered = await asked(connection, *given)
        await connection.close()
        return offered

    monkeypatch.setattr(mcp_servers, "offered_by", and_closed)
    async with serving(mail_server()) as url, opened(url, era=era) as servers:
        listing = await servers.listing("mail")
        assert (listing.state, listing.protocol) == ("answers", era)
        call = ServedToolCall(
            server="mail", tool="look", digest=listing.tools[0].digest, arguments={"text": "abc"}
        )
        with pytest.raises(McpServerAway, match="closed before the request"):
            await servers.call(call)


@pytest.mark.parametrize("era", ERAS)
async def test_a_write_needs_its_confirmation(era: str) -> None:
    server = mail_server()
    async with serving(server) as url, opened(url, era=era) as servers:
        call = await call_of(servers, "send", to="ann@example.com")
        with pytest.raises(ServedToolRefused, match="confirm"):
            await servers.call(call)
        assert server.sent == []  # type: ignore[attr-defined]
        answer = await servers.call(call, confirmed=True)
        assert (answer.status, answer.text) == ("answered", "sent to ann@example.com")
        assert server.sent == ["ann@example.com"]  # type: ignore[attr-defined]


@pytest.mark.parametrize("era", ERAS)
async def test_wrong_arguments_are_named_and_not_sent(era: str) -> None:
    async with serving(mail_server()) as url, opened(url, era=era) as servers:
        call = await call_of(servers, "look", text=7)
        with pytest.raises(ServedToolRefused, match="arguments: text: 7 is not of type 'string'"):
            await servers.call(call)


async def test_a_tool_of_another_digest_is_not_called() -> None:
    async with serving(mail_server()) as url, opened(url) as servers:
        call = await call_of(servers, "look", text="abc")
        with pytest.raises(ServedToolChanged, match="declares it otherwise"):
            await servers.call(call.model_copy(update={"digest": "0" * 64}))


async def test_a_server_that_is_away_is_an_outage() -> None:
    async with opened(f"http://127.0.0.1:{free_port()}/mcp") as servers:
        listing = await servers.listing("mail")
        assert listing.state == "away"
        assert listing.reason == "it can't be reached (ConnectError)"
        call = ServedToolCall(server="mail", tool="send", digest="0" * 64, arguments={})
        with pytest.raises(McpServerAway) as caught:
            await servers.call(call, confirmed=True)
        assert caught.value.facts == {"waits_for": "MCP server mail"}
