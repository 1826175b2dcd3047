"""A call of a tool that waits for a person's yes: what is shown, and what the call came to."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from models.record import Record
from models.runtime.gated_kinds import Shown
from models.tools import Door

KIND = "tool_call"
CallDecision = Literal["approved", "rejected", "expired", "void"]


class CallShown(Record):
    """Exactly the call that is made once it is approved."""

    tool: Annotated[str, Shown("first")]
    description: str
    arguments: Mapping[str, Any]
    topic: str | None
    requested_by: str


class CallAsked(Record):
    """What the workflow is given: the call, and the door that it came by."""

    call: CallShown
    door: Door


class CallResult(Record):
    """What became of the call; `answer` is the tool's, where it was made."""

    decision: CallDecision
    answer: Mapping[str, Any] | None = None
