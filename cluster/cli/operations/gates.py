"""Deciding at the gates of an operation: show, ask, send exactly the digest of what was shown.

`signoff operations` calls this. What holds at every gate is in `cluster.cli.settling`.
"""

from collections.abc import Sequence

from rich.console import Console

from cluster.cli.asking import Ask, TypedLines, sure
from cluster.cli.operations.answers import (
    GateReply,
    Wish,
    answers_at,
    check_answer,
    forms_at,
    is_answer,
    meant_by,
    reply_of,
    unclear_here,
    wish_typed,
)
from cluster.cli.operations.following import Operations
from cluster.cli.operations.gate_view import gate_content, show_operation_gate
from cluster.cli.operations.plan_changes import CHANGES, show_edited, with_change, with_changes
from cluster.cli.printing import put, row
from cluster.cli.settling import Settling, check_digest, check_named, confirmed, sent, show_whole, tell
from models.errors import ApprovalConflict, DecisionInvalid
from models.operations.operations import GateShown
from models.operations.plans import PlanShown
from models.operations.revisions import PlanEdit

_NONE = PlanEdit()


def decide_wished(
    operations: Operations,
    operation_id: int,
    wish: Wish,
    console: Console,
    *,
    changes: Sequence[str] = (),
    digest: str | None,
    ask: Ask | None,
) -> bool:
    """Show the gate, ask unless `digest` names it, and decide; False if the person said no.

    `changes` of a plan are in the words of a terminal.

    Raises:
        DecisionInvalid: it is not clear what is wanted. InputInvalid: it means nothing at this gate.
        ApprovalConflict: there is no gate, or another. RequestRefused: it was refused. Nothing has changed.
    """
    check_digest(digest)
    gate = operations.status(operation_id).approval
    if gate is None:
        raise ApprovalConflict(f"operation {operation_id} waits for no decision that you may see")
    # Before a page of what waits: which answers it takes, and then what is missing of this one.
    check_answer(gate, wish.answer)
    _check(wish, changes)
    show_whole(gate, console, show_operation_gate, url=operations.url)
    # Before anything is changed: what is shown no more may have other agents.
    check_named(gate, digest, f"operation {operation_id}")
    edit = None
    if changes:
        shown = gate_content(gate)
        if not isinstance(shown, PlanShown):
            raise DecisionInvalid("--change is for a plan, which is not what waits")
        edit = with_changes(shown.plan, changes)
        show_edited(shown.plan, edit, console)
    reply = reply_of(gate, wish, edit)
    _explain(reply, console)
    if not confirmed(gate, _question(wish, changed=edit is not None), console, digest=digest, ask=ask):
        return False
    done = sent(lambda: operations.decide(operation_id, reply), console)
    tell(done, console, again=operations.command("show", operation_id))
    return True


def operation_settling(
    operations: Operations, operation_id: int, console: Console, ask: Ask
) -> Settling[GateShown, GateReply]:
    """Has a person at the terminal decide at the gates of an operation."""
    return Settling(
        console,
        url=operations.url,
        talk=lambda gate: OperationTalk(gate, console, ask),
        show=show_operation_gate,
        send=lambda reply: operations.decide(operation_id, reply),
        waiting=lambda: operations.status(operation_id).approval,
        again=operations.command("show", operation_id),
    )


class OperationTalk:
    """A gate of an operation, and what a person at the terminal makes of it."""

    def __init__(self, gate: GateShown, console: Console, ask: Ask) -> None:
        self._gate = gate
        self._console = console
        self._ask = ask
        self._lines: TypedLines[GateReply] = TypedLines(console, ask)
        shown = gate_content(gate)
        self._plan = shown.plan if isinstance(shown, PlanShown) else None
        # All states of his changes, the last one last.
        self._changes = [_NONE]

    def answer(self) -> GateReply | None:
        """Take line after line until one decides, and is confirmed; None: later."""
        changes = ", or a change" if self._plan is not None else ""
        hint = f"{', '.join((*answers_at(self._gate), 'later'))}{changes}: help lists them"
        return self._lines.until(self._take, hint)

    def _take(self, word: str, rest: str) -> GateReply | None:
        if not word:
            return None
        if is_answer(self._gate, word):
            return self._decided(word, rest)
        if not rest and word in [form for form in forms_at(self._gate) if form in ("help", "show", "undo")]:
            self._told(word)
            return None
        if self._plan is None or word not in [form.split()[0] for form in CHANGES]:
            raise unclear_here(self._gate, word, rest)
        made = with_change(self._plan, self._changes[-1], word, rest)
        show_edited(self._plan, made, self._console)
        self._changes.append(made)
        return None

    def _told(self, word: str) -> None:
        if word == "help":
            forms = forms_at(self._gate)
            put(self._console, "", "\n".join(f"{form:<23}{does}" for form, does in forms.items()))
            return
        if word == "show":
            show_operation_gate(self._gate, self._console)
        else:
            self._changes = self._changes[:-1] or self._changes
        if self._plan is not None:
            show_edited(self._plan, self._changes[-1], self._console)

    def _decided(self, word: str, rest: str) -> GateReply | None:
        wish = wish_typed(self._gate, word, rest)
        changes = self._changes[-1] if wish.answer == "approve" else _NONE
        reply = reply_of(self._gate, wish, changes)
        if self._plan is not None and changes != _NONE:
            show_edited(self._plan, changes, self._console)
        _explain(reply, self._console)
        if sure(self._ask, _question(wish, changed=changes != _NONE)):
            return reply
        row(self._console, "", "nothing was decided")
        return None


def _check(wish: Wish, changes: Sequence[str]) -> None:
    """DecisionInvalid where what is given beside an answer is missing, or goes with another one."""
    if wish.answer in ("reject", "revise") and not (wish.feedback or "").strip():
        raise DecisionInvalid("--feedback is empty: say what should be different")
    for option, given, answer in (
        ("--agents", wish.again, "revise"),
        ("--given", wish.given, "answer"),
        ("--change", changes, "approve"),
    ):
        if given and wish.answer != answer:
            raise DecisionInvalid(f"{option} goes with {answer}, and with nothing else")


def _explain(reply: GateReply, console: Console) -> None:
    for label, value in meant_by(reply):
        put(console, label, value)


def _question(wish: Wish, *, changed: bool) -> str:
    match wish.answer:
        case "reject":
            return "reject this, for that reason?"
        case "revise":
            return "have that done again, for that reason?"
        case "retry":
            return "have that tried again?"
        case "skip":
            return "go on without it?"
        case "decline":
            return "tell its server that it is given nothing?"
        case "answer":
            return "give that to its server?"
    return f"{wish.answer} this{' with these changes' if changed else ''}?"
