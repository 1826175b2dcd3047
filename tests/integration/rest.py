"""The app on a real server on loopback, over a test's database, and people's tokens for it."""

import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from typing import Any

import httpx2
import uvicorn

from cluster.cli.tokens import mint_token
from models.config import Config
from serve.admission.sockets import server_options
from serve.api import make_app
from tests.ports import free_port


@contextmanager
def served(config: Config, database_url: str, port: int | None = None, **more: Any) -> Iterator[str]:
    """A replica of the app; its base URL."""
    port = port or free_port()
    app = make_app(config, database_url, **more)
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            host="127.0.0.1",
            port=port,
            log_level="warning",
            timeout_graceful_shutdown=2,
            **server_options(),
        )
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive(), "the server did not start"
            thread.join(0.02)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(20)


def token(config: Config, user: str, *scopes: str) -> str:
    """A token of a person with scopes."""
    return mint_token(config.auth, user=user, scopes=scopes, now=datetime.now(UTC), decides=True)


@asynccontextmanager
async def client(config: Config, base: str, user: str, *scopes: str) -> AsyncIterator[httpx2.AsyncClient]:
    """A client that calls as somebody."""
    headers = {"Authorization": f"Bearer {token(config, user, *scopes)}"}
    async with httpx2.AsyncClient(base_url=base, headers=headers, trust_env=False, timeout=30) as made:
        yield made
