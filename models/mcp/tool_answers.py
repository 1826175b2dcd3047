"""A call of an MCP server's tool, and what came of it. All that a server says is text from outside."""

from collections.abc import Mapping
from typing import Any, Literal

from models.mcp.served_tools import ServerAddress
from models.record import Record


class ServedToolCall(Record):
    """A call that is to be made. `digest` and `address` are the approved tool's: no other one is called."""

    server: str
    tool: str
    digest: str
    address: ServerAddress = None
    arguments: Mapping[str, Any]


class ServerQuestion(Record):
    """What a server asks of a person before it answers: `input_required`, or an elicitation.

    `requested` is the JSON schema of what is to be given; `url` stands where it asks him to open a page
    instead, which nothing here ever opens. `key` and `state` come back with his answer, as they are: where
    one question follows another, they hold what was answered before.

    A server of 2025-11-25 can't wait for a person: it is told `cancel`, and asked anew once he has answered.
    `said` is what the tool made of that, for him to see: one that writes may have done something already.
    """

    server: str
    tool: str
    key: str
    message: str
    requested: Mapping[str, Any] | None = None
    url: str | None = None
    state: str | None = None
    said: str | None = None


class GivenToServer(Record):
    """What a person answered to a server's question: MCP's three actions, and with `accept` the content."""

    key: str
    action: Literal["accept", "decline", "cancel"]
    content: Mapping[str, Any] | None = None
    state: str | None = None


class ToolAnswer(Record):
    """What a call came to.

    `answered`: `structured` keeps to the tool's schema where it has one; `text` is what else was said.
    `failed`: the tool or its server says that it could not, in `text`. `asks`: `question` is for a person.
    `mock` is true of an answer that did not come from the server. `lengths` are those of the texts
    that `text` is made of, with a line break between each; none: it is one.
    """

    server: str
    tool: str
    status: Literal["answered", "failed", "asks"]
    text: str = ""
    lengths: tuple[int, ...] = ()
    structured: Any = None
    question: ServerQuestion | None = None
    seconds: float
    mock: bool = False
