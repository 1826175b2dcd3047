"""The MCP servers that the operations of a campaign read: mail, bills and accounts, and who asked for what.

Each finds things for whatever it is asked that has the code of an operation; so each call tells whose it is.
The CRM takes notes, too, and whoever has the bills asks a person for a code before it looks for some numbers.
A fault lets one refuse, hang up, hang or be slow.
"""

import contextlib
import json
import re
import socket
import struct
import sys
import threading
import time
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any, Literal

from tests.fakes.mcp_servers import FRESH, BadRequest, HttpSite, tool
from tests.fakes.model.model_script import Rule

# What `holds` holds its answer to a call back, and lists its tools meanwhile; or to what is written alone.
BookMood = Literal["refuses", "hangs up", "hangs", "slow", "holds", "holds writes"]
# Which agent reads which of them.
BOOKS = {"gmail": "mail", "accounts_payable": "bills", "crm": "crm"}
SEARCH, NOTE = "search", "note"
# Which of them can be written to.
WRITTEN = "crm"
# Which of them asks something, at what it is asked that ends like this; and how it knows its question again.
ASKS, ASKED_AT, QUESTION = "bills", "0", "code"
_CODE = re.compile(r"q[a-j]+x[a-j]+z")
_SEARCH = tool(
    SEARCH,
    inputSchema={"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
)
_NOTE = tool(
    NOTE,
    inputSchema={
        "type": "object",
        "properties": {"account": {"type": "string"}, "text": {"type": "string"}},
        "required": ["account", "text"],
    },
)
# Linux' `struct tcp_info` up to `tcpi_last_data_recv`.
_TCP_INFO = struct.Struct("8x44xI")
_FORM = {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]}
_ASKED = {
    QUESTION: {
        "method": "elicitation/create",
        "params": {"mode": "form", "message": "Which code opens the bills?", "requestedSchema": _FORM},
    }
}
_SECONDS, _SLOW_SECONDS = 0.05, 0.8
_PLAN = {
    "description": "All three systems are read, and what they say is compared.",
    "steps": [
        {"agent": "gmail", "why": "Mail tells what was asked for."},
        {"agent": "accounts_payable", "why": "Bills tell what is owed."},
        {"agent": "crm", "why": "Accounts tell who it is."},
        {"agent": "analysis", "why": "What they found is compared."},
    ],
    "complexity": "low",
}
# What the model plans. It outlives the model's outages, and gives way to them.
PLANS = Rule(
    kind="PlanReply", contains="a company's payments is answered", reply=json.dumps(_PLAN), standing=True
)


def came_at(connection: socket.socket) -> float:
    """When the kernel had the last that came by it, to a tick: however late a busy thread gets to it."""
    information = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO.size)
    milliseconds_ago = _TCP_INFO.unpack(information)[-1]
    return time.time() - milliseconds_ago / 1000


def code_of(run: int, number: int) -> str:
    """A word that stands in all that an operation asks for and is told, and in nothing of another one."""
    letters = str.maketrans("0123456789", "abcdefghij")
    return f"q{run}x{number}z".translate(letters)


def code_in(text: str) -> str:
    """The code that stands in a text; empty where there is none."""
    found = _CODE.search(text.casefold())
    return "" if found is None else found.group()


@dataclass(frozen=True)
class BookCall:
    """A tool call, and when the kernel had all of it (`at`, in seconds of `time.time()`).

    `answered`: it was answered well, or was to be. `query` is all that it asks for. One of `NOTE` has written
    by then, whatever became of its answer. `given` is what came with it as a person's answer to the server's
    question: what he did, and what he gave.
    """

    book: str
    code: str
    query: str
    at: float
    answered: bool
    tool: str = SEARCH
    arguments: Mapping[str, Any] = field(default_factory=dict)
    given: tuple[str, Mapping[str, Any] | None] | None = None


class BookServer(HttpSite):
    """One of them, speaking MCP over HTTP, in threads. Use as a context manager."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.entries: list[BookCall] = []
        self.hindered = 0
        self._mood: BookMood | None = None
        self._better = threading.Event()
        self._server.handle_error = _told_of  # type: ignore[method-assign]

    def __exit__(self, *_: object) -> None:
        self._better.set()
        super().__exit__()

    @contextlib.contextmanager
    def being(self, mood: BookMood) -> Iterator[None]:
        """Be like that, for as long as the block."""
        self._better.clear()
        self._mood = mood
        try:
            yield
        finally:
            self._mood = None
            self._better.set()

    def answer(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        """As it is now, or well."""
        if handler.command != "POST":
            return super().answer(handler, body)
        try:
            request, mood = BadRequest(handler, json.loads(body)), self._mood
        except ValueError:
            return None  # whoever asked was killed at it
        self.hindered += mood is not None
        if request.method == "tools/call":
            at = came_at(handler.connection)
            self._enter(request, mood, at)
        with contextlib.suppress(OSError):  # whoever asked is gone
            self._answer(request, mood)
        return None

    def _enter(self, request: BadRequest, mood: BookMood | None, at: float) -> None:
        name, given = request.params["name"], request.params["arguments"]
        if name == NOTE and mood == "refuses":
            return  # nothing is written
        query = str(given["query"]) if name == SEARCH else json.dumps(given)
        well = mood in (None, "slow", "holds", "holds writes") and not self._asks(request)
        said = _said(request)
        self.entries.append(BookCall(self.name, code_in(query), query, at, well, name, given, said))

    def _asks(self, request: BadRequest) -> bool:
        """Whether it asks a person before it answers a call."""
        query = str(request.params["arguments"].get("query", ""))
        return self.name == ASKS and query.endswith(ASKED_AT) and _said(request) is None

    def _answer(self, request: BadRequest, mood: BookMood | None) -> None:
        if mood == "refuses":
            return request.body(b"away", status=503)
        if mood in ("hangs", "hangs up"):
            if mood == "hangs":
                self._better.wait()
            return request.nothing()
        if "id" not in request.message:
            return request.body(b"", status=202)
        match request.method:
            case "server/discover":
                request.result(supportedVersions=["2026-07-28"], capabilities={"tools": {}}, **FRESH)
            case "tools/list":
                request.result(tools=[_SEARCH, _NOTE] if self.name == WRITTEN else [_SEARCH], **FRESH)
            case "tools/call":
                if mood == "holds" or (mood == "holds writes" and request.params["name"] == NOTE):
                    self._better.wait()
                time.sleep(_SLOW_SECONDS if mood == "slow" else _SECONDS)
                if self._asks(request):
                    return request.result(
                        resultType="input_required", inputRequests=_ASKED, requestState="asked"
                    )
                if request.params["name"] == NOTE:
                    return request.result(content=[{"type": "text", "text": "noted"}])
                found = {"items": list(things(self.name, str(request.params["arguments"]["query"])))}
                text = [{"type": "text", "text": json.dumps(found)}]
                request.result(content=text, structuredContent=found)
            case _:
                request.error(-32601, "no such method", status=404)
        return None


def _said(request: BadRequest) -> tuple[str, Mapping[str, Any] | None] | None:
    """What a person has answered to the server's question, as it came with a call."""
    answer = (request.params.get("inputResponses") or {}).get(QUESTION)
    return None if answer is None else (answer["action"], answer.get("content"))


def _told_of(request: object, address: object) -> None:
    """Who asked is gone: that is no news here."""
    error = sys.exc_info()[1]
    if not isinstance(error, ConnectionError):
        traceback.print_exc()


def things(book: str, query: str) -> Iterator[Mapping[str, Any]]:
    """What it has for a query: the same, whenever it is asked. Nothing where it has no operation's code."""
    if not (code := code_in(query)):
        return
    partner = f"{code.capitalize()} Millworks"
    number = query if any(letter.isdigit() for letter in query) else f"{code}-1"
    match book:
        case "mail":
            yield {
                "id": f"m-{number}",
                "from": f"billing@{code}.example",
                "subject": f"Invoice {number} is overdue",
                "body": f"Dear all, our invoice {number} over $4,310.00 has not been paid yet. {partner} Inc",
            }
        case "bills":
            yield {
                "id": f"b-{number}",
                "vendor": f"{partner} Inc",
                "number": number,
                "amount": "4310.00",
                "status": "paid",
                "due_date": "2026-06-30",
            }
        case _:
            yield {
                "id": f"a-{code}",
                "name": partner,
                "email": f"billing@{code}.example",
                "note": f"They say that {number} is still open.",
            }
