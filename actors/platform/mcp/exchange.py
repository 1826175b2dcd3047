"""One request to an MCP server, and what the wire noticed of it: the SDK tells no status, nor what was sent.

The SDK carries its sender's context to wherever it writes a message, and handles what came in answer in it:
so `CURRENT` is, far below, the exchange that a request, an answer or an elicitation belongs to. What a person
gave to a server goes out as a part of the call that it is for: only while that may.
"""

from collections.abc import Callable, Collection, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from actors.platform.sending import Clearance, Sender, sender
from models.errors import NotSent, SignoffError

if TYPE_CHECKING:
    from mcp_types import ElicitRequestParams, ElicitResult

# `away`: it can't be reached, or is too slow. `refuses`: it lets us not in. `invalid`: it lies, or babbles.
FaultKind = Literal["away", "refuses", "invalid"]
_CALL = "tools/call"
_PUT_OFF = "cancel"


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

    `headers` go with the request, over HTTP. `acts`: it calls a tool, so it goes out only while it may, for
    its `sender`. `sent`: a part of it may have reached the server; `withheld` is why nothing did. `status` is
    that of its last answer; `turned_away`: that was its only one, and says that it was not let in. `elicited`
    answers what the server asks meanwhile (2025-11-25); `untold` is why what a person gave was not told.
    """

    writes: bool = False
    acts: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)
    elicited: "Callable[[ElicitRequestParams], ElicitResult] | None" = None
    sender: Sender = field(default_factory=sender)
    sent: bool = False
    withheld: SignoffError | None = None
    untold: SignoffError | None = None
    status: int | None = None
    turned_away: bool = False
    fault: Unanswered | None = None
    gets: int = 0

    def failed(self, kind: FaultKind, reason: str, *, stale: bool = False) -> None:
        """Something went wrong. The first thing that did is told; what is away may still come back."""
        if self.fault is None or (self.fault.kind == "away" and kind != "away"):
            self.fault = Unanswered(kind, reason, stale=stale)

    def begun(self, status: int) -> None:
        """The server has begun to answer the request itself: that alone may say that it was not let in."""
        self.turned_away = self.status is None and status in (401, 403)
        self.status = status

    def check(self, messages: Collection[Mapping[str, Any]]) -> None:
        """See that these may be of it. Raises NotSent: one calls a tool, or tells what a person gave."""
        if not self.acts and any(one.get("method") == _CALL or gives(one) for one in messages):
            raise NotSent("this call of a tool is for no workflow and no person", waits_for="a claim")

    def clearance(self, messages: Collection[Mapping[str, Any]] = ()) -> Clearance | None:
        """What to take right before these go out; None where it calls no tool, or they tell nothing."""
        if not self.acts or (messages and not any("method" in one or gives(one) for one in messages)):
            return None
        return Clearance(due=self.writes, sender=self.sender)

    def withhold(self, why: SignoffError, *, given: bool = False) -> None:
        """It may not go out any more; `given`: what a person gave to it may not, and is put off."""
        if given:
            self.untold = why
        else:
            self.withheld = None if self.sent else why
        self.failed("away", str(why))

    @property
    def over(self) -> bool:
        """Whether nothing more may be sent for it."""
        return self.fault is not None and self.fault.kind != "away"


def gives(message: Mapping[str, Any]) -> bool:
    """Whether it tells a server what a person gave: yes or no. Nothing that is put off does."""
    result = message.get("result")
    return isinstance(result, Mapping) and result.get("action", _PUT_OFF) != _PUT_OFF


def put_off(message: Mapping[str, Any]) -> dict[str, Any]:
    """What is told in place of what a person gave."""
    return {"jsonrpc": "2.0", "id": message["id"], "result": {"action": _PUT_OFF}}


CURRENT: ContextVar[Exchange | None] = ContextVar("mcp_exchange", default=None)
