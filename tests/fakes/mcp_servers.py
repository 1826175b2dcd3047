"""MCP servers of the tests' own, on loopback: the official SDK's under uvicorn, and one that misbehaves.

`serving(server)` serves an SDK server in either era; `BadServer` answers each request as it is told to, byte
for byte; `TokenServer` gives tokens for client credentials. All write down what came.
"""

import asyncio
import contextlib
import gzip
import json
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs

import uvicorn
from mcp.server.lowlevel.server import Server
from mcp.server.mcpserver import MCPServer

from models.config import McpServer

ERAS = ("2026-07-28", "2025-11-25")
OBJECT = {"type": "object"}
# What a result of 2026-07-28 says of itself where it may be kept: not at all.
FRESH = {"ttlMs": 0, "cacheScope": "private"}


def configured(url: str, **changes: Any) -> McpServer:
    """A server's settings: `look` reads, `send` writes."""
    http = {"url": url, **changes.pop("http", {})}
    settings = {
        "title": "Mail",
        "http": http,
        "tools": ("look",),
        "writes": ("send",),
        "timeout_seconds": 10.0,
    }
    return McpServer.model_validate({**settings, **changes})


class _Uvicorn(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals alone."""
        yield


@asynccontextmanager
async def serving(
    server: "MCPServer | Server[Any]", *, port: int = 0, json_response: bool = False
) -> AsyncIterator[str]:
    """An SDK server over HTTP, at the URL that is given."""
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(("127.0.0.1", port))
    app = server.streamable_http_app(json_response=json_response)
    running = _Uvicorn(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1))
    task = asyncio.create_task(running.serve(sockets=[listening]))
    try:
        async with asyncio.timeout(30):
            while not running.started and not task.done():  # noqa: ASYNC110  # uvicorn tells nobody
                await asyncio.sleep(0.01)
        assert not task.done(), "the server didn't start"
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
    finally:
        running.should_exit = True
        await task


# What a bad server does with a request: with its method, its params, and the handler to write to.
Answers = Callable[["BadRequest"], None]


class BadRequest:
    """One request that came, and the ways to answer it."""

    def __init__(self, handler: BaseHTTPRequestHandler, message: Mapping[str, Any]) -> None:
        self.handler = handler
        self.message = message
        self.method = str(message.get("method"))
        self.params: Mapping[str, Any] = message.get("params") or {}

    def result(self, **result: Any) -> None:
        """Answer as the protocol wants it."""
        whole = {"resultType": "complete", **result}
        self.body(json.dumps({"jsonrpc": "2.0", "id": self.message["id"], "result": whole}).encode())

    def error(self, code: int, message: str, *, status: int = 200, data: Any = None) -> None:
        """Answer with an error of JSON-RPC."""
        error = {"code": code, "message": message} | ({} if data is None else {"data": data})
        body = json.dumps({"jsonrpc": "2.0", "id": self.message["id"], "error": error}).encode()
        self.body(body, status=status)

    def body(
        self,
        body: bytes,
        *,
        status: int = 200,
        content_type: str = "application/json",
        headers: Mapping[str, str] | None = None,
        length: int | None = None,
    ) -> None:
        """Answer anything. A `length` over that of the body has the answer break off."""
        self.handler.send_response(status)
        self.handler.send_header("Content-Type", content_type)
        self.handler.send_header("Content-Length", str(len(body) if length is None else length))
        for name, value in (headers or {}).items():
            self.handler.send_header(name, value)
        self.handler.end_headers()
        self.handler.wfile.write(body)
        if length is not None:
            self.handler.close_connection = True

    def endless(self, part: bytes, content_type: str = "application/json") -> int:
        """Write the part again and again, until nobody takes it; how many bytes were taken."""
        self.handler.send_response(200)
        self.handler.send_header("Content-Type", content_type)
        self.handler.end_headers()
        self.handler.close_connection = True
        written = 0
        with contextlib.suppress(OSError):
            while written < 1_000_000_000:
                self.handler.wfile.write(part)
                written += len(part)
        return written

    def nothing(self) -> None:
        """End the connection without an answer."""
        self.handler.close_connection = True


class HttpSite:
    """An HTTP server on a free port, in threads; what came is in `requests`: method, path, headers, body."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str, dict[str, str], bytes]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
                headers = {name.lower(): value for name, value in self.headers.items()}
                outer.requests.append((self.command, self.path, headers, body))
                outer.answer(self, body)

            do_GET = do_DELETE = do_POST

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self._server.server_port}/mcp"

    def answer(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        """Answer one request: 404."""
        handler.send_response(404)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class BadServer(HttpSite):
    """Speaks MCP of 2026-07-28 well, but for the methods in `does`. `calls` are the tool calls that came.

    `tools` is what it declares; `release` is set when a test lets what waits go on. With `legacy` it speaks
    2025-11-25, without sessions.
    """

    def __init__(self, *tools: Mapping[str, Any]) -> None:
        super().__init__()
        self.tools: Sequence[Mapping[str, Any]] = tools or (tool("look"), tool("send"))
        self.does: dict[str, Answers] = {}
        self.legacy = False
        self.calls: list[Mapping[str, Any]] = []
        self.release = threading.Event()

    def __exit__(self, *_: object) -> None:
        self.release.set()
        super().__exit__()

    def answer(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        """As `does` has it, or well."""
        if handler.command != "POST":
            return super().answer(handler, body)
        request = BadRequest(handler, json.loads(body))
        if request.method == "tools/call":
            self.calls.append(request.params)
        if (does := self.does.get(request.method)) is not None:
            return does(request)
        if "id" not in request.message:
            return request.body(b"", status=202)
        match request.method:
            case "server/discover" if not self.legacy:
                request.result(supportedVersions=["2026-07-28"], capabilities={"tools": {}}, **FRESH)
            case "initialize" if self.legacy:
                its = {"name": "bad", "version": "1"}
                request.result(protocolVersion="2025-11-25", capabilities={"tools": {}}, serverInfo=its)
            case "tools/list":
                request.result(tools=list(self.tools), **FRESH)
            case "tools/call":
                request.result(content=[{"type": "text", "text": "done"}])
            case _:
                request.error(-32601, "no such method", status=404)
        return None


def tool(name: str, /, **changes: Any) -> dict[str, Any]:
    """A declared tool; any arguments unless `inputSchema` says otherwise."""
    return {"name": name, "description": f"The tool {name}.", "inputSchema": OBJECT, **changes}


class TokenServer(HttpSite):
    """Gives out tokens `token-1`, `token-2`, … to the client `signoff` with the secret `s3cret`.

    `forms` are the requests' forms. `lasts` is each token's time, in seconds. Where `status` is not
    200, it says `refusal`, and redirects to `location`. `grants` are put into what it gives; None takes out.
    Asked to, it packs what it says, as gateways do.
    """

    def __init__(self, lasts: float | None = 3600) -> None:
        super().__init__()
        self.lasts = lasts
        self.status = 200
        self.refusal: dict[str, Any] = {"error": "invalid_client"}
        self.location: str | None = None
        self.grants: dict[str, Any] = {}
        self.forms: list[dict[str, list[str]]] = []

    def answer(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        """A token."""
        self.forms.append(parse_qs(body.decode()))
        granted: dict[str, Any] = {"access_token": f"token-{len(self.forms)}", "token_type": "Bearer"}
        if self.lasts is not None:
            granted["expires_in"] = self.lasts
        granted = {name: value for name, value in (granted | self.grants).items() if value is not None}
        said = json.dumps(granted if self.status == 200 else self.refusal).encode()
        handler.send_response(self.status)
        if "gzip" in (handler.headers.get("Accept-Encoding") or ""):
            said = gzip.compress(said)
            handler.send_header("Content-Encoding", "gzip")
        handler.send_header("Content-Type", "application/json")
        if self.location is not None:
            handler.send_header("Location", self.location)
        handler.send_header("Content-Length", str(len(said)))
        handler.end_headers()
        handler.wfile.write(said)
