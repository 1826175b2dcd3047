"""Configuration of the MCP servers whose tools agents may use.

Part of `models.config`. A server's tool is used only where it is named here: `tools` may be called by an
agent whose plan was approved, `writes` only after a person has seen that very call and said yes.
"""

import hashlib
import json
import re
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import Field, StringConstraints, ValidationInfo, model_validator

from models.config.fields import Count, Positive, ResolvedPath, Secret, Section, Text, Url
from models.config.own_endpoints import sample_here

ServerName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,31}$")]
ToolName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_./-]{1,128}$")]
# A part of a path that may be a key.
_KEY = re.compile(r"(?<=/)(?=[^/]*[0-9])[^/]{20,}")
HeaderName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9-]{1,64}$")]


class HeaderAuth(Section):
    """A header that each request carries, such as `Authorization: Bearer …`: its `name`, and what it says."""

    name: HeaderName = "Authorization"
    value: Secret  # the whole of it, with `Bearer` before a token


class ClientCredentials(Section):
    """OAuth client credentials (RFC 6749 §4.4): a token is asked for, and asked for again when it is over.

    `client_id` and `client_secret` go to `token_url` alone, whatever the server says of where to get tokens.
    """

    token_url: Url
    client_id: Text
    client_secret: Secret
    scopes: tuple[Text, ...] = Field(default=(), strict=False)  # to ask for; none: what the client has
    secret_in: Literal["header", "form"] = "header"  # header: as HTTP Basic; form: beside the scopes
    sends_resource: bool = True  # names `url` (RFC 8707); false where that is refused, as by Entra ID


class HttpServer(Section):
    """A server that is reached by streamable HTTP. Nothing is sent anywhere but to `url` and `token_url`.

    With `sample` it is one of this site's own sample servers: `url` is its address here, and `header` shows
    `serving.api_key`, so that neither is written.
    """

    sample: Literal["mail", "bills", "crm"] | None = None
    url: Url  # absent: that of `sample`
    header: HeaderAuth | None = None
    client_credentials: ClientCredentials | None = None

    @model_validator(mode="before")
    @classmethod
    def _sample_here(cls, said: Any, info: ValidationInfo) -> Any:
        return sample_here(said, info)

    @model_validator(mode="after")
    def _one_way_in(self) -> "HttpServer":
        if self.header is not None and self.client_credentials is not None:
            raise ValueError("give header or client_credentials, and not both")
        return self


class StdioServer(Section):
    """A server that is a program beside the agent: it is started with the words of `command`, and no shell.

    It sees `environment`, a PATH, and nothing else of the site's.
    """

    command: tuple[Text, ...] = Field(strict=False, min_length=1)
    environment: dict[Text, Secret] = Field(default_factory=dict)
    folder: ResolvedPath | None = None  # where it is started; absent: where the agent is


class McpServer(Section):
    """One server: how it is reached, and which of its tools may be used.

    `mock` is a YAML file of answers. They stand in for the server while it is away, and only then; whatever
    rests on them is marked. Without it, work waits for the server.
    """

    title: Text  # how people call it
    http: HttpServer | None = None
    stdio: StdioServer | None = None
    era: Literal["newest", "2026-07-28", "2025-11-25"] = "newest"  # of the protocol; newest: what it speaks
    timeout_seconds: Positive = 30.0  # of each: the handshake, the list of tools, a call
    max_answer_bytes: Count = 1_000_000  # of one answer, such as a page of the list of tools
    tools: tuple[ToolName, ...] = Field(strict=False, min_length=1)  # these may be called
    writes: tuple[ToolName, ...] = Field(default=(), strict=False)  # these after a person's yes to the call
    mock: ResolvedPath | None = None

    @model_validator(mode="after")
    def _reached_one_way(self) -> "McpServer":
        if (self.http is None) == (self.stdio is None):
            raise ValueError("give http or stdio, and not both")
        if both := set(self.tools) & set(self.writes):
            raise ValueError(f"{min(both)} is in tools and in writes: leave it in one of them")
        return self

    @property
    def address(self) -> str:
        """Where it is, as people are shown it: without what may be a secret.

        In the place of that stands a sign (of SHA-256) by which one address is told from another.
        """
        if self.stdio is not None:
            folder = None if self.stdio.folder is None else str(self.stdio.folder)
            return f"{self.stdio.command[0]} {_sign([*self.stdio.command, folder])}"
        assert self.http is not None, "it is reached one way"
        parts = urlsplit(self.http.url)
        shown = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{_KEY.sub('…', parts.path)}"
        return shown if shown == self.http.url else f"{shown} {_sign(self.http.url)}"


def _sign(of: object) -> str:
    return f"({hashlib.sha256(json.dumps(of).encode()).hexdigest()[:8]})"


class McpConfig(Section):
    """The MCP servers that this site uses, by the names that plans call them.

    `samples` is the folder of the data of three sample servers, which `signoff up` then serves at `/samples`
    to whoever has `serving.api_key`. What is written to them is forgotten when they are started anew.
    """

    samples: ResolvedPath | None = None  # absent: none are served
    servers: dict[ServerName, McpServer] = Field(default_factory=dict)  # none: agents have no such tools
