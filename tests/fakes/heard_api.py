"""A REST API on loopback whose answers a test scripts: it keeps what was asked.

The APIs of research and of operations that the tests of the terminal talk with are made of it.
"""

import json
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, TypeVar
from urllib.parse import parse_qsl, urlsplit

from pydantic import BaseModel, ValidationError

_R = TypeVar("_R", bound=BaseModel)


class Asked(NamedTuple):
    """A request as it came."""

    method: str
    path: str
    query: dict[str, str]
    body: Any


class FileAnswer(NamedTuple):
    """An answer that is a file."""

    media_type: str
    content: bytes


class Problem(Exception):
    """A refusal (RFC 9457)."""

    def __init__(self, status: int, name: str, detail: str, **facts: Any) -> None:
        super().__init__(detail)
        self.members = {
            **facts,
            "type": f"urn:signoff:problem:{name}",
            "title": name,
            "status": status,
            "detail": detail,
        }


Answering = Callable[[Asked], Mapping[str, Any] | FileAnswer]


class HeardApi:
    """The server. `answer` gives the JSON of an answer or a file, or raises a Problem."""

    def __init__(self, answer: Answering) -> None:
        self.asked: list[Asked] = []
        self._answer = answer
        self._heard = threading.Condition()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def start(self) -> None:
        """Answer from now on."""
        self._thread.start()

    def stop(self) -> None:
        """Answer no more."""
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def of(self, method: str, ending: str = "") -> list[Asked]:
        """The requests of that kind."""
        return [one for one in self.asked if one.method == method and one.path.endswith(ending)]

    def until(self, method: str, ending: str, *, more: int, timeout: float = 30) -> None:
        """Wait until so many more requests of that kind have come."""
        wanted = len(self.of(method, ending)) + more
        with self._heard:
            assert self._heard.wait_for(lambda: len(self.of(method, ending)) >= wanted, timeout)

    def answered(self, asked: Asked, token: str) -> tuple[int, str, bytes]:
        """Keep a request; the status, type and bytes of its answer."""
        with self._heard:
            self.asked.append(asked)
            self._heard.notify_all()
        try:
            if not token.startswith("Bearer "):
                raise Problem(401, "Unauthenticated", "send a token")
            told = self._answer(asked)
        except Problem as problem:
            return (
                problem.members["status"],
                "application/problem+json",
                json.dumps(problem.members).encode(),
            )
        if isinstance(told, FileAnswer):
            return 200, told.media_type, told.content
        return 200, "application/json", json.dumps(told).encode()


def read_body(expected: type[_R], body: Any) -> _R:
    """A body as the site reads it. Raises Problem."""
    try:
        return expected.model_validate(body)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in fault["loc"])
        raise Problem(422, "InputInvalid", f"{where}: {fault['msg']}") from error


def _handler(api: HeardApi) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            address = urlsplit(self.path)
            size = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(size)) if size else None
            asked = Asked(self.command, address.path, dict(parse_qsl(address.query)), body)
            status, kind, sent = api.answered(asked, self.headers.get("Authorization", ""))
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        do_POST = do_GET

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler
