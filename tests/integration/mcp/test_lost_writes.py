"""A tool that writes is sent once, whatever happens: where its answer is lost, that is what is said."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import mcp_types as types
import pytest
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

from actors.platform.mcp.servers import McpServers
from models.errors import McpServerAway, ServedToolChanged, ServedToolRefused, WriteAnswerLost
from tests.fakes.mcp_servers import (
    Answers,
    BadRequest,
    BadServer,
    TokenServer,
    serving,
    tool,
)
from tests.integration.mcp.asking import call_of, opened
from tests.integration.mcp.test_questions import server_of
from tests.integration.mcp.test_servers import mail_server
from tests.ports import free_port

_EVENTS = "text/event-stream"


@pytest.fixture(name="server")
def make_server() -> Iterator[BadServer]:
    with BadServer() as running:
        yield running


def _says(body: bytes, **more: Any) -> Answers:
    return lambda request: request.body(body, **more)


def _event(request: BadRequest) -> None:
    """A stream with an id to go on from, which ends: what the SDK then asks for is more, and not the call."""
    request.body(b"id: 1\nretry: 1\ndata:\n\n", content_type="text/event-stream")


@pytest.mark.parametrize("legacy", [False, True])
@pytest.mark.parametrize(
    ("answers", "told"),
    [
        (BadRequest.nothing, "the connection broke off"),
        (_says(b'{"jsonrpc": "2.0", "id": ', length=500), "its answer broke off"),
        (_says(b"", status=500), "it answers 500"),
        (_says(b"", status=502), "it answers 502"),
        (_says(b"", status=429), "it answers 429"),
        (_says(b"", status=404), "it answers 404|its session is over"),
        (_says(b"done!"), "breaks the protocol"),
        (_says(b"done!", content_type="text/plain"), "it answers text/plain"),
        (_says(b"", status=202), "it answers 202"),
        (_says(b" " * 2_000_000), "over 1,000,000 bytes"),
        (
            _says(b"", content_type="text/event-stream"),
            "the connection ended before the request was answered",
        ),
        (_event, "the connection ended|no answer to the request"),
        (lambda request: request.error(-32603, "I am undone", status=500), "it answers 500"),
        (lambda request: request.result(content="done"), "breaks the protocol"),
    ],
)
async def test_a_write_without_a_usable_answer_is_lost_and_sent_once(
    server: BadServer, answers: Answers, told: str, legacy: bool
) -> None:
    server.legacy = legacy
    server.does["tools/call"] = answers
    async with opened(server.url, timeout_seconds=5) as servers:
        call = await call_of(servers, "send", to="ann")
        with pytest.raises(WriteAnswerLost, match=told) as caught:
            await servers.call(call, confirmed=True)
        assert not caught.value.outage
        assert "whether it was done is not known" in str(caught.value)
        assert [each["arguments"] for each in server.calls] == [{"to": "ann"}]


@pytest.mark.parametrize("legacy", [False, True])
@pytest.mark.parametrize("status", [200, 400])
@pytest.mark.parametrize("code", [-32603, -32050, 0, 500, -32001])
async def test_a_write_that_is_answered_with_an_error_from_within_is_lost(
    server: BadServer, code: int, status: int, legacy: bool
) -> None:
    """The server came upon it while it was at work: nobody knows how far it got."""
    server.legacy = legacy
    server.does["tools/call"] = lambda request: request.error(code, "I am undone", status=status)
    async with opened(server.url, timeout_seconds=5) as servers:
        with pytest.raises(WriteAnswerLost, match=f"error {code}: I am undone: whether it was done"):
            await servers.call(await call_of(servers, "send", to="ann"), confirmed=True)
        read = await servers.call(await call_of(servers, "look"))
    assert (read.status, read.text) == ("failed", f"error {code}: I am undone")
    assert [each["name"] for each in server.calls] == ["send", "look"]


@pytest.mark.parametrize("legacy", [False, True])
@pytest.mark.parametrize("code", [-32600, -32601, -32602])
async def test_a_write_that_its_server_did_not_take_up_has_failed(
    server: BadServer, code: int, legacy: bool
) -> None:
    server.legacy = legacy
    server.does["tools/call"] = lambda request: request.error(code, "not so")
    async with opened(server.url) as servers:
        answer = await servers.call(await call_of(servers, "send"), confirmed=True)
    assert (answer.status, answer.text) == ("failed", f"error {code}: not so")
    assert len(server.calls) == 1


async def test_a_write_that_fails_within_after_its_question_was_put_off_is_lost() -> None:
    async def ask(context: ServerRequestContext[Any], _: object) -> types.CallToolResult:
        schema = {"type": "object", "properties": {"sure": {"type": "boolean"}}}
        await context.session.elicit_form("Sure?", schema, context.request_id)
        raise MCPError(types.INTERNAL_ERROR, "I am undone")

    async with serving(server_of(ask)) as url, opened(url, era="2025-11-25") as servers:
        with pytest.raises(WriteAnswerLost, match="I am undone"):
            await servers.call(await call_of(servers, "send"), confirmed=True)
        read = await servers.call(await call_of(servers, "look"))
    assert (read.status, read.question and read.question.said) == ("asks", "I am undone")


async def test_a_write_that_takes_too_long_is_lost(server: BadServer) -> None:
    def never(request: BadRequest) -> None:
        server.release.wait(30)
        request.nothing()

    server.does["tools/call"] = never
    async with opened(server.url, timeout_seconds=0.5) as servers:
        call = await call_of(servers, "send", to="ann")
        with pytest.raises(
            WriteAnswerLost, match=r"no answer to the request within timeout_seconds \(0.5 s\)"
        ):
            await servers.call(call, confirmed=True)
    assert len(server.calls) == 1


async def test_a_write_whose_answer_breaks_its_own_schema_is_lost(server: BadServer) -> None:
    """It says that it was done, and can't be believed: a person has to look."""
    server.tools = (tool("look"), tool("send", outputSchema={"type": "object", "required": ["id"]}))
    server.does["tools/call"] = lambda request: request.result(content=[], structuredContent={})
    async with opened(server.url) as servers:
        with pytest.raises(WriteAnswerLost, match="breaks its own schema: 'id' is a required property"):
            await servers.call(await call_of(servers, "send"), confirmed=True)
    assert len(server.calls) == 1


@pytest.mark.parametrize("status", [401, 403])
async def test_a_write_that_is_not_let_in_is_refused(server: BadServer, status: int) -> None:
    server.does["tools/call"] = _says(b"", status=status)
    async with opened(server.url) as servers:
        with pytest.raises(ServedToolRefused, match=f"it answers {status}"):
            await servers.call(await call_of(servers, "send"), confirmed=True)
    assert len(server.calls) == 1


@asynccontextmanager
async def with_tokens(server: BadServer) -> AsyncIterator[tuple[McpServers, TokenServer]]:
    """Its servers, let in by tokens that are over at once."""
    with TokenServer(lasts=0.02) as tokens:
        credentials = {"token_url": tokens.url, "client_id": "signoff", "client_secret": "s3cret-s3cret"}
        async with opened(server.url, http={"client_credentials": credentials}) as servers:
            yield servers, tokens


def _asks(request: BadRequest) -> None:
    """A question on the stream of the call, which ends: its answer is to be posted, and more asked for."""
    params = {"message": "Sure?", "requestedSchema": {"type": "object", "properties": {}}}
    asked = {"jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": params}
    said = f"id: 1\nretry: 100\nevent: message\ndata: {json.dumps(asked)}\n\n"
    request.body(said.encode(), content_type="text/event-stream")


@pytest.mark.parametrize("legacy", [False, True])
@pytest.mark.parametrize("answers", [_says(b"id: 1\nretry: 100\ndata:\n\n", content_type=_EVENTS), _asks])
@pytest.mark.parametrize("status", [400, 401, 403])
async def test_a_write_whose_later_requests_are_not_let_in_is_lost(
    server: BadServer, status: int, answers: Answers, legacy: bool
) -> None:
    """The call itself was taken up: what is refused is to hear its answer, or to answer its question."""
    server.legacy = legacy
    async with with_tokens(server) as (servers, tokens):

        def done(request: BadRequest) -> None:
            tokens.status = status
            answers(request)

        server.does["tools/call"] = done
        with pytest.raises(WriteAnswerLost, match=f"its token_url answers {status}.*whether it was done"):
            await servers.call(await call_of(servers, "send", to="ann"), confirmed=True)
    assert len(server.calls) == 1


@pytest.mark.parametrize("by", ["the server", "the provider"])
async def test_a_write_that_is_not_let_in_where_it_goes_on_is_lost(server: BadServer, by: str) -> None:
    """It was taken up, and is to be asked for again: what is refused then is not the first."""
    async with with_tokens(server) as (servers, tokens):

        def later(request: BadRequest) -> None:
            if len(server.calls) > 1:
                return request.body(b"", status=401)
            if by == "the provider":
                tokens.status = 401
            return request.result(resultType="input_required", requestState="at it")

        server.does["tools/call"] = later
        with pytest.raises(WriteAnswerLost, match=r"answers 401.*whether it was done"):
            await servers.call(await call_of(servers, "send", to="ann"), confirmed=True)


async def test_a_write_without_a_token_is_refused_and_not_sent(server: BadServer) -> None:
    async with with_tokens(server) as (servers, tokens):

        def last(request: BadRequest) -> None:
            tokens.status = 401
            request.result(tools=list(server.tools), ttlMs=0, cacheScope="private")

        call = await call_of(servers, "send", to="ann")
        server.does["tools/list"] = last
        with pytest.raises(ServedToolRefused, match="its token_url answers 401"):
            await servers.call(call, confirmed=True)
    assert server.calls == []


async def test_a_tool_that_says_it_failed_has_answered(server: BadServer) -> None:
    said = [{"type": "text", "text": "no such person"}]
    server.does["tools/call"] = lambda request: request.result(content=said, isError=True)
    async with opened(server.url) as servers:
        answer = await servers.call(await call_of(servers, "send"), confirmed=True)
    assert (answer.status, answer.text, answer.structured) == ("failed", "no such person", None)


async def test_a_write_that_could_not_be_sent_is_an_outage_and_can_be_made_later() -> None:
    """The server is gone before the call: nothing reached it, so nothing is lost."""
    server, port = mail_server(), free_port()
    url = f"http://127.0.0.1:{port}/mcp"
    async with opened(url) as servers:
        async with serving(server, port=port):
            call = await call_of(servers, "send", to="ann")
        with pytest.raises(McpServerAway):
            await servers.call(call, confirmed=True)
        async with serving(server, port=port):
            answer = await servers.call(call, confirmed=True)
    assert (answer.text, server.sent) == ("sent to ann", ["ann"])  # type: ignore[attr-defined]


@pytest.mark.parametrize("era", ["2026-07-28", "2025-11-25"])
async def test_a_connection_that_is_over_is_opened_anew_before_a_write(era: str) -> None:
    """A server that was started again knows no session of before; the tools are asked for on a new one."""
    port = free_port()
    async with opened(f"http://127.0.0.1:{port}/mcp", era=era) as servers:
        async with serving(mail_server(), port=port):
            call = await call_of(servers, "send", to="ann")
        server = mail_server()
        async with serving(server, port=port):
            assert (await servers.call(call, confirmed=True)).status == "answered"
            read = await call_of(servers, "look", text="a")
            assert (await servers.call(read)).status == "answered"
    assert server.sent == ["ann"]  # type: ignore[attr-defined]


async def test_other_calls_do_not_suffer_from_a_connection_that_breaks(server: BadServer) -> None:
    """A write under way has its answer, though a read beside it on the same connection was cut off."""

    def answers(request: BadRequest) -> None:
        if request.params["name"] == "look":
            return request.nothing()
        server.release.wait(30)
        result = {"resultType": "complete", "content": [{"type": "text", "text": "sent"}]}
        return request.body(
            json.dumps({"jsonrpc": "2.0", "id": request.message["id"], "result": result}).encode()
        )

    server.does["tools/call"] = answers
    async with opened(server.url) as servers:
        write = asyncio.create_task(servers.call(await call_of(servers, "send"), confirmed=True))
        while not server.calls:  # noqa: ASYNC110  # it runs in a thread
            await asyncio.sleep(0.01)
        with pytest.raises(McpServerAway):
            await servers.call(await call_of(servers, "look"))
        server.release.set()
        assert (await write).text == "sent"
    assert len(server.calls) == 2


async def test_a_write_that_was_not_approved_so_is_not_sent(server: BadServer) -> None:
    async with opened(server.url) as servers:
        call = await call_of(servers, "send")
        with pytest.raises(ServedToolChanged):
            await servers.call(call.model_copy(update={"digest": "f" * 64}), confirmed=True)
        with pytest.raises(ServedToolRefused, match="confirm"):
            await servers.call(call)
    assert server.calls == []
