"""The `/samples` application: the three sample servers at `/mail/mcp`, `/bills/mcp` and `/crm/mcp`.

Streamable HTTP without sessions, in both eras of the protocol. Nobody comes in without `serving.api_key`.
There is one replica, because what is written is in its memory.
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI, Response
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from actors.platform.logs import LogStyle
from serve.inference.own_address import listen_on_node_only
from serve.inference.shared_key import SharedKey
from serve.monitoring.replica_logs import begin_in_replica
from serve.samples.bills import bills_server
from serve.samples.crm import crm_server
from serve.samples.data import SampleSet
from serve.samples.mail import mail_server

if TYPE_CHECKING:
    from ray.serve import Application

_SERVERS = {"mail": mail_server, "bills": bills_server, "crm": crm_server}
_MOST_BYTES = 128 * 1024
_MOST_REQUESTS = 64


class SampleServers:
    """The Serve ingress."""

    def __init__(self, samples: SampleSet, api_key: str, logs: LogStyle) -> None:
        begin_in_replica(logs, process="samples")
        listen_on_node_only()
        self._app = make_samples_app(samples, api_key)

    def __serve_build_asgi_app__(self) -> FastAPI:
        """Ray Serve asks for the app here, in the replica, so that nothing of it is pickled."""
        return self._app


def build_samples(samples: SampleSet, api_key: str, logs: LogStyle) -> "Application":
    """The Serve application; needs no running cluster."""
    import ray.serve as ray_serve

    deployment = ray_serve.deployment(
        name="Samples",
        num_replicas=1,
        max_ongoing_requests=_MOST_REQUESTS,
        ray_actor_options={"num_cpus": 0.1},
    )(ray_serve.ingress()(SampleServers))
    return deployment.bind(samples=samples, api_key=api_key, logs=logs)


def make_samples_app(samples: SampleSet, api_key: str) -> FastAPI:
    """The servers behind the key, over data of their own; they answer while the app's lifespan lasts."""
    managers = {name: _manager(make(samples)) for name, make in _SERVERS.items()}

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as running:
            for manager in managers.values():
                await running.enter_async_context(manager.run())
            yield

    app = FastAPI(title="Signoff samples", lifespan=lifespan, openapi_url=None)
    for name, manager in managers.items():
        # With and without the slash: a redirect would lose the body of the request.
        for path in (f"/{name}/mcp", f"/{name}/mcp/"):
            app.router.routes.append(Route(path, _SampleDoor(manager), include_in_schema=False))
    app.add_middleware(SharedKey, key=api_key)
    return app


def _manager(server: Any) -> StreamableHTTPSessionManager:
    return StreamableHTTPSessionManager(
        server,
        stateless=True,
        json_response=True,
        # Whatever name this site goes by, it is the key that opens: a page in a browser has none.
        security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        max_request_body_size=_MOST_BYTES,
    )


class _SampleDoor:
    """The ASGI app of one server."""

    def __init__(self, manager: StreamableHTTPSessionManager) -> None:
        self._manager = manager

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if Request(scope).method != "POST":
            # There are no sessions: nothing to listen to, and nothing to end.
            await Response(status_code=405, headers={"Allow": "POST"})(scope, receive, send)
            return

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(raw=message.setdefault("headers", []))["Cache-Control"] = "no-store"
            await send(message)

        await self._manager.handle_request(scope, receive, answer)
