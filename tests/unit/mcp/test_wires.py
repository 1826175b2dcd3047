"""What no exchange has cleared calls no tool, whatever the wire."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp.shared.message import SessionMessage

from actors.platform.mcp.exchange import CURRENT, Exchange
from actors.platform.mcp.http_wire import http_client
from actors.platform.mcp.program import ServerProgram
from actors.platform.sending import Sender, now, sending_for
from models.config import HttpServer, StdioServer
from models.errors import NotSent

CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "send", "arguments": {}}}
YES = {"jsonrpc": "2.0", "id": 1, "result": {"action": "accept", "content": {"sure": True}}}
LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}}


@asynccontextmanager
async def listening() -> AsyncIterator[tuple[str, bytearray]]:
    """The URL of a server that answers everything with nothing, and what came to it."""
    came = bytearray()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
        came.extend(head + await reader.readexactly(length))
        body = b'{"jsonrpc": "2.0", "id": 1, "result": {}}'
        told = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
        writer.write(told + body)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/", came
    finally:
        server.close()


async def posted(url: str, message: Any) -> int:
    async with http_client(HttpServer(url=url), max_bytes=1000, timeout=5) as client:
        return (await client.post(url, json=message)).status_code


@pytest.mark.parametrize("message", [CALL, [LIST, CALL], {**CALL, "id": None}], ids=["one", "many", "no id"])
@pytest.mark.parametrize("other", [False, True], ids=["none", "of another request"])
async def test_a_call_that_no_exchange_tells_of_is_not_posted(other: bool, message: Any) -> None:
    exchange = Exchange() if other else None
    token = CURRENT.set(exchange)
    try:
        async with listening() as (url, came):
            with sending_for(Sender(until=now() + 60)):
                assert await posted(url, message) == 503
                assert came == b""
                assert await posted(url, LIST) == 200
        assert exchange is None or isinstance(exchange.withheld, NotSent)
    finally:
        CURRENT.reset(token)


async def test_a_call_that_writes_is_not_posted_under_no_claim() -> None:
    async with listening() as (url, came):
        for exchange in (Exchange(acts=True, writes=True), Exchange(acts=True)):
            token = CURRENT.set(exchange)
            status = await posted(url, CALL)
            CURRENT.reset(token)
            if exchange.writes:
                assert (status, bytes(came)) == (503, b"")
                assert "no claim" in str(exchange.withheld)
                assert exchange.sent is False
            else:
                assert (status, exchange.withheld) == (200, None)


async def test_a_call_that_no_exchange_tells_of_is_not_written_to_a_program(tmp_path: Path) -> None:
    heard = tmp_path / "heard"
    answer = json.dumps({"jsonrpc": "2.0", "id": 2, "result": {}})
    program = f"while read -r line; do echo \"$line\" >> {heard}; echo '{answer}'; done"
    settings = StdioServer(command=("/bin/sh", "-c", program))
    async with ServerProgram(settings, max_bytes=1000).streams() as (answers, to_it):
        sending = [SessionMessage(types.jsonrpc_message_adapter.validate_python(one)) for one in (CALL, LIST)]
        await to_it.send(sending[0])
        refused: Any = (await answers.receive()).message  # type: ignore[union-attr]
        await to_it.send(sending[1])
        await answers.receive()
        assert (refused.id, "no workflow and no person" in refused.error.message) == (1, True)
    assert [json.loads(line)["id"] for line in heard.read_text().splitlines()] == [2]


async def test_what_a_person_gave_is_told_as_a_part_of_a_call_alone(tmp_path: Path) -> None:
    """Elsewhere the question is put off, over HTTP as over pipes."""
    with sending_for(Sender(until=now() + 60)):
        for exchange, action in ((Exchange(), "cancel"), (Exchange(acts=True), "accept")):
            heard = tmp_path / action
            program = f'read -r line; echo "$line" > {heard}; echo \'{{"jsonrpc": "2.0", "id": 1}}\''
            token = CURRENT.set(exchange)
            async with listening() as (url, came):
                assert await posted(url, YES) == 200
            settings = StdioServer(command=("/bin/sh", "-c", program))
            async with ServerProgram(settings, max_bytes=1000).streams() as (answers, to_it):
                await to_it.send(SessionMessage(types.jsonrpc_message_adapter.validate_python(YES)))
                with pytest.raises(anyio.EndOfStream):
                    await answers.receive()
            CURRENT.reset(token)
            _, _, posted_body = bytes(came).partition(b"\r\n\r\n")
            for told in (posted_body, heard.read_bytes()):
                assert json.loads(told)["result"]["action"] == action
            assert (exchange.untold is None) is (action == "accept")
