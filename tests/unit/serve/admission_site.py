"""An app behind a server of ours, by itself, on loopback."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from serve.admission.sockets import server_options


class AdmissionSite:
    """One app's server; nobody but the server's protocols stands before it."""

    def __init__(self, app: Any) -> None:
        self.config = uvicorn.Config(
            app, host="127.0.0.1", port=0, lifespan="off", log_level="error", **server_options()
        )
        self.server = uvicorn.Server(self.config)

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.server.servers[0].sockets[0].getsockname()[1])

    @contextmanager
    def running(self) -> Iterator[None]:
        """Until the block ends."""
        thread = threading.Thread(target=self.server.run, daemon=True)
        thread.start()
        while not self.server.started:
            assert thread.is_alive()
            thread.join(0.02)
        try:
            yield
        finally:
            self.server.should_exit = True
            thread.join(20)
