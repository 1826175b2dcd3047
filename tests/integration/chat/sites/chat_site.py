"""What the tests of the chat door share: events as a client reads them, and a replica that can be killed.

`python -m tests.integration.chat.sites.chat_site CONFIG DATABASE_URL BARRIER` is such a replica: the app with
the scripted assistant, in a process of its own.
"""

import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import uvicorn

from actors.platform.systems import load
from serve.api import make_app
from tests.fakes.assistant import ScriptedAssistant

ROOT = Path(__file__).resolve().parents[4]


async def events_of(response: httpx2.Response) -> AsyncIterator[tuple[str, Any]]:
    """The events of a stream as they come: name and data."""
    async for event in httpx2.EventSource(response, max_event_size=None):
        yield event.event, event.json()


async def told(client: httpx2.AsyncClient, **body: Any) -> list[tuple[str, Any]]:
    """All events of an answer that streams."""
    async with client.stream("POST", "/api/chat", json={**body, "stream": True}) as response:
        return [event async for event in events_of(response)]


@contextmanager
def replica(config: Path, database_url: str, barrier: str) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """A replica in a process of its own, and its base URL."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.integration.chat.sites.chat_site", str(config), database_url, barrier],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        port = process.stdout.readline().strip()
        assert port, f"the replica ended with code {process.wait()}"
        yield process, f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def main() -> None:
    """Serve until killed; the first line on stdout is the port, on which connections are accepted."""
    config, database_url, barrier = sys.argv[1:]
    app = make_app(
        load(Path(config), root=Path(config).parent), database_url, assistant=ScriptedAssistant(barrier)
    )
    listener = socket.create_server(("127.0.0.1", 0))
    sys.stdout.write(f"{listener.getsockname()[1]}\n")
    sys.stdout.flush()
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=2))
    server.run(sockets=[listener])


if __name__ == "__main__":
    main()
