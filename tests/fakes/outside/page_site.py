"""A web site on a loopback address: pages as they are told, and a log of who asked when."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Answer:
    """An answer; without a length where `broken`, and cut off."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"content-type": "text/html; charset=utf-8"})
    seconds: float = 0.0
    broken: bool = False


@dataclass(frozen=True)
class Hit:
    """A request as it came in; `at` by the monotonic clock."""

    at: float
    path: str
    headers: Mapping[str, str]


Page = Answer | list[Answer] | Callable[[Hit], Answer]


class PageSite(ThreadingHTTPServer):
    """Answers `pages` by path; of a list one after the other, the last again and again. All else is 404."""

    daemon_threads = True
    request_queue_size = 512

    def __init__(self, pages: Mapping[str, Page], *, address: str = "127.0.0.1", port: int = 0) -> None:
        super().__init__((address, port), _Handler)
        self.pages = dict(pages)
        self.hits: list[Hit] = []
        self.lock = threading.Lock()

    @property
    def origin(self) -> str:
        """`http://127.0.0.1:PORT`."""
        return f"http://{self.server_address[0]}:{self.server_address[1]}"

    def asked(self, path: str) -> int:
        """How often a path was asked for."""
        return sum(hit.path == path for hit in self.hits)

    def answer(self, hit: Hit) -> Answer:
        """The answer to a request."""
        page = self.pages.get(hit.path, Answer(b"<h1>404</h1>", status=404))
        if callable(page):
            return page(hit)
        if isinstance(page, list):
            with self.lock:
                return page.pop(0) if len(page) > 1 else page[0]
        return page


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: PageSite

    def do_GET(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        hit = Hit(at=time.monotonic(), path=self.path, headers=headers)
        self.server.hits.append(hit)
        answer = self.server.answer(hit)
        if answer.seconds:
            time.sleep(answer.seconds)
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value.encode().decode("latin-1"))  # UTF-8, as servers do
        self.send_header("content-length", str(len(answer.body) + 10 * answer.broken))
        self.end_headers()
        with suppress(ConnectionError):  # whoever asked may have had enough
            self.wfile.write(answer.body)
        self.close_connection = answer.broken

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


@contextmanager
def serving(pages: Mapping[str, Page], *, address: str = "127.0.0.1", port: int = 0) -> Iterator[PageSite]:
    """The site, as long as the block."""
    site = PageSite(pages, address=address, port=port)
    thread = threading.Thread(target=site.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        site.shutdown()
        site.server_close()
        thread.join()


def article(title: str, text: str, *, head: str = "", links: str = "") -> Answer:
    """A page with an article in it."""
    html = (
        f"<!doctype html><html lang=en><head><meta charset=utf-8><title>{title}</title>{head}</head><body>"
        f"<nav><a href=/>Home</a></nav><main><article><h1>{title}</h1><p>{text}</p>{links}</article></main>"
        "<footer>Imprint</footer></body></html>"
    )
    return Answer(html.encode())
