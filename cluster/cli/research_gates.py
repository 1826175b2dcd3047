"""Deciding at the gates of a research: show, ask, send exactly the digest of what was shown.

`signoff research` calls this. Nothing is decided unseen, and unclear is not yes. Where it is about other
content by then, that is shown, and asked about anew.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich.console import Console

from cluster.cli.approval_view import show_changes
from cluster.cli.research_changes import (
    all_changed,
    changed,
    checked,
    help_text,
    numbers,
    of_these,
    show_modified,
    unclear,
)
from cluster.cli.research_following import Researches
from cluster.cli.research_gate_view import content_of, show_gate, show_page
from cluster.cli.research_view import command_line, put, row
from models.errors import ApprovalConflict, DecisionInvalid, InputInvalid, RequestRefused
from models.research.agent_workflows import WaitingGate
from models.research.gate_decisions import ApproveRequest, ApproveResponse, Modifications
from models.research.url_lists import UrlList
from models.runtime.approvals import content_digest

# Puts a question to the person: what he types, None where nothing more comes. With True, what was typed
# before it was put is no answer to it.
Ask = Callable[[str, bool], str | None]
_MIN_DIGEST = 12


def asker(*, may_ask: bool) -> Ask | None:
    """Asks on the terminal; None where there is none."""
    if not (may_ask and sys.stdin.isatty() and sys.stdout.isatty()):
        return None
    import readline  # noqa: F401  # input() edits lines with it
    import termios

    def ask(question: str, fresh: bool) -> str | None:
        if fresh:
            termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
        try:
            return input(question)
        except EOFError:
            print()
            return None
        except UnicodeDecodeError:
            return ""

    return ask


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
    if digest is not None and len(digest) < _MIN_DIGEST:
        raise DecisionInvalid(f"--digest {digest!r} is too short: give {_MIN_DIGEST} characters or more")
    gate = researches.status(research_id).approval
    if gate is None:
        raise ApprovalConflict(f"research {research_id} waits for no decision that you may see")
    _show(gate, console, researches)
    # Before anything is changed: numbers of a list that is shown no more would mean others.
    if digest is not None and not gate.digest.startswith(digest):
        raise ApprovalConflict(f"research {research_id}: --digest names other content: see what it is now")
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
    if digest is None and ask is None:
        raise DecisionInvalid(
            "nothing was decided, for there is no terminal to ask on: to decide on what is shown above and "
            f"nothing else, give --digest {gate.digest[:_MIN_DIGEST]}"
        )
    if digest is None and ask is not None and not _sure(ask, f"{answer.decision} this?"):
        row(console, "", "nothing was decided")
        return False
    try:
        done = researches.decide(research_id, answer.model_copy(update={"digest": gate.digest}))
    except RequestRefused as error:
        _show_what_changed(error, console)
        raise
    _tell(done, researches, research_id, console)
    return True


def settle(
    researches: Researches, research_id: int, gate: WaitingGate, console: Console, ask: Ask
) -> WaitingGate | None:
    """Show a gate, and ask until it is decided: the one that was; None if it is left for later."""
    talk = GateTalk(gate, console, ask)
    _show(gate, console, researches)
    while (answer := talk.answer()) is not None:
        try:
            done = researches.decide(research_id, answer)
        except RequestRefused as error:
            row(console, "refused", error)
            _show_what_changed(error, console)
            status = error.facts.get("status")
            if status not in (403, 409, 413, 422):
                raise
            if status != 409:
                continue
            now = researches.status(research_id).approval
            if now is None or not now.may_decide or now.digest == talk.gate.digest:
                return talk.gate
            row(console, "", "nothing was decided: this is what it is about now, without your changes")
            talk = GateTalk(now, console, ask)
            _show(now, console, researches)
            continue
        _tell(done, researches, research_id, console)
        # What he made of it is not asked about again.
        return talk.gate.model_copy(update={"digest": done.digest or talk.gate.digest})
    return None


class GateTalk:
    """A gate, and what a person at the terminal makes of it."""

    def __init__(self, gate: WaitingGate, console: Console, ask: Ask) -> None:
        self.gate = gate
        self._content = content_of(gate)
        self._console = console
        self._ask = ask
        self._fresh = True
        # All states of his changes, the last one last.
        self._changes = [Modifications()]

    def answer(self) -> ApproveRequest | None:
        """Take line after line until one decides, and is confirmed; None: later."""
        row(self._console, "", "approve, reject REASON, later, or a change: help lists them")
        while (line := self._ask("> ", self._fresh)) is not None:
            self._fresh = False
            word, _, rest = line.strip().partition(" ")
            if word == "later" and not rest:
                break
            try:
                if (answer := self._take(word, rest.strip())) is not None:
                    return answer
            except InputInvalid as error:
                row(self._console, "", error)
        row(self._console, "", "nothing was decided")
        return None

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
                if _sure(self._ask, "reject this, for that reason?"):
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
        if _sure(self._ask, "approve this with these changes?" if len(given) > 2 else "approve this?"):
            return checked(ApproveRequest, given)
        row(self._console, "", "nothing was decided")
        return None

    def _show_changes(self) -> None:
        show_modified(self._content, self._changes[-1], self._console)


def _tell(done: ApproveResponse, researches: Researches, research_id: int, console: Console) -> None:
    """Print what came of a decision; where another person must take it, too, how he sees it."""
    row(console, "decided", done.message)
    if done.digest is not None:
        row(console, "now", done.digest)
        command_line(console, "show it", researches.command("show", research_id))


def _sure(ask: Ask, question: str) -> bool:
    """Only a plain yes is one."""
    answer = ask(f"{question} [y/N]: ", True)
    return answer is not None and answer.strip().lower() in ("y", "yes")


def _show(gate: WaitingGate, console: Console, researches: Researches) -> None:
    digest = content_digest(dict(gate.content))
    if digest != gate.digest:
        raise ApprovalConflict(
            f"approval {gate.approval_id}: what {researches.url} shows has the digest {digest}, and not "
            f"{gate.digest} as it says: nothing was sent; tell whoever runs it"
        )
    show_gate(gate, console)


def _show_what_changed(error: RequestRefused, console: Console) -> None:
    if isinstance(changes := error.facts.get("changes"), Mapping):
        show_changes(changes, console)
