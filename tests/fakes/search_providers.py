"""Search engines on loopback in their real formats, and documents to fetch: SearXNG and Google's CSE.

`with SearchServer() as server:` gives `url` for `research.search.searxng.url`, and `google` for that of
`google_cse`. They find `server.found`, refuse what the real ones refuse, and answer what a test `script`s
first. `put` keeps a document at a path. `asked` keeps the requests.
"""

import json
import ssl
import threading
from collections import deque
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

KEY = "AIzaSyDfakefakefakefakefakefakefakefake"
ENGINE = "017576662512468239146:omuauf_lfve"


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


@dataclass(frozen=True)
class Page:
    """A page that is found."""

    title: str
    url: str
    text: str = "What it says."
    published: str | None = None


def json_reply(value: Any, status: int = 200, **headers: str) -> Reply:
    """A JSON answer."""
    return Reply(status, json.dumps(value).encode(), {"Content-Type": "application/json", **headers})


def redirect(to: str, status: int = 302) -> Reply:
    """An answer that leads elsewhere."""
    return Reply(status, b"", {"Location": to})


def google_error(code: int, message: str, reason: str, status: str) -> Reply:
    """A refusal of Google's."""
    errors = [{"message": message, "domain": "global", "reason": reason}]
    return json_reply({"error": {"code": code, "message": message, "errors": errors, "status": status}}, code)


class SearchServer:
    """The server, in threads of its own. `json_format` off: SearXNG as it comes, without JSON."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.asked: list[Asked] = []
        self.found: list[Page] = [
            Page("The ECB holds rates", "https://example.org/ecb", published="2026-10-30")
        ]
        self.json_format = True
        self._tls = tls
        self._script: deque[Reply] = deque()
        self._kept: dict[str, Reply] = {}
        self._ended = threading.Event()

    def __enter__(self) -> Self:
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
        self.port = self._server.server_port
        self.url = f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"
        self.google = f"{self.url}/customsearch/v1"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def script(self, *replies: Reply) -> None:
        """Answer the next requests with these, in order, whatever they ask."""
        self._script.extend(replies)

    def put(self, path: str, body: bytes | Reply, kind: str = "application/pdf") -> str:
        """Keep a document at a path; its URL."""
        self._kept[path] = body if isinstance(body, Reply) else Reply(200, body, {"Content-Type": kind})
        return self.url + path

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

    def _answer(self, asked: Asked) -> Reply:
        if asked.path in self._kept:
            return self._kept[asked.path]
        if asked.path == "/search":
            return self._searxng(asked)
        if asked.path == "/customsearch/v1":
            return self._google(asked.query)
        return Reply(404, b"<html><body><h1>Not Found</h1></body></html>", {"Content-Type": "text/html"})

    def _searxng(self, asked: Asked) -> Reply:
        query = asked.query
        if query.get("format", "html") == "json" and not self.json_format:
            return Reply(403, b"<!doctype html>\n<title>403 Forbidden</title>", {"Content-Type": "text/html"})
        if query.get("format") != "json":
            return Reply(200, b"<!DOCTYPE html><html>...</html>", {"Content-Type": "text/html"})
        if not query.get("q"):
            return json_reply({"error": "No query"}, 400)
        category = query.get("categories", "general")
        results = [
            {
                "url": page.url,
                "title": page.title,
                "content": page.text,
                "publishedDate": page.published,
                "thumbnail": "",
                "engine": "bing news" if category == "news" else "bing",
                "template": "default.html",
                "parsed_url": ["https", "example.org", "/ecb", "", "", ""],
                "img_src": "",
                "priority": "",
                "engines": ["bing"],
                "positions": [place],
                "score": 1 / place,
                "category": category,
            }
            for place, page in enumerate(self.found, 1)
        ]
        return json_reply(
            {
                "query": query["q"],
                "number_of_results": 0,
                "results": results,
                "answers": [],
                "corrections": [],
                "infoboxes": [],
                "suggestions": [],
                "unresponsive_engines": [],
            }
        )

    def _google(self, query: dict[str, str]) -> Reply:
        if query.get("key") != KEY:
            told = "API key not valid. Please pass a valid API key."
            return google_error(400, told, "badRequest", "INVALID_ARGUMENT")
        num, start = int(query.get("num", "10")), int(query.get("start", "1"))
        if query.get("cx") != ENGINE or not 1 <= num <= 10 or start + num > 101:
            told = "Request contains an invalid argument."
            return google_error(400, told, "badRequest", "INVALID_ARGUMENT")
        pages = self.found[start - 1 : start - 1 + num]
        answer: dict[str, Any] = {
            "kind": "customsearch#search",
            "url": {"type": "application/json", "template": "https://www.googleapis.com/customsearch/v1?q="},
            "queries": {"request": [{"searchTerms": query["q"], "count": num, "startIndex": start}]},
            "context": {"title": "An engine"},
            "searchInformation": {"searchTime": 0.2, "totalResults": str(len(self.found))},
        }
        items = [_item(page) for page in pages]
        # Google leaves `items` out where there are none.
        return json_reply(answer | ({"items": items} if items else {}))


def _item(page: Page) -> dict[str, Any]:
    item: dict[str, Any] = {
        "kind": "customsearch#result",
        "title": page.title,
        "htmlTitle": f"<b>{page.title}</b>",
        "link": page.url,
        "displayLink": urlsplit(page.url).hostname,
        "snippet": page.text,
        "htmlSnippet": page.text,
        "formattedUrl": page.url,
    }
    if page.published:
        item["pagemap"] = {"metatags": [{"og:type": "article", "article:published_time": page.published}]}
    return item
