"""Deciding at gates on a terminal: show, ask, send exactly the digest of what was shown.

Where it is about other content by then, that is shown, and asked about anew.
"""

from collections.abc import Callable
from typing import Any

from rich.console import Console

from cluster.cli.asking import Ask, TypedLines
from cluster.cli.gated.gate import (
    WaitingContent,
    WhatCame,
    check_digest,
    check_shown,
    confirmed,
    meant,
    sent,
    show_what_changed,
    tell,
)
from cluster.cli.gated.kind import Reply, TerminalKind, words_of
from cluster.cli.gated.work import Work
from cluster.cli.printing import put, row
from models.errors import ApprovalConflict, RequestRefused


class Deciding:
    """Has a person decide at the gates of one thing."""

    def __init__(
        self, kind: TerminalKind[Any], work: Work, number: object, console: Console, ask: Ask | None
    ) -> None:
        self._kind = kind
        self._work = work
        self._number = number
        self._console = console
        self._ask = ask

    def decide(
        self,
        reply_at: Callable[[Any], tuple[Reply, str]],
        *,
        digest: str | None,
        check: Callable[[Any], None] = lambda _: None,
    ) -> bool:
        """Show the gate, ask unless `digest` names it, and decide; False if the person said no.

        Args:
            reply_at: makes what is sent, prints what it changes, and words the question.
            check: looks at what is wanted before anything is shown.

        Raises:
            DecisionInvalid: it is not clear what is wanted. InputInvalid: it means nothing at this gate.
            ApprovalConflict: there is no gate, or another. RequestRefused: it was refused.
            Nothing has changed in all of them.
        """
        check_digest(digest)
        about = f"{self._work.noun} {self._number}"
        if (gate := self._waiting()) is None:
            raise ApprovalConflict(f"{about} waits for no decision that you may see")
        at = self._kind.at_gate(gate)
        check(at)
        self._show(gate)
        # Before anything is changed: numbers and names of what is shown no more would mean others.
        if digest is not None and not gate.digest.startswith(digest):
            raise ApprovalConflict(f"{about}: --digest names other content: see what it is now")
        reply, question = reply_at(at)
        if not confirmed(gate, question, self._console, digest=digest, ask=self._ask):
            return False
        self._tell(sent(lambda: self._send(gate, reply), self._console))
        return True

    def settle(self, gate: WaitingContent) -> tuple[str, str] | None:
        """Show a gate, and ask until it is decided: which one was, by approval and digest; None: later.

        Raises:
            ApprovalConflict: what is shown has not the digest that the site says. RequestRefused.
        """
        self._show(gate)
        talk = self._talk(gate)
        while (answer := talk.answer()) is not None:
            try:
                done = self._send(gate, answer)
            except RequestRefused as error:
                row(self._console, "refused", error)
                show_what_changed(error, self._console)
                status = error.facts.get("status")
                if status not in (403, 409, 413, 422):
                    raise
                if status != 409:
                    continue
                now = self._waiting()
                if now is None or not now.may_decide or now.digest == gate.digest:
                    return gate.approval_id, gate.digest
                told = "nothing was decided: this is what it is about now, without your changes"
                row(self._console, "", told)
                gate, talk = now, self._talk(now)
                self._show(now)
                continue
            self._tell(done)
            # What he made of it is not asked about again.
            return gate.approval_id, done.digest or gate.digest
        return None

    def _waiting(self) -> WaitingContent | None:
        waiting: WaitingContent | None = self._work.get(
            self._kind.record, self._kind.status_path(self._number)
        ).approval
        return waiting

    def _talk(self, gate: WaitingContent) -> "GateTalk":
        assert self._ask is not None, "there is somebody to ask"
        return GateTalk(self._kind, gate, self._console, self._ask)

    def _show(self, gate: WaitingContent) -> None:
        check_shown(gate.approval_id, gate.content, gate.digest, url=self._work.url)
        self._kind.show_gate(gate, self._console)

    def _send(self, gate: WaitingContent, reply: Reply) -> WhatCame:
        unsure = f"whether it was decided, `{self._work.command('show', self._number)}` says"
        path = self._kind.decision_path(gate, self._number, reply)
        return self._work.post(WhatCame, path, reply, unsure=unsure)

    def _tell(self, done: WhatCame) -> None:
        tell(done, self._console, again=self._work.command("show", self._number))


class GateTalk:
    """A gate, and what a person at the terminal makes of it."""

    def __init__(self, kind: TerminalKind[Any], gate: WaitingContent, console: Console, ask: Ask) -> None:
        self._kind = kind
        self._gate = gate
        self._at = kind.at_gate(gate)
        self._console = console
        self._ask = ask
        self._lines: TypedLines[Reply] = TypedLines(console, ask)
        # All states of his changes, the last one last.
        self._changes = [self._at.nothing]

    def answer(self) -> Reply | None:
        """Take line after line until one decides, and is confirmed; None: later."""
        changes = ", or a change" if self._at.changes else ""
        return self._lines.until(
            self._take, f"{', '.join((*self._at.answers, 'later'))}{changes}: help lists them"
        )

    def _take(self, word: str, rest: str) -> Reply | None:
        if not word:
            return None
        if self._at.decides(word):
            return self._decided(word, rest)
        if word in words_of(self._at.changes):
            made = self._at.changed(self._changes[-1], word, rest)
            self._at.show_changed(made, self._console)
            self._changes.append(made)
        elif word in words_of(self._at.looks) and len(rest.split()) == 1:
            self._at.look(rest, self._console)
        elif word in self._at.forms and not rest:
            self._told(word)
        else:
            raise self._at.unclear(word, rest)
        return None

    def _told(self, word: str) -> None:
        if word == "help":
            forms = self._at.forms.items()
            put(self._console, "", "\n".join(f"{form:<23}{does}" for form, does in forms))
            return
        if word == "show":
            self._kind.show_gate(self._gate, self._console)
        else:
            self._changes = self._changes[:-1] or self._changes
        self._at.show_changed(self._changes[-1], self._console)

    def _decided(self, word: str, rest: str) -> Reply | None:
        wish = self._at.wish(word, rest)
        changes = self._changes[-1] if wish.answer == "approve" else self._at.nothing
        reply = self._at.reply(wish, changes)
        changed = changes != self._at.nothing
        if changed:
            self._at.show_changed(changes, self._console)
        self._at.explain(reply, self._console)
        return reply if meant(self._ask, self._at.question(wish, changed=changed), self._console) else None
