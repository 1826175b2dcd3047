"""MCP over real HTTP: the app on loopback, the official SDK's client, and requests by hand."""

import asyncio
import contextlib
import itertools
import json
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import jwt
import uvicorn
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from starlette.types import ASGIApp

from models.config import AuthConfig

MODERN, HANDSHAKE = "2026-07-28", "legacy"
JSON = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


class Server(uvicorn.Server):
    """A replica in this process, which leaves the signals alone."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Do nothing."""
        yield


def free_socket() -> socket.socket:
    """A socket on a free port of loopback, for a server whose address must be known before it starts."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    return listening


def address(listening: socket.socket) -> str:
    """The URL of a server on a socket."""
    return f"http://127.0.0.1:{listening.getsockname()[1]}"


@asynccontextmanager
async def serving(app: ASGIApp, listening: socket.socket | None = None) -> AsyncIterator[str]:
    """The app over HTTP on loopback; its URL."""
    listening = listening or free_socket()
    server = Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=5))
    task = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        async with asyncio.timeout(30):
            while not server.started and not task.done():  # noqa: ASYNC110  # uvicorn tells nobody
                await asyncio.sleep(0.01)
        assert not task.done(), "the app didn't start"
        yield address(listening)
    finally:
        server.should_exit = True
        await task


def bearer(auth: AuthConfig, *scopes: str, user: str = "ann", **claims: Any) -> dict[str, str]:
    """The header of somebody with scopes, or with none, and with claims that are changed."""
    assert auth.secret is not None
    now = datetime.now(UTC)
    whole = {
        "iss": auth.issuer,
        "aud": auth.audience,
        "sub": user,
        "scopes": list(scopes),
        "iat": now,
        "exp": now + timedelta(hours=1),
        **claims,
    }
    return {"Authorization": f"Bearer {jwt.encode(whole, auth.secret.get_secret_value(), algorithm='HS256')}"}


class Alternately(httpx2.AsyncHTTPTransport):
    """Sends each request to the next of several replicas, as a load balancer does; counts them."""

    def __init__(self, *urls: str) -> None:
        super().__init__()
        self.sent = dict.fromkeys(urls, 0)
        self._next = itertools.cycle(urls)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send it there."""
        chosen = next(self._next)
        self.sent[chosen] += 1
        request.url = request.url.copy_with(port=httpx2.URL(chosen).port)
        return await super().handle_async_request(request)


@asynccontextmanager
async def mcp_client(
    url: str,
    headers: dict[str, str] | None = None,
    *,
    mode: str = MODERN,
    transport: httpx2.AsyncHTTPTransport | None = None,
    auth: httpx2.Auth | None = None,
) -> AsyncIterator[Client]:
    """The official client of the server at `url`."""
    async with (
        httpx2.AsyncClient(headers=headers, transport=transport, auth=auth, timeout=30) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http), mode=mode) as client,
    ):
        yield client


async def post(
    url: str, headers: dict[str, str], method: str = "tools/list", /, *, path: str = "/mcp", **params: Any
) -> httpx2.Response:
    """One JSON-RPC request by hand, as clients before 2026 send it."""
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    # Without TLS here, the certificates need not be read each time.
    async with httpx2.AsyncClient(timeout=30, verify=False) as client:
        return await client.post(f"{url}{path}", headers={**JSON, **headers}, json=body)


async def call(url: str, headers: dict[str, str], tool: str, /, **arguments: Any) -> httpx2.Response:
    """A tool's call by hand."""
    return await post(url, headers, "tools/call", name=tool, arguments=arguments)


def envelope(version: str = MODERN) -> dict[str, Any]:
    """What each request carries since 2026-07-28, as its `_meta`."""
    return {
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
    }


def mirrored(method: str, name: str | None = None) -> dict[str, str]:
    """The headers that repeat a request's body since 2026-07-28."""
    return {"MCP-Protocol-Version": MODERN, "Mcp-Method": method, **({"Mcp-Name": name} if name else {})}


async def raw_post(url: str, headers: list[tuple[str, str]], body: bytes) -> tuple[int, dict[str, Any]]:
    """A request whose header lines are sent as they are, which HTTP libraries do not: status, and JSON."""
    host, port = url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    whole = [("Host", f"{host}:{port}"), ("Connection", "close"), ("Content-Length", str(len(body)))]
    lines = [f"{name}:{value}" for name, value in (*whole, *JSON.items(), *headers)]
    writer.write("\r\n".join(["POST /mcp HTTP/1.1", *lines, "", ""]).encode("latin-1") + body)
    async with asyncio.timeout(30):
        head, _, answer = (await reader.read()).partition(b"\r\n\r\n")
    writer.close()
    return int(head.split()[1]), json.loads(answer)
