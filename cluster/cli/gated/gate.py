"""Gates as a site shows them: what is printed of any, and what must hold before a decision is sent.

What is shown has the digest that is sent, and nothing is decided unseen.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from rich.console import Console

from cluster.cli.approval_view import show_changes
from cluster.cli.asking import Ask, sure
from cluster.cli.printing import command_line, row
from models.errors import ApprovalConflict, DecisionInvalid, RequestRefused
from models.record import Record
from models.research.agent_workflows import WaitingGate
from models.runtime.approvals import GateShown, content_digest

SHORT_DIGEST = 12
# A gate as a site shows it: what is decided on, whole, and its digest as the site says.
WaitingContent = GateShown | WaitingGate
_A = TypeVar("_A")


class WhatCame(BaseModel):
    """What a site says came of a decision. `digest` is of what is shown now, where it takes more people."""

    message: str
    digest: str | None = None


def content_of(gate: WaitingContent, records: Mapping[str, type[Record]]) -> Record | None:
    """What the gate shows, as a record; None for other kinds and shapes, which are shown as they are."""
    if (record := records.get(gate.kind)) is None:
        return None
    try:
        # Where somebody has changed it under four eyes, it says who is involved.
        return record.model_validate(
            {name: each for name, each in gate.content.items() if name != "involved"}
        )
    except ValidationError:
        return None


def framed(gate: WaitingContent, about: str, console: Console, body: Callable[[], None]) -> None:
    """Print a gate: what is decided on, all that `body` prints of it, who changed it, and its digest."""
    until = f"{gate.expires_at:%Y-%m-%d %H:%M %Z}"
    row(console, "decide on", f"{about}, approval {gate.approval_id}, until {until}")
    row(console, "title", gate.title)
    body()
    if told := _changed_by(gate):
        row(console, "changed", told)
    if not gate.may_decide:
        row(console, "", "approving it is not open to you")
    row(console, "digest", gate.digest)


def check_shown(approval_id: str, content: Mapping[str, Any], digest: str, *, url: str) -> None:
    """ApprovalConflict where the digest is not of what the site shows."""
    if (found := content_digest(dict(content))) != digest:
        raise ApprovalConflict(
            f"approval {approval_id}: what {url} shows has the digest {found}, and not "
            f"{digest} as it says: nothing was sent; tell whoever runs it"
        )


def check_digest(digest: str | None) -> None:
    """DecisionInvalid where what is given of a digest names too little."""
    if digest is not None and len(digest) < SHORT_DIGEST:
        raise DecisionInvalid(f"--digest {digest!r} is too short: give {SHORT_DIGEST} characters or more")


def confirmed(
    gate: WaitingContent, question: str, console: Console, *, digest: str | None, ask: Ask | None
) -> bool:
    """Whether the person means it: he named the digest, or says yes to the question.

    Raises:
        DecisionInvalid: there is nobody to ask.
    """
    if digest is not None:
        return True
    if ask is None:
        raise DecisionInvalid(
            "nothing was decided, for there is no terminal to ask on: to decide on what is shown above and "
            f"nothing else, give --digest {gate.digest[:SHORT_DIGEST]}"
        )
    return meant(ask, question, console)


def meant(ask: Ask, question: str, console: Console) -> bool:
    """Whether the person says yes; that nothing was decided is told where not."""
    if sure(ask, question):
        return True
    row(console, "", "nothing was decided")
    return False


def sent(send: Callable[[], _A], console: Console) -> _A:
    """What comes of a decision that is sent; of a refusal, what has changed is printed. RequestRefused."""
    try:
        return send()
    except RequestRefused as error:
        show_what_changed(error, console)
        raise


def show_what_changed(error: RequestRefused, console: Console) -> None:
    """Print what a refusal says has changed since the approval was asked for."""
    if isinstance(changes := error.facts.get("changes"), Mapping):
        show_changes(changes, console)


def tell(done: WhatCame, console: Console, *, again: str) -> None:
    """Print what came of a decision; where another person must take it, too, how he sees it."""
    row(console, "decided", done.message)
    if done.digest is not None:
        row(console, "now", done.digest)
        command_line(console, "show it", again)


def _changed_by(gate: WaitingContent) -> str:
    """Who has made of a gate's content what it is, and whom four eyes keep from approving it."""
    parts = [] if gate.amended_by is None else [f"by {gate.amended_by}: this is the changed content"]
    if involved := gate.content.get("involved"):
        people = ", ".join(map(str, involved)) if isinstance(involved, list) else str(involved)
        parts.append(f"involved: {people}; another person must approve it")
    return "; ".join(parts)
