"""The HTTP of MCP: tokens and challenges (RFC 6750, RFC 9728), hosts, bodies, and OAuth as clients do it."""

import json
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from mcp.shared.exceptions import MCPError

from models.config import Config
from models.store.database import Database
from serve.api import make_app
from tests.examples import examples
from tests.integration.doors.mcp_client import (
    HANDSHAKE,
    JSON,
    MODERN,
    bearer,
    call,
    mcp_client,
    post,
    serving,
)

Configure = Callable[..., Config]

SITE = "https://signoff.example"
METADATA = f'resource_metadata="{SITE}/.well-known/oauth-protected-resource/mcp"'
READERS = 'scope="esg:reader macro:reader"'
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}


@pytest.fixture
def config(configure: Configure) -> Config:
    """A site with a name and two topics."""
    return configure(
        {
            "publishing.public_url": f"{SITE}/",
            "publishing.ui_url": "https://app.example:8443",
            "publishing.topics": {"esg": {"title": "Environment"}, "macro": {"title": "Macroeconomics"}},
            "tools.rate_limits": {"get_tonalities": {"calls": 2, "per_seconds": 600}},
        }
    )


@pytest.fixture
def app(config: Config, database_url: str) -> FastAPI:
    """A replica."""
    return make_app(config, database_url)


@pytest.fixture
async def url(app: FastAPI) -> AsyncIterator[str]:
    """Where it is served."""
    async with serving(app) as url:
        yield url


async def test_every_request_needs_a_token(url: str, config: Config) -> None:
    none = [{}, {"X-Authorization": "Bearer x"}]
    bad = {
        "rubbish": {"Authorization": "Bearer rubbish"},
        "no token": {"Authorization": "Bearer"},
        "other scheme": {"Authorization": "Basic YTpi"},
        "other audience": bearer(config.auth, "macro:reader", aud="elsewhere"),
        "other issuer": bearer(config.auth, "macro:reader", iss="somebody"),
        "over": bearer(config.auth, "macro:reader", exp=datetime.now(UTC) - timedelta(seconds=1)),
    }
    asked = [("initialize", HELLO), ("tools/list", {}), ("ping", {}), ("server/discover", {})]
    for method, params in asked:
        for headers in none:
            answer = await post(url, headers, method, **params)
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"] == f"Bearer {METADATA}, {READERS}"
            assert answer.json()["error"]["data"]["type"] == "urn:signoff:problem:Unauthenticated"
        for why, headers in bad.items():
            answer = await post(url, headers, method, **params)
            assert (why, answer.status_code) == (why, 401)
            challenge = f'Bearer error="invalid_token", {METADATA}, {READERS}'
            assert answer.headers["www-authenticate"] == challenge
    good = bearer(config.auth, "macro:reader")
    token = good["Authorization"][7:]
    assert (await post(url, {}, path=f"/mcp?access_token={token}")).status_code == 401
    assert (await post(url, good)).status_code == 200
    async with httpx2.AsyncClient() as client:
        for method in ("GET", "DELETE", "PUT", "OPTIONS"):
            assert (await client.request(method, f"{url}/mcp", headers=JSON)).status_code == 401
            refused = await client.request(method, f"{url}/mcp", headers={**JSON, **good})
            assert (refused.status_code, refused.headers["allow"]) == (405, "POST")


async def test_the_metadata_says_where_tokens_come_from(
    url: str, configure: Configure, database_url: str
) -> None:
    async with httpx2.AsyncClient() as client:
        for path in ("", "/mcp"):
            answer = await client.get(f"{url}/.well-known/oauth-protected-resource{path}")
            assert answer.headers["content-type"] == "application/json"
            # The issuer of development tokens is no server, and RFC 9728 §3.2 leaves out what is empty.
            assert answer.json() == {
                "resource": f"{SITE}/mcp",
                "bearer_methods_supported": ["header"],
                "scopes_supported": [
                    f"{topic}:{role}"
                    for topic in ("esg", "macro", "global")
                    for role in ("reader", "editor", "analyst", "admin")
                ],
                "resource_name": "Signoff",
            }
        issuer = "https://keycloak.internal/realms/signoff"
        async with serving(make_app(configure({"auth.issuer": issuer}), database_url)) as other:
            answer = await client.get(f"{other}/.well-known/oauth-protected-resource/mcp")
            assert answer.json()["authorization_servers"] == [issuer]


async def test_both_spellings_of_the_path_answer_without_a_redirect(url: str, config: Config) -> None:
    for path in ("/mcp", "/mcp/"):
        answer = await post(url, bearer(config.auth, "macro:reader"), "initialize", path=path, **HELLO)
        assert (answer.status_code, answer.history) == (200, [])
        assert answer.json()["result"]["serverInfo"]["name"] == "signoff"
        assert "mcp-session-id" not in answer.headers


async def test_other_host_names_are_refused(url: str, config: Config) -> None:
    for host, status in {
        "signoff.example": 200,
        "signoff.example:443": 200,
        "127.0.0.1:8000": 200,
        "localhost:1234": 200,
        "[::1]:8000": 200,
        "evil.example": 421,
        "signoff.example:8000": 421,
        "signoff.example.evil.example": 421,
        "localhost.evil.example": 421,
    }.items():
        answer = await post(url, {**bearer(config.auth, "macro:reader"), "Host": host})
        assert (host, answer.status_code) == (host, status)


async def test_pages_of_other_sites_are_refused(url: str, config: Config) -> None:
    for origin, status in {
        SITE: 200,
        "https://app.example:8443": 200,
        "http://localhost:6274": 200,
        "http://signoff.example": 403,
        "https://evil.example": 403,
        "null": 403,
    }.items():
        answer = await post(url, {**bearer(config.auth, "macro:reader"), "Origin": origin})
        assert (origin, answer.status_code) == (origin, status)


async def test_bodies_are_bounded(url: str, config: Config) -> None:
    headers = {**JSON, **bearer(config.auth, "macro:analyst")}
    article = await call(url, headers, "create_draft_article", topic="macro", headline="Long")
    number = article.json()["result"]["structuredContent"]["article_id"]
    # As long as an article may be, in characters of three bytes.
    written = await call(url, headers, "write_article_content", article_id=number, content="中" * 1_000_000)
    assert written.json()["result"]["structuredContent"]["content_length"] == 1_000_000

    async def endless() -> AsyncIterator[bytes]:
        for _ in range(9):
            yield b" " * 1024 * 1024

    async with httpx2.AsyncClient(timeout=30) as client:
        for content in (b" " * 9 * 1024 * 1024, endless()):
            answer = await client.post(f"{url}/mcp", headers=headers, content=content)
            assert answer.status_code == 413


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", {"inputResponses": {"a": {"role": "user", "model": "m", "content": [1] * 20_000}}}),
        ("tools/call", {"_meta": {"a": [1] * 20_000}}),
        ("initialize", {"arguments": {}, "clientInfo": {"icons": [1] * 20_000}}),
        ("notifications/progress", {"message": "a" * 20_000}),
    ],
)
async def test_beside_a_tools_arguments_a_request_is_small(
    url: str, config: Config, method: str, params: dict[str, Any]
) -> None:
    answer = await post(url, bearer(config.auth, "macro:reader"), method, **params)
    assert answer.status_code == 422
    assert "16384 bytes beside the arguments" in answer.json()["error"]["message"]


async def test_a_tools_arguments_may_be_large(url: str, config: Config) -> None:
    rows = [[n, n] for n in range(50_000)]
    answer = await call(
        url,
        bearer(config.auth, "macro:analyst"),
        "create_table_resource",
        name="n",
        topic="macro",
        columns=["a", "b"],
        rows=rows,
    )
    assert answer.json()["result"]["structuredContent"]["resource_id"] > 0


def requests() -> st.SearchStrategy[bytes]:
    """Bodies that are nothing, nearly something, or a call with whatever arguments."""
    leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=8)
    values = st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))
    tools = st.sampled_from(["get_article", "get_resource", "edit_prompts", "search_articles"])
    fields = st.dictionaries(st.sampled_from(["article_id", "topic", "query", "text"]) | st.text(), values)
    params = st.fixed_dictionaries({"name": tools | st.text(), "arguments": fields | values}) | values
    method = st.sampled_from(["tools/call", "prompts/get", "tools/list", "initialize"]) | st.text()
    whole = st.fixed_dictionaries(
        {"jsonrpc": st.just("2.0"), "id": st.integers() | values, "method": method, "params": params}
    )
    texts = (whole | values).map(json.dumps)
    return st.binary() | texts.map(str.encode) | texts.map(lambda text: text.encode()[:-1])


async def test_whatever_is_sent_is_answered(url: str, config: Config, database: Database) -> None:
    modern = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call", "Mcp-Name": "get_article"}
    token = bearer(config.auth, "macro:admin")
    surrogate = b'"\\ud800": "\\ud800"'
    deep = b'"article_id": ' + b"[" * 500 + b"]" * 500
    arguments = (surrogate, deep, b'"article_id": NaN', b'"article_id": 1e999', b'"query": "\\u0000"')
    async with httpx2.AsyncClient(base_url=url, timeout=30) as client:

        async def send(body: bytes, more: dict[str, str]) -> httpx2.Response:
            answer = await client.post("/mcp", headers={**JSON, **token, **more}, content=body)
            assert answer.status_code < 500
            return answer

        for more in ({}, modern):
            for broken in (b"", b"{", b"\xff", b"[" * 100_000):
                answer = await send(broken, more)
                assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32700)
            for wrong in (b"[]", b"1", b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}'):
                assert (await send(wrong, more)).status_code == 400
            meta = {
                "io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientCapabilities": {},
            }
            for given_ in arguments:
                params = b'{"name": "get_article", "_meta": %s, "arguments": {%s}}' % (
                    json.dumps(meta).encode(),
                    given_,
                )
                body = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": %s}' % params
                answer = await send(body, more)
                assert answer.status_code == 400 or answer.json()["result"]["isError"], given_

        @examples(60, suppress_health_check=list(HealthCheck), database=None)
        @given(body=requests(), more=st.sampled_from([{}, modern]))
        def fuzzed(body: bytes, more: dict[str, str]) -> None:
            bodies.append((body, more))

        bodies: list[tuple[bytes, dict[str, str]]] = []
        fuzzed()
        for body, more in bodies:
            await send(body, more)
    async with database.connection() as connection:
        cursor = await connection.execute("SELECT count(*) AS n FROM tool_calls WHERE status = 'ok'")
        assert (await cursor.fetchone() or {})["n"] == 0


@pytest.mark.parametrize("mode", [MODERN, HANDSHAKE])
async def test_who_calls_too_often_is_told_when_to_come_back(
    url: str, config: Config, database: Database, mode: str
) -> None:
    headers = bearer(config.auth, "macro:reader", user=f"hasty-{mode}")
    async with mcp_client(url, headers, mode=mode) as client:
        for _ in range(2):
            await client.call_tool("get_tonalities", {})
        with pytest.raises(MCPError, match="more than 2 times") as refused:
            await client.call_tool("get_tonalities", {})
        # The official client doesn't try again by itself: it hands on what the body says.
        assert refused.value.code == 429
        assert 290 < refused.value.data["retry_after_seconds"] <= 300
    answer = await call(url, headers, "get_tonalities")
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "300")
    async with database.connection() as connection:
        cursor = await connection.execute("SELECT door, status FROM tool_calls ORDER BY id")
        recorded = [(row["door"], row["status"]) for row in await cursor.fetchall()]
    assert recorded == [("mcp", "ok")] * 2 + [("mcp", "RateLimited")] * 2


async def test_without_the_database_it_is_away_and_not_broken(app: FastAPI, url: str, config: Config) -> None:
    await app.state.database.__aexit__()
    answer = await post(url, bearer(config.auth, "macro:reader"))
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, 503)
    assert answer.json()["error"]["data"]["type"] == "urn:signoff:problem:DatabaseUnavailable"


@pytest.mark.parametrize("mode", [MODERN, HANDSHAKE, "auto"])
async def test_the_official_client_says_why_it_is_refused(url: str, config: Config, mode: str) -> None:
    expired = bearer(config.auth, "macro:reader", exp=datetime.now(UTC) - timedelta(seconds=1))
    with pytest.raises(ExceptionGroup) as refused:
        async with mcp_client(url, expired, mode=mode) as client:
            await client.list_tools()
    assert refused.group_contains(MCPError, match="Signature has expired")
