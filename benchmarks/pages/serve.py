"""Serve one set of labelled pages: `python benchmarks/pages/serve.py FOLDER --host H --port P`.

`behaviours.json` of the folder lists routes; of a route, the first variant whose `when` fits the request
answers: with a state, headers, a file, a redirect or a delay. `when` names a header (or several: any of
them) with `absent` or `matches`; `cookie`; `not_cookie`; `query`; `method`; `hits_below`, the number of
earlier requests. A route with `prefix` answers every other path of its folder too.
"""

import argparse
import gzip
import json
import re
import threading
import time
from collections.abc import Mapping
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

_MISSING = (
    b"<!DOCTYPE html><html><head><title>404 Not Found</title></head><body>"
    b"<center><h1>404 Not Found</h1></center><hr><center>nginx</center></body></html>"
)
_GZIP_FROM = 600


class LabelledSite:
    """A folder's routes, and how often each path was asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        routes: list[dict[str, Any]] = json.loads((folder / "behaviours.json").read_text(encoding="utf-8"))
        self._exact = {route["path"]: route for route in routes}
        self._prefixes = sorted(
            (route for route in routes if route.get("prefix")), key=lambda route: -len(route["path"])
        )
        self._hits: dict[str, int] = {}
        self._lock = threading.Lock()

    def route(self, path: str) -> dict[str, Any] | None:
        """Who answers for the path."""
        if path in self._exact:
            return self._exact[path]
        for route in self._prefixes:
            if path.startswith(route["path"].rsplit("/", 1)[0] + "/"):
                return route
        return None

    def hits_before(self, path: str) -> int:
        """How often the path was asked for before; this request counts for the next."""
        with self._lock:
            before = self._hits.get(path, 0)
            self._hits[path] = before + 1
            return before


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "nginx"
    sys_version = ""
    site: LabelledSite

    def log_message(self, format: str, *arguments: Any) -> None:
        """Say nothing."""

    def answer(self) -> None:
        if length := int(self.headers.get("Content-Length") or 0):
            self.rfile.read(length)
        parts = urlsplit(self.path)
        path = unquote(parts.path)
        if path == "/robots.txt":
            return self._send(200, {"Content-Type": "text/plain"}, b"User-agent: *\nDisallow:\n")
        route = self.site.route(path)
        hits = self.site.hits_before(path)
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        for variant in route["variants"] if route else ():
            if not _fits(variant.get("when", {}), self.headers, query, self.command, hits):
                continue
            time.sleep(variant.get("delay_ms", 0) / 1000)
            headers = dict(variant.get("headers", {}))
            status = variant.get("status", 200)
            if "location" in variant:
                headers["Location"] = variant["location"]
                status = variant.get("status", 302)
            body = (self.site.folder / variant["file"]).read_bytes() if "file" in variant else b""
            return self._send(status, headers, body)
        return self._send(404, {"Content-Type": "text/html; charset=utf-8"}, _MISSING)

    do_GET = do_HEAD = do_POST = answer

    def _send(self, status: int, headers: Mapping[str, str | list[str]], body: bytes) -> None:
        headers = dict(headers)
        kind = str(headers.get("Content-Type", ""))
        packed = len(body) >= _GZIP_FROM and "gzip" in self.headers.get("Accept-Encoding", "")
        if packed and kind.startswith(("text/", "application/j", "image/svg")):
            body = gzip.compress(body, 5)
            headers |= {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
        self.send_response(status)
        for name, value in headers.items():
            for one in value if isinstance(value, list) else [value]:
                self.send_header(name, one)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


def _fits(when: dict[str, Any], headers: Message, query: Mapping[str, str], method: str, hits: int) -> bool:
    cookies = [each.strip() for line in headers.get_all("Cookie") or () for each in line.split(";")]
    return (
        ("header" not in when or _header_fits(when, headers))
        and ("cookie" not in when or when["cookie"] in cookies)
        and ("not_cookie" not in when or when["not_cookie"] not in cookies)
        and all(query.get(name) == value for name, value in when.get("query", {}).items())
        and when.get("method", method) == method
        and hits < when.get("hits_below", hits + 1)
    )


def _header_fits(when: dict[str, Any], headers: Message) -> bool:
    names = when["header"] if isinstance(when["header"], list) else [when["header"]]
    values = [value for name in names if (value := headers.get(name)) is not None]
    if when.get("absent"):
        return not values
    return any(re.search(when.get("matches", ""), value, re.IGNORECASE) for value in values)


def main() -> None:
    """Serve until it is killed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8099)
    given = parser.parse_args()
    _Handler.site = LabelledSite(given.folder)
    _Server((given.host, given.port), _Handler).serve_forever()


if __name__ == "__main__":
    main()
