"""One request to an MCP server, and what the wire noticed of it: the SDK tells no status, nor what was sent.

The SDK carries its sender's context to wherever it writes a message, and handles what came in answer in it:
so `CURRENT` is, far below, the exchange that a request, an answer or an elicitation belongs to.
"""

from collections.abc import Callable, Collection, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from actors.sending import Clearance
from models.errors import NotSent, SignoffError

if TYPE_CHECKING:
    from mcp_types import ElicitRequestParams, ElicitResult

# `away`: it can't be reached, or is too slow. `refuses`: it lets us not in. `invalid`: it lies, or babbles.
FaultKind = Literal["away", "refuses", "invalid"]
_CALL = "tools/call"


class Unanswered(Exception):
    """A request had no answer that can be used. `stale`: the connection was over, and another may do."""

    def __init__(self, kind: FaultKind, reason: str, *, stale: bool = False) -> None:
        super().__init__(reason)
        self.kind = kind
        self.reason = reason
        self.stale = stale


@dataclass(eq=False)
class Exchange:
    """What is sent, and what came of it. `writes`: it may never be sent again, not even after a 401.

    `headers` go with the request, over HTTP. `acts`: it calls a tool, so it goes out only while it may.
    `sent`: a part of it may have reached the server; `withheld` is why nothing did. `status` is that of its
    last answer. `elicited` answers what the server asks meanwhile (2025-11-25).
    """

    writes: bool = False
    acts: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)
    elicited: "Callable[[ElicitRequestParams], ElicitResult] | None" = None
    sent: bool = False
    withheld: SignoffError | None = None
    status: int | None = None
    fault: Unanswered | None = None
    gets: int = 0

    def failed(self, kind: FaultKind, reason: str, *, stale: bool = False) -> None:
        """Something went wrong. The first thing that did is told; what is away may still come back."""
        if self.fault is None or (self.fault.kind == "away" and kind != "away"):
            self.fault = Unanswered(kind, reason, stale=stale)

    def check(self, methods: Collection[str]) -> None:
        """See that messages of these methods may be of it. Raises NotSent: one calls a tool."""
        if _CALL in methods and not self.acts:
            raise NotSent("this call of a tool is for no workflow and no person", waits_for="a claim")

    def clearance(self) -> Clearance | None:
        """What to take right before it goes out; None where it calls no tool, and nothing is asked."""
        return Clearance(due=self.writes) if self.acts else None

    def withhold(self, why: SignoffError) -> None:
        """It may not go out any more."""
        self.withheld = None if self.sent else why
        self.failed("away", str(why))

    @property
    def over(self) -> bool:
        """Whether nothing more may be sent for it."""
        return self.fault is not None and self.fault.kind != "away"


CURRENT: ContextVar[Exchange | None] = ContextVar("mcp_exchange", default=None)
