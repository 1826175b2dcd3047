"""Deciding on the command line: show, ask, send exactly the digest of what was shown, say what came of it.

`signoff approve` and `signoff reject` call this. Nothing is decided unseen, and unclear is not yes.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from rich.console import Console
from rich.text import Text

from cluster.cli.approval_view import publication, show, show_changes
from cluster.cli.gated.gate import SHORT_DIGEST, check_digest, check_shown, sent
from cluster.cli.inbox import Inbox, Standing
from cluster.plain_text import one_line
from models.errors import ApprovalConflict, ClusterProblem, DecisionInvalid, RequestRefused
from models.runtime.approvals import ApprovalDetails

_POLL_SECONDS = 0.2


@dataclass(frozen=True)
class GivenDecision:
    """What was asked for. `digest`: decide on nothing else; `yes`: do not ask again."""

    decision: Literal["approve", "reject"]
    notes: str | None = None
    digest: str | None = None
    yes: bool = False


def decide(
    inbox: Inbox,
    approval_id: str,
    wish: GivenDecision,
    *,
    console: Console,
    ask: Callable[[str], bool] | None,
    wait_seconds: float,
) -> bool:
    """Show an approval, decide on it, and print what came of it; False if the person said no.

    Args:
        ask: puts a question to the person; None where there is no terminal.
        wait_seconds: how long to wait for what a runner does next.

    Raises:
        DecisionInvalid: it is not clear what is wanted.
        ApprovalConflict: it is not, or no longer, about what is wanted.
        RequestRefused: the decision was refused. Nothing has changed in all three.
    """
    _check(wish)
    approval = inbox.get(approval_id)
    digest = approval.digest
    check_shown(approval_id, approval.content, digest, url=inbox.url)
    show(approval, console, {} if publication(approval) is not None else inbox.content_schema(approval.kind))
    _check_open(approval, console)
    if wish.digest is not None and not digest.startswith(wish.digest):
        raise ApprovalConflict(
            f"approval {approval_id} is not what --digest names: read above what it is about now"
        )
    if ask is None and not wish.yes and wish.digest is None:
        raise DecisionInvalid(
            "nothing was decided, for there is no terminal to ask on: give --yes, or, to decide on what is "
            f"shown above and nothing else, --digest {digest[:SHORT_DIGEST]}"
        )
    if ask is not None and not wish.yes and not ask(f"{wish.decision} this?"):
        _say(console, "nothing was decided")
        return False
    standing = sent(
        lambda: inbox.decide(approval_id, wish.decision, digest=digest, notes=wish.notes), console
    )
    _say(console, _outcome(inbox, approval, standing, wait_seconds))
    return True


def _check(wish: GivenDecision) -> None:
    if wish.decision == "reject" and not (wish.notes or "").strip():
        raise DecisionInvalid("--reason is empty: say what should be different")
    check_digest(wish.digest)


def _check_open(approval: ApprovalDetails, console: Console) -> None:
    if approval.status == "pending":
        return
    if approval.void_reason is not None:
        show_changes(approval.void_reason, console)
        raise ApprovalConflict(
            f"approval {approval.id} is void: what it was for has changed since it was asked for"
        )
    raise ApprovalConflict(f"approval {approval.id} is already {approval.status}")


def _outcome(inbox: Inbox, approval: ApprovalDetails, standing: Standing, wait_seconds: float) -> str:
    """What came of a decision, in a line."""
    if standing.status == "pending":
        given, missing = len(standing.approved_by), standing.quorum - len(standing.approved_by)
        return f"{given} of {standing.quorum} approvals: it takes {missing} more"
    found = publication(approval)
    if found is None:
        return f"{standing.status}: workflow {approval.workflow_id} goes on"
    article = f"article {found.article.id}"
    try:
        status = _settled(inbox, found.article.id, wait_seconds)
    except (RequestRefused, ClusterProblem) as error:
        return f"{standing.status}; what became of {article} can't be seen: {error}"
    later = "when a runner takes it up: `signoff status` shows whether any run"
    match standing.status, status:
        case "approved", "published":
            return f"published: {article}"
        case "approved", "pending_approval":
            return f"approved; {article} is published {later}"
        case "approved", _:
            return f"approved, but {article} could not be published: it is back with its editor ({status})"
        case _, "pending_approval":
            return f"{standing.status}; {article} goes back to its editor {later}"
        case _, _:
            return f"{standing.status}: {article} is back with its editor"


def _settled(inbox: Inbox, article_id: int, wait_seconds: float) -> str:
    """The article's status once it does not wait any more, or after so many seconds as it is then."""
    deadline = time.monotonic() + wait_seconds
    while (status := inbox.article_status(article_id)) == "pending_approval":
        if time.monotonic() >= deadline:
            break
        time.sleep(_POLL_SECONDS)
    return status


def _say(console: Console, line: str) -> None:
    console.print(Text(one_line(line)), soft_wrap=True)
