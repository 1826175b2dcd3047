"""Deciding at the gates of a research: show, ask, send exactly the digest of what was shown.

`signoff research` calls this. What holds at every gate is in `cluster.cli.settling`.
"""

from collections.abc import Sequence
from typing import Any

from rich.console import Console

from cluster.cli.asking import Ask, TypedLines, sure
from cluster.cli.printing import put, row
from cluster.cli.records import checked
from cluster.cli.research.changes import (
    all_changed,
    changed,
    help_text,
    numbers,
    of_these,
    show_modified,
    unclear,
)
from cluster.cli.research.following import Researches
from cluster.cli.research.gate_view import content_of, show_gate, show_page
from cluster.cli.settling import Settling, check_digest, check_named, confirmed, sent, show_whole, tell
from models.errors import ApprovalConflict, DecisionInvalid, InputInvalid
from models.research.agent_workflows import WaitingGate
from models.research.gate_decisions import ApproveRequest, Modifications
from models.research.url_lists import UrlList


def decide_given(
    researches: Researches,
    research_id: int,
    answer: ApproveRequest,
    console: Console,
    *,
    more: Sequence[str] = (),
    digest: str | None,
    ask: Ask | None,
) -> bool:
    """Show the gate, ask unless `digest` names it, and decide; False if the person said no.

    `more` are changes in the words of a terminal, beside those of `answer`.

    Raises:
        DecisionInvalid: it is not clear what is wanted. InputInvalid: a change can't be made.
        ApprovalConflict: there is no gate, or another. RequestRefused: it was refused. Nothing has changed.
    """
    if answer.decision == "reject" and not (answer.notes or "").strip():
        raise DecisionInvalid("--notes is empty: say what should be different")
    if (answer.decision == "modify") != (answer.modifications is not None or bool(more)):
        raise DecisionInvalid(
            "--remove, --add, --set and --change are what modify takes, and nothing else does; "
            f"`{researches.command('follow', research_id)}` asks for one change after the other"
        )
    check_digest(digest)
    gate = researches.status(research_id).approval
    if gate is None:
        raise ApprovalConflict(f"research {research_id} waits for no decision that you may see")
    show_whole(gate, console, show_gate, url=researches.url)
    # Before anything is changed: numbers of a list that is shown no more would mean others.
    check_named(gate, digest, f"research {research_id}")
    if answer.decision == "modify":
        content = content_of(gate)
        if answer.modifications is not None and not isinstance(content, UrlList):
            raise InputInvalid(
                "--remove, --add and --set are for a list of addresses, which is not what waits: "
                f"give --change, or run `{researches.command('follow', research_id)}`"
            )
        made = all_changed(content, answer.modifications or Modifications(), more)
        show_modified(content, made, console)
        answer = answer.model_copy(update={"modifications": made})
    if not confirmed(gate, f"{answer.decision} this?", console, digest=digest, ask=ask):
        return False
    exact = answer.model_copy(update={"digest": gate.digest})
    done = sent(lambda: researches.decide(research_id, exact), console)
    tell(done, console, again=researches.command("show", research_id))
    return True


def settling(
    researches: Researches, research_id: int, console: Console, ask: Ask
) -> Settling[WaitingGate, ApproveRequest]:
    """Has a person at the terminal decide at the gates of a research."""
    return Settling(
        console,
        url=researches.url,
        talk=lambda gate: GateTalk(gate, console, ask),
        show=show_gate,
        send=lambda answer: researches.decide(research_id, answer),
        waiting=lambda: researches.status(research_id).approval,
        again=researches.command("show", research_id),
    )


class GateTalk:
    """A gate, and what a person at the terminal makes of it."""

    def __init__(self, gate: WaitingGate, console: Console, ask: Ask) -> None:
        self.gate = gate
        self._content = content_of(gate)
        self._console = console
        self._ask = ask
        self._lines: TypedLines[ApproveRequest] = TypedLines(console, ask)
        # All states of his changes, the last one last.
        self._changes = [Modifications()]

    def answer(self) -> ApproveRequest | None:
        """Take line after line until one decides, and is confirmed; None: later."""
        hint = "approve, reject REASON, later, or a change: help lists them"
        return self._lines.until(self._take, hint)

    def _take(self, word: str, rest: str) -> ApproveRequest | None:
        match word, rest:
            case "", "":
                pass
            case "help", "":
                put(self._console, "", help_text(self._content))
            case "show", "":
                show_gate(self.gate, self._console)
                self._show_changes()
            case "undo", "":
                self._changes = self._changes[:-1] or self._changes
                self._show_changes()
            case "look", _ if isinstance(self._content, UrlList) and len(rest.split()) == 1:
                for url in of_these(self._content, numbers([rest])):
                    show_page(url, self._console)
            case "approve", "":
                return self._approved()
            case "reject", _ if rest:
                if sure(self._ask, "reject this, for that reason?"):
                    return checked(
                        ApproveRequest, {"decision": "reject", "notes": rest, "digest": self.gate.digest}
                    )
                row(self._console, "", "nothing was decided")
            case "approve" | "reject" | "later" | "show" | "undo" | "help" | "look", _:
                raise unclear(self._content, word, rest)
            case _:
                made = changed(self._content, self._changes[-1], word, rest)
                show_modified(self._content, made, self._console)
                self._changes.append(made)
        return None

    def _approved(self) -> ApproveRequest | None:
        changes = self._changes[-1]
        given: dict[str, Any] = {"decision": "approve", "digest": self.gate.digest}
        if changes != Modifications():
            self._show_changes()
            given |= {"decision": "modify", "modifications": changes}
        if sure(self._ask, "approve this with these changes?" if len(given) > 2 else "approve this?"):
            return checked(ApproveRequest, given)
        row(self._console, "", "nothing was decided")
        return None

    def _show_changes(self) -> None:
        show_modified(self._content, self._changes[-1], self._console)
