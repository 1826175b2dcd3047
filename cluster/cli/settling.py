"""Deciding at gates on a terminal: what is shown has the digest that is sent, and nothing is decided unseen.

`signoff research` and `signoff operations` use it. Where it is about other content by then, that is shown,
and asked about anew.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Generic, Protocol, TypeVar

from rich.console import Console

from cluster.cli.approval_view import show_changes
from cluster.cli.asking import Ask, sure
from cluster.cli.printing import command_line, row
from models.errors import ApprovalConflict, DecisionInvalid, RequestRefused
from models.runtime.approvals import content_digest

SHORT_DIGEST = 12
_A = TypeVar("_A")
_G = TypeVar("_G", bound="WaitingContent")
_A_co = TypeVar("_A_co", covariant=True)


class WaitingContent(Protocol):
    """A gate as a site shows it: what is decided on, whole, and its digest."""

    @property
    def approval_id(self) -> str:
        """Its approval."""

    @property
    def kind(self) -> str:
        """What is decided on there."""

    @property
    def digest(self) -> str:
        """Of the content, as the site says."""

    @property
    def title(self) -> str:
        """How the inbox shows it."""

    @property
    def content(self) -> Mapping[str, Any]:
        """All that is decided on."""

    @property
    def expires_at(self) -> datetime:
        """Until when."""

    @property
    def may_decide(self) -> bool:
        """Whether this person may say yes to it."""

    @property
    def amended_by(self) -> str | None:
        """Who changed what the gate had asked for."""


class WhatCame(Protocol):
    """What a site says came of a decision."""

    @property
    def message(self) -> str:
        """In a sentence."""

    @property
    def digest(self) -> str | None:
        """Of what is shown now, where it takes more people."""


class Talk(Protocol[_A_co]):
    """What a person at the terminal makes of a gate that he was shown."""

    def answer(self) -> _A_co | None:
        """Take line after line until one decides, and is confirmed; None: later."""


class Settling(Generic[_G, _A]):
    """Has a person decide at the gates of one thing.

    Args:
        talk: begins to talk about a gate. show: prints one. send: sends an answer. waiting: the gate that
            waits. again: a command with which what waits then is shown.
    """

    def __init__(
        self,
        console: Console,
        *,
        url: str,
        talk: Callable[[_G], Talk[_A]],
        show: Callable[[_G, Console], None],
        send: Callable[[_A], WhatCame],
        waiting: Callable[[], _G | None],
        again: str,
    ) -> None:
        self._console = console
        self._url = url
        self._talk = talk
        self._show = show
        self._send = send
        self._waiting = waiting
        self._again = again

    def settle(self, gate: _G) -> tuple[str, str] | None:
        """Show a gate, and ask until it is decided: which one was, by approval and digest; None: later.

        Raises:
            ApprovalConflict: what is shown has not the digest that the site says. RequestRefused.
        """
        show_whole(gate, self._console, self._show, url=self._url)
        talk = self._talk(gate)
        while (answer := talk.answer()) is not None:
            try:
                done = self._send(answer)
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
                row(
                    self._console,
                    "",
                    "nothing was decided: this is what it is about now, without your changes",
                )
                gate, talk = now, self._talk(now)
                show_whole(now, self._console, self._show, url=self._url)
                continue
            tell(done, self._console, again=self._again)
            # What he made of it is not asked about again.
            return gate.approval_id, done.digest or gate.digest
        return None


def show_whole(gate: _G, console: Console, show: Callable[[_G, Console], None], *, url: str) -> None:
    """Print a gate. Raises ApprovalConflict: the digest is not of what the site shows."""
    digest = content_digest(dict(gate.content))
    if digest != gate.digest:
        raise ApprovalConflict(
            f"approval {gate.approval_id}: what {url} shows has the digest {digest}, and not "
            f"{gate.digest} as it says: nothing was sent; tell whoever runs it"
        )
    show(gate, console)


def check_digest(digest: str | None) -> None:
    """DecisionInvalid where what is given of a digest names too little."""
    if digest is not None and len(digest) < SHORT_DIGEST:
        raise DecisionInvalid(f"--digest {digest!r} is too short: give {SHORT_DIGEST} characters or more")


def check_named(gate: WaitingContent, digest: str | None, about: str) -> None:
    """ApprovalConflict where a gate is not the one that --digest names."""
    if digest is not None and not gate.digest.startswith(digest):
        raise ApprovalConflict(f"{about}: --digest names other content: see what it is now")


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
    if not sure(ask, question):
        row(console, "", "nothing was decided")
        return False
    return True


def sent(send: Callable[[], _A], console: Console) -> _A:
    """What comes of a decision that is sent; of a refusal, what has changed is printed. RequestRefused."""
    try:
        return send()
    except RequestRefused as error:
        show_what_changed(error, console)
        raise


def tell(done: WhatCame, console: Console, *, again: str) -> None:
    """Print what came of a decision; where another person must take it, too, how he sees it."""
    row(console, "decided", done.message)
    if done.digest is not None:
        row(console, "now", done.digest)
        command_line(console, "show it", again)


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


def _changed_by(gate: WaitingContent) -> str:
    """Who has made of a gate's content what it is, and whom four eyes keep from approving it."""
    parts = [] if gate.amended_by is None else [f"by {gate.amended_by}: this is the changed content"]
    if involved := gate.content.get("involved"):
        people = ", ".join(map(str, involved)) if isinstance(involved, list) else str(involved)
        parts.append(f"involved: {people}; another person must approve it")
    return "; ".join(parts)


def show_what_changed(error: RequestRefused, console: Console) -> None:
    """Print what a refusal says has changed since the approval was asked for."""
    if isinstance(changes := error.facts.get("changes"), Mapping):
        show_changes(changes, console)
