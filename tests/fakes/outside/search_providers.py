"""Search engines on loopback in their real formats, and documents to fetch: SearXNG and Google's CSE.

`with SearchServer() as server:` gives `url` for `outside.search.searxng.url`, and `google` for that of
`google_cse`. They find `server.found`, refuse what the real ones refuse, and answer what a test `script`s
first. `put` keeps a document at a path. `asked` keeps the requests.
"""

import ssl
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import urlsplit

from tests.fakes.model.scripted_http import Asked, Reply, ScriptedHttp, json_reply

KEY = "AIzaSyDfakefakefakefakefakefakefakefake"
ENGINE = "017576662512468239146:omuauf_lfve"


@dataclass(frozen=True)
class Page:
    """A page that is found."""

    title: str
    url: str
    text: str = "What it says."
    published: str | None = None


def redirect(to: str, status: int = 302) -> Reply:
    """An answer that leads elsewhere."""
    return Reply(status, b"", {"Location": to})


def google_error(code: int, message: str, reason: str, status: str) -> Reply:
    """A refusal of Google's."""
    errors = [{"message": message, "domain": "global", "reason": reason}]
    return json_reply({"error": {"code": code, "message": message, "errors": errors, "status": status}}, code)


class SearchServer:
    """The server, in threads of its own. `json_format` off: SearXNG as it comes, without JSON.

    A page of SearXNG has `page_size` hits. Date ranges filter nothing: a test says what is found.
    """

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.found: list[Page] = [
            Page("The ECB holds rates", "https://example.org/ecb", published="2026-10-30")
        ]
        self.json_format = True
        self.page_size = 10
        self._scheme = "https" if tls else "http"
        self._kept: dict[str, Reply] = {}
        self._http = ScriptedHttp(self._answer, tls)
        self.asked, self.script = self._http.asked, self._http.script

    def __enter__(self) -> Self:
        self.port = self._http.start()
        self.url = f"{self._scheme}://127.0.0.1:{self.port}"
        self.google = f"{self.url}/customsearch/v1"
        return self

    def __exit__(self, *_: object) -> None:
        self._http.stop()

    def put(self, path: str, body: bytes | Reply, kind: str = "application/pdf") -> str:
        """Keep a document at a path; its URL."""
        self._kept[path] = body if isinstance(body, Reply) else Reply(200, body, {"Content-Type": kind})
        return self.url + path

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
        # As `searx/webadapter.py` has it: `week` too.
        if query.get("time_range", "day") not in ("day", "week", "month", "year"):
            return json_reply({"error": 'Invalid value for parameter "time_range"'}, 400)
        page_number = query.get("pageno", "1")
        if not page_number.isdigit() or int(page_number) < 1:
            return json_reply({"error": 'Invalid value for parameter "pageno"'}, 400)
        first = (int(page_number) - 1) * self.page_size
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
            for place, page in enumerate(self.found[first : first + self.page_size], 1)
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
