"""An HTTP server on loopback that keeps what it was asked, and answers what a test scripts before all else.

The fakes of search engines and of market data are made of it; each brings its own answers.
"""

import json
import ssl
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit


@dataclass(frozen=True)
class Asked:
    """A request: its path, its query, and its headers with names in small letters."""

    path: str
    query: dict[str, str]
    headers: dict[str, str]


@dataclass(frozen=True)
class Reply:
    """An answer. `hold` keeps it back until the server ends; `endless` repeats its body for ever."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    hold: bool = False
    endless: bool = False


def json_reply(value: Any, status: int = 200, **headers: str) -> Reply:
    """A JSON answer."""
    return Reply(status, json.dumps(value).encode(), {"Content-Type": "application/json", **headers})


class ScriptedHttp:
    """The server, in threads of its own. `answer` is asked where nothing is scripted."""

    def __init__(self, answer: Callable[[Asked], Reply], tls: ssl.SSLContext | None = None) -> None:
        self.asked: list[Asked] = []
        self._answer = answer
        self._tls = tls
        self._script: deque[Reply] = deque()
        self._ended = threading.Event()

    def start(self) -> int:
        """Begin to serve; the port."""
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                outer._serve(self)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        if self._tls is not None:
            self._server.socket = self._tls.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return int(self._server.server_port)

    def stop(self) -> None:
        """End it, and whatever it held back."""
        self._ended.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def script(self, *replies: Reply) -> None:
        """Answer the next requests with these, in order, whatever they ask."""
        self._script.extend(replies)

    def _serve(self, handler: BaseHTTPRequestHandler) -> None:
        parts = urlsplit(handler.path)
        query = {name: values[-1] for name, values in parse_qs(parts.query, keep_blank_values=True).items()}
        headers = {name.lower(): value for name, value in handler.headers.items()}
        self.asked.append(Asked(parts.path, query, headers))
        reply = self._script.popleft() if self._script else self._answer(self.asked[-1])
        if reply.hold:
            self._ended.wait(60)
        try:
            handler.send_response(reply.status)
            for name, value in reply.headers.items():
                handler.send_header(name, value)
            if reply.endless:
                handler.send_header("Connection", "close")
                handler.end_headers()
                while not self._ended.is_set():
                    handler.wfile.write(reply.body)
            handler.send_header("Content-Length", str(len(reply.body)))
            handler.end_headers()
            handler.wfile.write(reply.body)
        except OSError:
            handler.close_connection = True
