"""Deciding at the gates of a research: show, ask, send exactly the digest of what was shown.

`signoff research` calls this. Nothing is decided unseen, and unclear is not yes. Where it is about other
content by then, that is shown, and asked about anew.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from rich.console import Console

from cluster.cli.approval_view import show_changes
from cluster.cli.research_following import Researches
from cluster.cli.research_gate_view import content_of, show_gate, show_page
from cluster.cli.research_view import outline, put, row
from models.errors import ApprovalConflict, DecisionInvalid, InputInvalid, RequestRefused
from models.record import Record
from models.research.agent_workflows import WaitingGate
from models.research.gate_decisions import ApproveRequest, Modifications
from models.research.results import TreeReview
from models.research.url_lists import UnreadableList, UrlList
from models.runtime.approvals import content_digest

# Puts a question to the person: what he types, None where nothing more comes. With True, what was typed
# before it was put is no answer to it.
Ask = Callable[[str, bool], str | None]
_R = TypeVar("_R", bound=BaseModel)
_MIN_DIGEST = 12
_ALL = """\
approve              what is shown, with your changes
reject REASON        say no: without these pages, or else for good
show, undo           what it is about, with your changes; take back the last of them
later                decide nothing now"""
_HELP: Mapping[str, str] = {
    "research_urls": "remove NUMBER ...    do not read these\n"
    "add URL ...          read these, too\n"
    "set NAME=VALUE ...   change settings: language, category_id, require_approval, scrape_parallel\n"
    "look NUMBER          all that is known of one",
    "research_unreadable": "url NUMBER URL       read this one instead\n"
    "paste NUMBER FILE    take the text in this file instead",
    "research_tree": "rename ID NAME       give it another name\n"
    "merge ID OTHER ...   put what is in others into it\n"
    "move ID UNDER        put it under another one, or under `top`\n"
    "drop ID              take it out, with all below it",
}


def checked(expected: type[_R], given: Mapping[str, Any]) -> _R:
    """What a person gives. Raises InputInvalid, which names the field."""
    try:
        return expected.model_validate(given)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        raise InputInvalid(f"{'.'.join(str(part) for part in fault['loc'])}: {fault['msg']}") from error


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


def settings(given: Sequence[str]) -> dict[str, Any]:
    """`NAME=VALUE` of each: a number, `true`, `false`, `none`, or else a text. Raises InputInvalid."""
    words: dict[str, Any] = {"true": True, "false": False, "none": None}
    found: dict[str, Any] = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not name or not equals:
            raise InputInvalid(f"{one!r} sets nothing: write NAME=VALUE, such as language=en")
        found[name] = int(value) if value.isascii() and value.isdigit() else words.get(value, value)
    return found


def decide_given(
    researches: Researches,
    research_id: int,
    answer: ApproveRequest,
    console: Console,
    *,
    digest: str | None,
    ask: Ask | None,
) -> bool:
    """Show the gate, ask unless `digest` names it, and decide; False if the person said no.

    Raises:
        DecisionInvalid: it is not clear what is wanted. InputInvalid: a change can't be made.
        ApprovalConflict: there is no gate, or another. RequestRefused: it was refused. Nothing has changed.
    """
    if answer.decision == "reject" and not (answer.notes or "").strip():
        raise DecisionInvalid("--notes is empty: say what should be different")
    if (answer.decision == "modify") != (answer.modifications is not None):
        raise DecisionInvalid("--remove, --add and --set are what modify takes, and nothing else does")
    if digest is not None and len(digest) < _MIN_DIGEST:
        raise DecisionInvalid(f"--digest {digest!r} is too short: give {_MIN_DIGEST} characters or more")
    gate = researches.status(research_id).approval
    if gate is None:
        raise ApprovalConflict(f"research {research_id} waits for no decision that you may see")
    _show(gate, console, researches)
    if answer.modifications is not None:
        show_modified(content_of(gate), answer.modifications, console)
    if digest is not None and not gate.digest.startswith(digest):
        raise ApprovalConflict(f"research {research_id}: --digest names other content: see what it is now")
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
    row(console, "decided", done.message)
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
        row(console, "decided", done.message)
        return talk.gate
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
                put(self._console, "", f"{_ALL}\n{_HELP.get(self.gate.kind, '')}".strip())
            case "show", "":
                show_gate(self.gate, self._console)
                self._show_changes()
            case "undo", "":
                self._changes = self._changes[:-1] or self._changes
                self._show_changes()
            case "look", _ if isinstance(self._content, UrlList):
                [number] = _numbers([rest])
                for url in _of_these(self._content, [number]):
                    show_page(url, self._console)
            case "approve", "":
                return self._approved()
            case "reject", _ if rest:
                if _sure(self._ask, "reject this, for that reason?"):
                    return checked(
                        ApproveRequest, {"decision": "reject", "notes": rest, "digest": self.gate.digest}
                    )
                row(self._console, "", "nothing was decided")
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


def changed(content: Record | None, before: Modifications, word: str, rest: str) -> Modifications:
    """The changes with one more, as it was typed. Raises InputInvalid: it is none, or can't be made."""
    words = rest.split()
    more: dict[str, Any]
    match content, word, words:
        case UrlList(), "remove", [_, *_]:
            more = {"remove_urls": tuple(dict.fromkeys((*before.remove_urls, *_numbers(words))))}
        case UrlList(), "add", [_, *_]:
            more = {"add_urls": tuple(dict.fromkeys((*before.add_urls, *words)))}
        case UrlList(), "set", [_, *_]:
            more = {"modify_config": {**before.modify_config, **settings(words)}}
        case UnreadableList(), "url", [number, url]:
            more = {"instead": _instead(before, number, {"url": url})}
        case UnreadableList(), "paste", [number, _, *_]:
            text = _text_in(rest.partition(" ")[2].strip())
            more = {"instead": _instead(before, number, {"pasted": {"text": text}})}
        case TreeReview(), _, [node, *others] if (edit := _edit(word, node, others, rest)) is not None:
            more = {"tree_edits": (*before.tree_edits, edit)}
        case _:
            raise InputInvalid(f"{word!r} is no answer here, and nothing was decided: help lists them")
    return checked(Modifications, {**dict(before), **more})


def _edit(word: str, node: str, others: list[str], rest: str) -> dict[str, Any] | None:
    """One of `models.research.tree_edits`, with its name: only what is set is sent."""
    match word, others:
        case "rename", [_, *_]:
            return {"edit": word, "node": node, "name": rest.partition(" ")[2].strip()}
        case "merge", [_, *_]:
            return {"edit": word, "into": node, "nodes": others}
        case "move", [under]:
            return {"edit": word, "node": node, "under": None if under == "top" else under}
        case "drop", []:
            return {"edit": word, "node": node}
    return None


def show_modified(content: Record | None, changes: Modifications, console: Console) -> None:
    """Print what is approved in place of what was shown. Raises InputInvalid: a change can't be made."""
    match content:
        case UrlList():
            gone = _of_these(content, changes.remove_urls)
            for url in gone:
                row(console, "without", f"{url.number}: {url.url}")
            for address in changes.add_urls:
                row(console, "and with", address)
            for name, value in changes.modify_config.items():
                row(console, "settings", f"{name} {value}")
            left = len(content.urls) - len(gone) + len(changes.add_urls)
            row(console, "pages", f"{left} are read once this is approved")
        case UnreadableList():
            for one in changes.instead:
                text = "" if one.pasted is None else one.pasted.text
                row(console, "instead", f"of {one.number}: {one.url or f'{len(text)} characters of text'}")
                put(console, "", text[:300])
        case TreeReview():
            from actors.research.tree.editing import edited

            outline(edited(content.tree, changes.tree_edits).nodes, console, examples=content.examples)
        case _ if changes != Modifications():
            raise InputInvalid("what is shown here can't be changed: approve it, or reject it with a reason")


def _of_these(content: UrlList, numbers: Sequence[int]) -> list[Any]:
    known = {url.number: url for url in content.urls}
    for number in numbers:
        if number not in known:
            raise InputInvalid(f"{number}: the list has no address of that number")
    return [known[number] for number in numbers]


def _instead(before: Modifications, number: str, given: dict[str, Any]) -> tuple[Any, ...]:
    [chosen] = _numbers([number])
    return (*(one for one in before.instead if one.number != chosen), {"number": chosen, **given})


def _numbers(words: Sequence[str]) -> tuple[int, ...]:
    for word in words:
        if not (word.isascii() and word.isdigit()):
            raise InputInvalid(f"{word!r} is no number of the list, and nothing was decided")
    return tuple(int(word) for word in words)


def _text_in(path: str) -> str:
    try:
        return Path(path).expanduser().read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise InputInvalid(f"{path}: can't be read: {getattr(error, 'strerror', None) or error}") from error


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
