"""Both eras of MCP at one door: 2026-07-28, where each request says all, and the handshakes before it.

What either era takes and refuses, by hand; what the official client makes of it is in `test_mcp`.
"""

from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, METHOD_NOT_FOUND, UNSUPPORTED_PROTOCOL_VERSION
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from models.config import Config
from models.errors import DatabaseUnavailable
from tests.integration.doors.eras.asking import CALL, ERAS, LEGACY, ask, asked
from tests.integration.doors.mcp_client import JSON, MODERN, bearer, envelope, mcp_client


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
        with pytest.raises(MCPError, match="takes the scope equity:editor or ") as refused:
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
    methods: dict[str, dict[str, Any]] = {
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
    }
    for method, params in methods.items():
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


async def test_what_nobody_asked_for_is_not_heeded(http: httpx2.AsyncClient) -> None:
    """The door asks its clients nothing, so answers decide nothing, and nothing is sealed for later."""
    given = {"approve": {"action": "accept", "content": {"decision": "approve"}}}
    call: dict[str, Any] = {"name": "get_article", "arguments": {"article_id": 1}}
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
