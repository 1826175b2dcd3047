"""Both eras of MCP at one door: 2026-07-28, where each request says all, and the handshakes before it.

What either era takes and refuses, by hand; what the official client makes of it is in `test_mcp`.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from mcp.shared.exceptions import MCPError
from mcp_types import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    UNSUPPORTED_PROTOCOL_VERSION,
)
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import BaseModel

from models.config import Config
from models.errors import DatabaseUnavailable
from serve.api import make_app
from tests.integration.doors.mcp_client import (
    JSON,
    MODERN,
    bearer,
    envelope,
    mcp_client,
    mirrored,
    raw_post,
    serving,
)

Configure = Callable[..., Config]

LEGACY = "2025-11-25"
HEADER = {"MCP-Protocol-Version": LEGACY}
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
ERAS = pytest.mark.parametrize("era", [MODERN, LEGACY])


@pytest.fixture
def config(configure: Configure) -> Config:
    """The configuration."""
    return configure({"tools.rate_limits": {"get_tonalities": {"calls": 2, "per_seconds": 600}}})


@pytest.fixture
def app(config: Config, database_url: str) -> FastAPI:
    """A replica."""
    return make_app(config, database_url)


@pytest.fixture
async def url(app: FastAPI) -> AsyncIterator[str]:
    """Where it is served."""
    async with serving(app) as url:
        yield url


@pytest.fixture
async def http(url: str, config: Config) -> AsyncIterator[httpx2.AsyncClient]:
    """A client with a reader's token."""
    token = bearer(config.auth, "macro:reader")
    async with httpx2.AsyncClient(base_url=url, headers={**JSON, **token}, timeout=30) as client:
        yield client


def asked(era: str, method: str, /, **params: Any) -> tuple[dict[str, str], dict[str, Any]]:
    """A request of an era: its headers and its body."""
    body = {"jsonrpc": "2.0", "id": 1, "method": method}
    if era == MODERN:
        return mirrored(method, params.get("name")), {**body, "params": {**params, "_meta": envelope()}}
    return HEADER, {**body, "params": params}


async def ask(
    http: httpx2.AsyncClient, era: str, method: str, /, **params: Any
) -> tuple[int, dict[str, Any], httpx2.Headers]:
    """Ask in an era: status, body, headers."""
    headers, body = asked(era, method, **params)
    answer = await http.post("/mcp", headers=headers, content=json.dumps(body))
    return answer.status_code, answer.json(), answer.headers


async def test_discovery_says_what_there_is(http: httpx2.AsyncClient) -> None:
    status, body, headers = await ask(http, MODERN, "server/discover")
    found = body["result"]
    assert (status, found["resultType"], found["supportedVersions"]) == (200, "complete", [MODERN])
    assert found["capabilities"] == {"prompts": {"listChanged": False}, "tools": {"listChanged": False}}
    assert found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "signoff"
    assert (found["ttlMs"], found["cacheScope"], headers["cache-control"]) == (0, "private", "no-store")
    assert "a human decides" in found["instructions"]
    assert "mcp-session-id" not in headers


@pytest.mark.parametrize("version", [*HANDSHAKE_PROTOCOL_VERSIONS, MODERN, "1999-01-01"])
async def test_a_handshake_agrees_on_a_version_that_has_one(http: httpx2.AsyncClient, version: str) -> None:
    hello = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
    answer = await http.post("/mcp", json=body)
    agreed = version if version in HANDSHAKE_PROTOCOL_VERSIONS else LEGACY
    assert answer.json()["result"]["protocolVersion"] == agreed
    assert "mcp-session-id" not in answer.headers
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    told = await http.post("/mcp", headers={"MCP-Protocol-Version": agreed}, json=ready)
    assert (told.status_code, told.content) == (202, b"")


@pytest.mark.parametrize(
    ("mode", "spoken"),
    [("auto", MODERN), ("legacy", LEGACY), (MODERN, MODERN)],
    ids=["auto", "legacy", "new"],
)
async def test_the_official_client_works_in_each_mode(
    url: str, config: Config, mode: str, spoken: str
) -> None:
    async with mcp_client(url, bearer(config.auth, "macro:reader"), mode=mode) as client:
        assert client.protocol_version == spoken
        # The handshake says who serves; without one, the answer to the first request does.
        assert (client.server_info is None) == (mode == MODERN)
        assert "get_article" in {tool.name for tool in (await client.list_tools()).tools}
        assert (await client.list_prompts()).prompts == []
        assert (await client.call_tool("get_article", {"article_id": "x"})).is_error
        for name in ("rm", "decide_approval"):
            with pytest.raises(MCPError, match="Unknown tool") as refused:
                await client.call_tool(name, {})
            assert refused.value.code == INVALID_PARAMS
        with pytest.raises(MCPError, match="takes the scope") as refused:
            await client.call_tool("publish_article", {"article_id": 1})
        assert refused.value.code == 403


@ERAS
async def test_what_http_refuses_it_refuses_in_each_era(
    url: str, http: httpx2.AsyncClient, app: FastAPI, era: str
) -> None:
    headers, body = asked(era, "tools/list")
    async with httpx2.AsyncClient(base_url=url, headers=JSON) as nobody:
        token = http.headers["authorization"].removeprefix("Bearer ")
        for path in ("/mcp", f"/mcp?access_token={token}", f"/mcp?token={token}"):
            answer = await nobody.post(path, headers=headers, json=body)
            assert (answer.status_code, answer.json()["error"]["code"]) == (401, 401)
            assert "resource_metadata=" in answer.headers["www-authenticate"]
        for method in ("GET", "DELETE"):
            stream = {**headers, "Accept": "text/event-stream", "Last-Event-ID": "1"}
            assert (await nobody.request(method, "/mcp", headers=stream)).status_code == 401
            assert (await http.request(method, "/mcp", headers=stream)).status_code == 405
    call = {"article_id": 1}
    status, said, told = await ask(http, era, "tools/call", name="publish_article", arguments=call)
    assert (status, said["error"]["code"]) == (403, 403)
    assert 'error="insufficient_scope", scope="' in told["www-authenticate"]
    for _ in range(2):
        assert (await ask(http, era, "tools/call", name="get_tonalities", arguments={}))[0] == 200
    status, said, told = await ask(http, era, "tools/call", name="get_tonalities", arguments={})
    assert (status, said["error"]["code"], told["retry-after"]) == (429, 429, "300")

    class Away:
        def permitted(self, *_: Any, **__: Any) -> None:
            raise DatabaseUnavailable("the database is away: try again in a moment")

    app.state.registry = Away()
    status, said, told = await ask(http, era, "tools/list")
    assert (status, said["error"]["code"], "retry-after" in told) == (503, 503, True)


@ERAS
async def test_what_is_not_offered_is_no_method_here(http: httpx2.AsyncClient, era: str) -> None:
    status = {MODERN: 404, LEGACY: 200}[era]
    for method, params in {
        "resources/list": {},
        "resources/read": {"uri": "file:///etc/passwd"},
        "completion/complete": {
            "ref": {"type": "ref/prompt", "name": "x"},
            "argument": {"name": "a", "value": "b"},
        },
        "tasks/get": {"taskId": "1"},
        "foo/bar": {},
        **(
            {"subscriptions/listen": {"notifications": {"toolsListChanged": True}}}
            if era == MODERN
            else {"server/discover": {}, "logging/setLevel": {"level": "info"}}
        ),
    }.items():
        headers, body = asked(era, method, **params)
        if method == "resources/read":
            headers = {**headers, "Mcp-Name": "file:///etc/passwd"}
        answer = await http.post("/mcp", headers=headers, json=body)
        found = (method, answer.status_code, answer.json()["error"]["code"])
        assert found == (method, status, METHOD_NOT_FOUND)


async def test_of_the_old_era_the_new_one_has_no_handshake_and_no_session(http: httpx2.AsyncClient) -> None:
    hello = {"protocolVersion": MODERN, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    assert (await ask(http, MODERN, "initialize", **hello))[0] == 404
    assert (await ask(http, MODERN, "ping"))[0] == 404
    headers, body = asked(MODERN, "tools/list")
    answer = await http.post(
        "/mcp", headers={**headers, "Mcp-Session-Id": "x", "Last-Event-ID": "1"}, json=body
    )
    assert answer.status_code == 200
    assert "mcp-session-id" not in answer.headers


@pytest.mark.parametrize("version", ["2027-01-01", "2025-11-26", "x"])
async def test_a_version_that_is_not_spoken_is_told_which_is(http: httpx2.AsyncClient, version: str) -> None:
    headers, body = asked(MODERN, "tools/list")
    body["params"]["_meta"] = envelope(version)
    answer = await http.post("/mcp", headers={**headers, "MCP-Protocol-Version": version}, json=body)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (400, UNSUPPORTED_PROTOCOL_VERSION)
    assert error["data"] == {"supported": [MODERN], "requested": version}


CALL = {"name": "get_tonalities", "arguments": {}}
ENCODED = "=?base64?Z2V0X3RvbmFsaXRpZXM=?="


DISAGREEING: tuple[dict[str, str | None], ...] = (
    {"Mcp-Method": None},
    {"Mcp-Method": "tools/list"},
    {"Mcp-Method": "TOOLS/CALL"},
    {"Mcp-Name": None},
    {"Mcp-Name": "get_article"},
    {"Mcp-Name": "=?base64?Z2V0X2FydGljbGU=?="},
    {"Mcp-Name": "=?base64?!?="},
    {"Mcp-Name": "get_tonalities,get_article"},
    {"MCP-Protocol-Version": None},
    {"MCP-Protocol-Version": LEGACY},
    {"MCP-Protocol-Version": "2025-03-26"},
    {"MCP-Protocol-Version": "2027-01-01"},
    {"MCP-Protocol-Version": ""},
)


async def test_headers_that_say_other_than_the_body_are_refused(http: httpx2.AsyncClient) -> None:
    headers, body = asked(MODERN, "tools/call", **CALL)
    for changed in DISAGREEING:
        sent = {name: value for name, value in {**headers, **changed}.items() if value is not None}
        answer = await http.post("/mcp", headers=sent, json=body)
        assert (changed, answer.status_code) == (changed, 400)
        assert (changed, answer.json()["error"]["code"]) == (changed, HEADER_MISMATCH)
    assert (await http.post("/mcp", headers={**headers, "Mcp-Name": ENCODED}, json=body)).status_code == 200


@pytest.mark.parametrize("version", [None, LEGACY])
async def test_a_body_of_the_new_era_is_not_taken_for_one_of_the_old(
    http: httpx2.AsyncClient, version: str | None
) -> None:
    # Else nobody would compare the headers that a gateway has gone by.
    headers = {"Mcp-Method": "tools/list", **({"MCP-Protocol-Version": version} if version else {})}
    for declared in (MODERN, "2027-01-01", 7, None, ["2025-11-25"]):
        _, body = asked(MODERN, "tools/call", **CALL)
        body["params"]["_meta"][VERSION_KEY] = declared
        answer = await http.post("/mcp", headers=headers, json=body)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, HEADER_MISMATCH), declared
        assert answer.json()["id"] == 1


async def test_spaces_around_a_headers_value_are_not_its_own(
    url: str, http: httpx2.AsyncClient, config: Config
) -> None:
    token = http.headers["authorization"]
    for before, after in ((" ", " "), ("\t", "\t"), ("", "  \t")):
        for era in (MODERN, LEGACY):
            headers, body = asked(era, "tools/call", name="get_article", arguments={"article_id": 1})
            lines = [(name, f"{before}{value}{after}") for name, value in headers.items()]
            lines.append(("Authorization", f" {token}{after}"))
            status, said = await raw_post(url, lines, json.dumps(body).encode())
            assert (status, "result" in said) == (200, True), said


@ERAS
async def test_a_header_that_is_there_twice_is_refused(url: str, http: httpx2.AsyncClient, era: str) -> None:
    headers, body = asked(era, "tools/call", **CALL)
    lines = [("Authorization", http.headers["authorization"]), *headers.items()]
    for name, value in (
        ("MCP-Protocol-Version", MODERN),
        ("MCP-Protocol-Version", LEGACY),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Method", "tools/list"),
        ("Mcp-Name", "get_tonalities"),
    ):
        twice = [*lines, (name, value), *([] if name in headers else [(name, value)])]
        status, said = await raw_post(url, twice, json.dumps(body).encode())
        assert (name, status, said["error"]["code"]) == (name, 400, HEADER_MISMATCH)
        assert name.lower() in said["error"]["message"].lower()


NO_REQUESTS = (
    (b"", PARSE_ERROR),
    (b"{", PARSE_ERROR),
    (b"\xff\xfe", PARSE_ERROR),
    (b"[" * 60_000, PARSE_ERROR),
    (b'{"jsonrpc": "2.0", "id": ' + b"1" * 5000 + b', "method": "ping"}', PARSE_ERROR),
    (b"[]", INVALID_REQUEST),
    (b"7", INVALID_REQUEST),
    (b"null", INVALID_REQUEST),
    (b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', INVALID_REQUEST),
    (b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', INVALID_REQUEST),
    (b'{"id": 1, "method": "ping"}', INVALID_REQUEST),
    (b'{"jsonrpc": "2.0", "id": null, "method": "tools/list"}', INVALID_REQUEST),
    (b'{"jsonrpc": "2.0", "id": {"a": 1}, "method": "tools/list"}', INVALID_REQUEST),
    (b'{"jsonrpc": "2.0", "id": 1.5, "method": "tools/list"}', INVALID_REQUEST),
    (b'{"jsonrpc": "2.0", "id": true, "method": "tools/list"}', INVALID_REQUEST),
    (b'{"jsonrpc": "2.0", "id": [], "method": "tools/list"}', INVALID_REQUEST),
    (b'{"jsonrpc": "2.0", "id": 1, "method": 7}', INVALID_REQUEST),
    (b'{"jsonrpc": "2.0", "id": 1}', INVALID_REQUEST),
    (b'{"jsonrpc": "2.0", "id": 1, "result": {}}', INVALID_REQUEST),
    (b'{"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "x"}}', INVALID_REQUEST),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "result": {}}', INVALID_REQUEST),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "error": {"code": 1, "message": "x"}}', INVALID_REQUEST),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": [1]}', INVALID_REQUEST),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": null}', INVALID_REQUEST),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "method": "tools/list"}', INVALID_REQUEST),
    (
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params":'
        b' {"name": "get_article", "arguments": {"article_id": 1, "article_id": 2}}}',
        INVALID_REQUEST,
    ),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "\\ud800": 1, "\\ud800": 2}', INVALID_REQUEST),
)


@ERAS
async def test_what_is_not_one_request_is_refused_in_one_line(http: httpx2.AsyncClient, era: str) -> None:
    headers = mirrored("tools/list") if era == MODERN else HEADER
    for body, code in NO_REQUESTS:
        answer = await http.post("/mcp", headers=headers, content=body)
        error = answer.json()["error"]
        assert (body[:80], answer.status_code, error["code"]) == (body[:80], 400, code)
        # The field, and the fault or the remedy.
        assert re.fullmatch(r"[a-z]+: [^\n]{5,150}", error["message"]), error
        assert "pydantic" not in error["message"]


@ERAS
async def test_a_value_of_the_wrong_kind_is_named(http: httpx2.AsyncClient, era: str) -> None:
    status = {MODERN: 400, LEGACY: 200}[era]
    for method, params, where in (
        ("tools/call", {"name": "get_article", "arguments": [1]}, "params.arguments: "),
        ("tools/call", {"name": "get_article", "inputResponses": 7}, "params.inputResponses: "),
        ("prompts/get", {}, "params.name: "),
        ("tools/list", {"cursor": 7}, "params.cursor: "),
        ("tools/list", {"cursor": "7"}, "params.cursor: "),
        ("prompts/list", {"cursor": ""}, "params.cursor: "),
    ):
        if era == LEGACY and "inputResponses" in params:
            continue  # an era without them reads none
        found, body, _ = await ask(http, era, method, **params)
        assert (found, body["error"]["code"]) == (status, INVALID_PARAMS)
        assert where in body["error"]["message"], body
    bad, body, _ = await ask(
        http, era, "tools/call", name="get_article", arguments={"article_id": "x", "y": 1}
    )
    assert (bad, body["result"]["isError"]) == (200, True)
    if era == MODERN:
        many = {"k" * 300 + f"\ud800\n{n}": 1 for n in range(40)}
        _, body, _ = await ask(http, era, "tools/call", name="get_article", inputResponses=many)
        assert body["error"]["message"].startswith("params.inputResponses.kkk")
        assert len(body["error"]["message"]) <= 1200
        assert "\n" not in body["error"]["message"]


@ERAS
async def test_what_a_trace_is_told_of_is_text(
    http: httpx2.AsyncClient, era: str, caplog: pytest.LogCaptureFixture
) -> None:
    """What reads it stands before all else, and its errors went to clients as they were."""
    for name in ("traceparent", "tracestate", "baggage"):
        for value in ([1], 7, {"a": 1}, None):
            headers, body = asked(era, "tools/list")
            body["params"].setdefault("_meta", {})[name] = value
            answer = await http.post("/mcp", headers=headers, json=body)
            error = answer.json()["error"]
            assert (name, answer.status_code, error["code"]) == (name, 400, INVALID_PARAMS)
            assert f"params._meta.{name}: " in error["message"]
        headers, body = asked(era, "tools/list")
        body["params"].setdefault("_meta", {})[name] = "\n,=;%" * 900
        assert "result" in (await http.post("/mcp", headers=headers, json=body)).json()
    assert "Traceback" not in caplog.text


async def test_what_nobody_asked_for_is_not_heeded(http: httpx2.AsyncClient) -> None:
    """The door asks its clients nothing, so answers decide nothing, and nothing is sealed for later."""
    given = {"approve": {"action": "accept", "content": {"decision": "approve"}}}
    call = {"name": "get_article", "arguments": {"article_id": 1}}
    plain = (await ask(http, MODERN, "tools/call", **call))[1]
    answered = (await ask(http, MODERN, "tools/call", **call, inputResponses=given, requestState="x"))[1]
    assert answered == plain
    assert plain["result"]["resultType"] == "complete"


@ERAS
async def test_notifications_are_taken_and_do_nothing(http: httpx2.AsyncClient, era: str) -> None:
    meta = {"_meta": envelope()} if era == MODERN else {}
    for method, params in (
        ("notifications/cancelled", {"requestId": 1}),
        ("notifications/cancelled", {"requestId": {}}),
        ("tools/call", CALL),
        ("notifications/xyz", {}),
    ):
        headers, body = asked(era, method, **params)
        del body["id"]
        body["params"] = {**params, **meta}
        answer = await http.post("/mcp", headers=headers, json=body)
        assert (method, answer.status_code, answer.content) == (method, 202, b"")


class Slow:
    """A registry whose tools take until they are let go; it says how each ended."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.let_go = asyncio.Event()
        self.ended: asyncio.Queue[str] = asyncio.Queue()

    async def call(self, *_: Any, **__: Any) -> BaseModel:
        """Wait."""
        self.begun.set()
        try:
            await self.let_go.wait()
        except asyncio.CancelledError:
            self.ended.put_nowait("cancelled")
            raise
        self.ended.put_nowait("done")
        return BaseModel()


@ERAS
async def test_who_leaves_cancels_what_was_asked_in_the_new_era(
    http: httpx2.AsyncClient, app: FastAPI, era: str
) -> None:
    app.state.registry = slow = Slow()
    headers, body = asked(era, "tools/call", name="get_article", arguments={})
    asking = asyncio.create_task(http.post("/mcp", headers=headers, json=body))
    await asyncio.wait_for(slow.begun.wait(), 10)
    asking.cancel()
    if era == LEGACY:
        # There a connection that is lost says nothing of what the client wants.
        await asyncio.wait({asking})
        slow.let_go.set()
    ended = await asyncio.wait_for(slow.ended.get(), 10)
    assert ended == {MODERN: "cancelled", LEGACY: "done"}[era]
    slow.let_go.set()
    assert (await ask(http, era, "tools/call", name="get_article", arguments={}))[0] == 200
