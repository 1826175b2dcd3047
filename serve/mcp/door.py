"""MCP at `/mcp`: streamable HTTP without sessions, and an OAuth protected resource (RFC 9728, RFC 6750).

It speaks 2026-07-28, where each request says all, and the versions before it, which begin with a handshake.
Every request needs a bearer token, in its header. A replica keeps nothing between requests, so any of them
answers. What a handler refuses (`serve.mcp.server`) becomes the HTTP status here; the body stays JSON-RPC.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import asynccontextmanager
from typing import Any, get_args
from urllib.parse import urlsplit

import mcp_types as types
from fastapi import APIRouter, FastAPI, Request, Response
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import BaseModel
from starlette.datastructures import MutableHeaders
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from models.config import Config
from models.errors import InputInvalid, SignoffError
from models.people.scopes import GLOBAL, Role
from models.store.database import GONE, unavailable
from serve.admission.bodies import told_again
from serve.admission.limits import LARGE_BODY_BYTES
from serve.auth.caller import caller
from serve.mcp.envelope import EnvelopeInvalid, read
from serve.mcp.server import make_server
from serve.problems import headers_of, members_of

router = APIRouter(prefix="/.well-known/oauth-protected-resource", tags=["mcp"])

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_DEFAULT_PORTS = {"http": 80, "https": 443}


class ResourceMetadata(BaseModel):
    """Where to get tokens for `/mcp`, and for which scopes (RFC 9728 §2).

    `authorization_servers` is absent where the issuer is not an URL: tokens then come from `signoff token`.
    """

    resource: str
    authorization_servers: list[str] | None = None
    bearer_methods_supported: list[str]
    scopes_supported: list[str]
    resource_name: str


@router.get("", response_model_exclude_none=True)
@router.get("/mcp", response_model_exclude_none=True)
async def resource_metadata(request: Request) -> ResourceMetadata:
    """The metadata of the protected resource `/mcp`. Needs no token."""
    config: Config = request.app.state.config
    issuer = config.auth.issuer
    return ResourceMetadata(
        resource=f"{_public_url(config)}/mcp",
        authorization_servers=[issuer] if issuer.startswith(("http://", "https://")) else None,
        bearer_methods_supported=["header"],
        scopes_supported=[
            f"{topic}:{role}" for topic in (*config.publishing.topics, GLOBAL) for role in get_args(Role)
        ],
        resource_name="Signoff",
    )


def add_mcp(app: FastAPI) -> None:
    """Put the door into the app. It answers while `mcp_open(app)` is entered."""
    door = _McpApp(app.state.config)
    # With and without the slash: a redirect would lose the body of the request.
    for path in ("/mcp", "/mcp/"):
        app.router.routes.append(Route(path, door, include_in_schema=False))
    app.include_router(router)


@asynccontextmanager
async def mcp_open(app: FastAPI) -> AsyncIterator[None]:
    """Run what serves the door's requests; for the app's lifespan."""
    manager = StreamableHTTPSessionManager(
        make_server(app.version),
        stateless=True,
        json_response=True,
        security_settings=admitted(app.state.config),
        max_request_body_size=LARGE_BODY_BYTES,
    )
    async with manager.run():
        app.state.mcp = manager
        yield


def admitted(config: Config) -> TransportSecuritySettings:
    """The Host and Origin headers that are admitted: this site's own, and loopback (DNS rebinding)."""
    site = [urlsplit(_public_url(config))]
    origins = [*site, *([urlsplit(config.publishing.ui_url)] if config.publishing.ui_url else [])]
    host = config.http.host.lower()
    listening = f"[{host}]" if ":" in host else host
    return TransportSecuritySettings(
        allowed_hosts=[
            *(name for url in site for name in _authorities(url.scheme, url.hostname or "", url.port)),
            *_authorities("http", listening, config.http.port),
            *(name for loopback in _LOOPBACK for name in (loopback, f"{loopback}:*")),
        ],
        allowed_origins=[
            *(
                f"{url.scheme}://{name}"
                for url in origins
                for name in _authorities(url.scheme, url.hostname or "", url.port)
            ),
            *(f"http://{name}" for loopback in _LOOPBACK for name in (loopback, f"{loopback}:*")),
        ],
    )


def _authorities(scheme: str, host: str, port: int | None) -> list[str]:
    """How a Host header may spell an address: the port is left out where it is the scheme's own."""
    name = f"[{host}]" if ":" in host and not host.startswith("[") else host
    default = _DEFAULT_PORTS[scheme]
    return [name, f"{name}:{default}"] if port in (None, default) else [f"{name}:{port}"]


def _public_url(config: Config) -> str:
    return config.publishing.public_url.rstrip("/")


class _McpApp:
    """The ASGI app at `/mcp`: first the token, then MCP, with the status of what MCP refuses."""

    def __init__(self, config: Config) -> None:
        self._metadata_url = f"{_public_url(config)}/.well-known/oauth-protected-resource/mcp"
        # A client without a token asks for these first, and for more when it is told so (403).
        self._first_scopes = " ".join(f"{topic}:reader" for topic in config.publishing.topics)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        # Spaces around a value are none of it (RFC 9110 §5.5), and not every server takes them off.
        scope = {**scope, "headers": [(name, value.strip(b" \t")) for name, value in scope["headers"]]}
        request = Request(scope, receive)
        try:
            await caller(request)
        except SignoffError as error:
            await self._refusal(error, request)(scope, receive, send)
            return
        except GONE as error:
            away = unavailable(error)
            await self._refusal(away, request)(scope, receive, send)
            return
        if request.method != "POST":
            # There are no sessions: nothing to listen to, and nothing to end.
            await Response(status_code=405, headers={"Allow": "POST"})(scope, receive, send)
            return

        body = await request.body()
        try:
            declared = read(body, request.headers)
        except InputInvalid as error:
            await self._refusal(error, request)(scope, receive, send)
            return
        except EnvelopeInvalid as error:
            await _json(error.error, 400, request_id=error.request_id)(scope, receive, send)
            return

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=message.setdefault("headers", []))
                headers["Cache-Control"] = "no-store"
                refused: SignoffError | None = getattr(request.state, "refusal", None)
                if refused is not None:
                    message["status"] = refused.http_status
                    headers.update(self._headers(refused))
            await send(message)

        manager: StreamableHTTPSessionManager = request.app.state.mcp
        answering = manager.handle_request(scope, told_again(body, receive), answer)
        if declared is None:
            await answering
        else:
            await _unless_left(answering, receive)

    def _refusal(self, error: SignoffError, request: Request) -> Response:
        """What is refused before it was read, as an error to no request in particular."""
        members = members_of(error)
        told = types.ErrorData(code=error.http_status, message=str(members["detail"]), data=members)
        return _json(told, error.http_status, self._headers(error))

    def _headers(self, error: SignoffError) -> dict[str, str]:
        headers = headers_of(error)
        if "WWW-Authenticate" in headers:
            challenge = [f'resource_metadata="{self._metadata_url}"']
            if error.http_status == 401:
                challenge.append(f'scope="{self._first_scopes}"')
            said = headers["WWW-Authenticate"]
            headers["WWW-Authenticate"] = said + (", " if "=" in said else " ") + ", ".join(challenge)
        return headers


def _json(
    error: types.ErrorData,
    status: int,
    headers: Mapping[str, str] | None = None,
    *,
    request_id: str | int | None = None,
) -> Response:
    body = {"jsonrpc": "2.0", "id": request_id, "error": error.model_dump(exclude_none=True)}
    told = {"Cache-Control": "no-store", **(headers or {})}
    return Response(json.dumps(body), status, told, media_type="application/json")


async def _unless_left(answering: Coroutine[Any, Any, None], receive: Receive) -> None:
    """Answer, unless the client leaves: that cancels what it asked for (2026-07-28, Cancellation)."""

    async def left() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    async with asyncio.TaskGroup() as group:
        answer, leaving = group.create_task(answering), group.create_task(left())
        answer.add_done_callback(lambda _: leaving.cancel())
        leaving.add_done_callback(lambda _: answer.cancel())
