"""The tools that a configured MCP server offers, as the site lets them be used.

A person approves a tool by its digest: where its server declares it otherwise later, that approval is void.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Protocol

from pydantic import Field

from models.record import Record, is_absent

# `answers`: it was asked just now. `away`: it can't be reached, or is too slow. `refuses`: it does not let us
# in. `invalid`: what it declares breaks the protocol. `mock`: another answers in its place, as configured.
ServerState = Literal["answers", "away", "refuses", "invalid", "mock"]


# Where a server is, as people are shown it (`McpServer.address`); None in records from before it was told.
ServerAddress = Annotated[str | None, Field(exclude_if=is_absent)]


class ApprovedTool(Protocol):
    """What a person saw of a tool when he approved it, or a call of it."""

    @property
    def digest(self) -> str:
        """What its server declared."""
        ...

    @property
    def address(self) -> str | None:
        """Where its server was."""
        ...


class ServedTool(Record):
    """A tool that agents may use. `writes` is what the site's configuration says, never a server's hint.

    `digest` is the SHA-256 (hex) of what its server declares: name, description, schemas, annotations.
    `address` is where that server is, by the configuration.
    """

    server: str
    name: str
    description: str
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any] | None = None
    writes: bool = False
    digest: str
    address: ServerAddress = None

    def change_since(self, approved: ApprovedTool) -> str | None:
        """How it is another one than was approved; None where it is that one."""
        if approved.address is not None and approved.address != self.address:
            return f"its server is at {self.address} now, and it was approved at {approved.address}"
        if approved.digest != self.digest:
            return "its server declares it otherwise than when it was approved"
        return None


class WithheldTool(Record):
    """A tool that a server offers, or that the configuration names, and that is not to be had; and why."""

    name: str
    reason: str


class ServerListing(Record):
    """What a server offers now. `reason` says what is wrong where its state is not `answers`."""

    server: str
    state: ServerState
    reason: str | None = None
    protocol: str | None = None
    tools: tuple[ServedTool, ...] = ()
    withheld: tuple[WithheldTool, ...] = ()
