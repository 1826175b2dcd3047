"""A file that stands in for a server: only while it is away, only for what reads, and always marked."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from actors.platform.mcp.servers import McpServers
from models.errors import ConfigInvalid, McpServerAway, ServedToolChanged, ServedToolRefused
from models.mcp.tool_answers import ServedToolCall
from tests.fakes.mcp_servers import BadServer, configured
from tests.integration.mcp.asking import call_of, opened
from tests.ports import free_port

_FILE = """
tools:
  look:
    description: Looks for mails.
    input_schema: {type: object, properties: {text: {type: string}}}
    output_schema: {type: object}
    answers:
      - when: {text: invoice}
        structured: {count: 3}
        text: three of them
      - text: nothing
  send:
    description: Sends a mail.
    input_schema: {type: object}
    answers: [{text: sent}]
"""


@pytest.fixture(name="mock")
def make_mock(tmp_path: Path) -> Path:
    path = tmp_path / "mail.yaml"
    path.write_text(_FILE)
    return path


@pytest.fixture(name="server")
def make_server() -> Iterator[BadServer]:
    with BadServer() as running:
        yield running


async def test_a_server_that_is_away_is_stood_in_for(mock: Path) -> None:
    async with opened(f"http://127.0.0.1:{free_port()}/mcp", mock=mock) as servers:
        listing = await servers.listing("mail")
        assert (listing.state, listing.reason) == ("mock", "it can't be reached (ConnectError)")
        assert [(each.name, each.description) for each in listing.tools] == [("look", "Looks for mails.")]
        assert [(each.name, each.reason) for each in listing.withheld] == [
            ("send", "it writes, and the server is away")
        ]
        found = await servers.call(await call_of(servers, "look", text="invoice"))
        assert (found.mock, found.status, found.structured, found.text) == (
            True,
            "answered",
            {"count": 3},
            "three of them",
        )
        assert (await servers.call(await call_of(servers, "look"))).text == "nothing"
        with pytest.raises(ServedToolRefused, match="arguments: text: 7"):
            await servers.call(await call_of(servers, "look", text=7))
        send = ServedToolCall(server="mail", tool="send", digest="0" * 64, arguments={})
        with pytest.raises(McpServerAway):
            await servers.call(send, confirmed=True)


async def test_a_server_that_answers_is_never_stood_in_for(server: BadServer, mock: Path) -> None:
    async with opened(server.url, mock=mock) as servers:
        listing = await servers.listing("mail")
        assert (listing.state, listing.tools[0].description) == ("answers", "The tool look.")
        answer = await servers.call(await call_of(servers, "look"))
        assert (answer.text, answer.mock) == ("done", False)
        server.does["tools/call"] = lambda request: request.body(b"", status=500)
        with pytest.raises(McpServerAway):
            await servers.call(await call_of(servers, "look"))
        server.does = {"tools/list": lambda request: request.body(b"", status=401)}
        assert (await servers.listing("mail")).state == "refuses"


async def test_what_was_approved_of_a_mock_is_not_called_at_the_server(server: BadServer, mock: Path) -> None:
    away = McpServers({"mail": configured(f"http://127.0.0.1:{free_port()}/mcp", mock=mock)})
    call = await call_of(away, "look")
    await away.close()
    async with opened(server.url, mock=mock) as servers:
        with pytest.raises(ServedToolChanged):
            await servers.call(call)
    assert server.calls == []


async def test_a_call_that_a_mock_does_not_know_waits_for_the_server(mock: Path) -> None:
    mock.write_text(_FILE.replace("      - text: nothing\n", ""))
    async with opened(f"http://127.0.0.1:{free_port()}/mcp", mock=mock) as servers:
        with pytest.raises(McpServerAway):
            await servers.call(await call_of(servers, "look", text="other"))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("tools: {look: {}}", r"tools\.look\.description: Field required"),
        ("{", "mock"),
        (None, "No such file"),
    ],
)
def test_a_mock_that_is_wrong_is_told_at_once(text: Any, told: str, tmp_path: Path) -> None:
    path = tmp_path / "mail.yaml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(ConfigInvalid, match=rf"mcp\.servers\.mail\.mock: .*{told}"):
        McpServers({"mail": configured("http://127.0.0.1:1/mcp", mock=path)})
