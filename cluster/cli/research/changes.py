"""What a person changes of what a gate of a research shows, in words that are typed: read, made, and printed.

`signoff research follow` takes them line by line, and `decide --change` all at once.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from cluster.cli.gated.gate import WaitingContent
from cluster.cli.gated.kind import AtGate, Wish, words_of
from cluster.cli.printing import put, row
from cluster.cli.records import checked
from cluster.cli.research.gate_view import are_read, show_page
from cluster.cli.research.view import outline
from models.errors import DecisionInvalid, InputInvalid
from models.record import Record
from models.research.candidates import UrlCandidate
from models.research.gate_decisions import ApproveRequest, Modifications
from models.research.results import TreeReview
from models.research.url_lists import UnreadableList, UrlList
from models.text import how_many

_ANSWERS: Mapping[str, str] = {
    "approve": "what is shown, with your changes",
    "reject REASON": "say no: without these pages, or else for good",
}
_LOOK = {"look NUMBER": "all that is known of one"}
# What can be changed of each: how it is written, and what it does.
_FORMS: Mapping[type[Record], Mapping[str, str]] = {
    UrlList: {
        "remove NUMBER ...": "do not read these",
        "add URL ...": "read these, too",
        "set NAME=VALUE ...": "change settings: language, category_id, require_approval, scrape_parallel",
    },
    UnreadableList: {
        "url NUMBER URL": "read this one instead",
        "paste NUMBER FILE": "take the text in this file instead",
        "title NUMBER TITLE": "of a text that you gave so",
    },
    TreeReview: {
        "rename ID NAME": "give it another name",
        "merge ID OTHER ...": "put what is in others into it",
        "move ID UNDER": "put it under another one, or under `top`",
        "drop ID": "take it out, with all below it",
    },
}


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


class AtResearchGate(AtGate):
    """A gate of a research; `content` is what it shows, None where that is of another shape."""

    answers = _ANSWERS
    nothing = Modifications()

    def __init__(self, gate: WaitingContent, content: Record | None) -> None:
        self.digest = gate.digest
        self.content = content
        self.changes = {} if content is None else _FORMS.get(type(content), {})
        self.looks = _LOOK if isinstance(content, UrlList) else {}

    def changed(self, before: Modifications, word: str, rest: str) -> Modifications:
        """The changes with one more."""
        words = rest.split()
        more: dict[str, Any]
        match self.content, word, words:
            case UrlList(), "remove", [_, *_]:
                more = {"remove_urls": tuple(dict.fromkeys((*before.remove_urls, *numbers(words))))}
            case UrlList(), "add", [_, *_]:
                more = {"add_urls": tuple(dict.fromkeys((*before.add_urls, *words)))}
            case UrlList(), "set", [_, *_]:
                more = {"modify_config": {**before.modify_config, **settings(words)}}
            case UnreadableList(), "url", [number, url]:
                more = {"instead": _instead(before, number, {"url": url})}
            case UnreadableList(), "paste", [number, _, *_]:
                text = _text_in(rest.partition(" ")[2].strip())
                more = {"instead": _instead(before, number, {"pasted": {"text": text}})}
            case UnreadableList(), "title", [number, _, *_]:
                more = {"instead": _titled(before, number, rest.partition(" ")[2].strip())}
            case TreeReview(), _, [node, *others] if (edit := _edit(word, node, others, rest)) is not None:
                more = {"tree_edits": (*before.tree_edits, edit)}
            case _:
                raise self.unclear(word, rest)
        return checked(Modifications, {**dict(before), **more})

    def show_changed(self, changes: Modifications, console: Console) -> None:
        """Print what is approved."""
        show_modified(self.content, changes, console)

    def look(self, rest: str, console: Console) -> None:
        """Print all that is known of an address."""
        assert isinstance(self.content, UrlList), "its list is what is looked at"
        for url in of_these(self.content, numbers([rest])):
            show_page(url, console)

    def wish(self, word: str, rest: str) -> Wish:
        """What was typed."""
        if word == "approve" and not rest:
            return Wish(word)
        if word == "reject" and rest:
            return Wish(word, feedback=rest)
        raise self.unclear(word, rest)

    def reply(self, wish: Wish, changes: Modifications) -> ApproveRequest:
        """The decision."""
        given: dict[str, Any] = {"decision": wish.answer, "digest": self.digest}
        if wish.feedback is not None:
            given["notes"] = wish.feedback
        if changes != self.nothing:
            given |= {"decision": "modify", "modifications": changes}
        return checked(ApproveRequest, given)


def given_answer(
    decision: str, notes: str | None, listed: dict[str, Any], lines: Sequence[str], *, follow: str
) -> Callable[[AtResearchGate, Console], ApproveRequest]:
    """What `decide` is given, checked: it makes an answer of what waits, and prints what is changed.

    Args:
        listed: changes of a list of addresses. lines: changes as `follow`, a command, takes them.

    Raises:
        DecisionInvalid: it is not clear what is wanted. InputInvalid.
    """
    given = {"decision": decision, "notes": notes, "modifications": listed if any(listed.values()) else None}
    answer = checked(ApproveRequest, {name: value for name, value in given.items() if value is not None})
    if answer.decision == "reject" and not (answer.notes or "").strip():
        raise DecisionInvalid("--notes is empty: say what should be different")
    if (answer.decision == "modify") != (answer.modifications is not None or bool(lines)):
        raise DecisionInvalid(
            "--remove, --add, --set and --change are what modify takes, and nothing else does; "
            f"`{follow}` asks for one change after the other"
        )

    def made(at: AtResearchGate, console: Console) -> ApproveRequest:
        changes = {"digest": at.digest}
        if answer.decision != "modify":
            return answer.model_copy(update=changes)
        if answer.modifications is not None and not isinstance(at.content, UrlList):
            raise InputInvalid(
                "--remove, --add and --set are for a list of addresses, which is not what waits: "
                f"give --change, or run `{follow}`"
            )
        modified = _all_changed(at, answer.modifications or at.nothing, lines)
        show_modified(at.content, modified, console)
        return answer.model_copy(update={**changes, "modifications": modified})

    return made


def _all_changed(at: AtResearchGate, before: Modifications, lines: Sequence[str]) -> Modifications:
    """The changes with more of them, in their order. Raises InputInvalid: one is none, or can't be made."""
    changes = before
    for line in lines:
        word, _, rest = line.strip().partition(" ")
        if word not in words_of(at.changes):
            forms = "; ".join(at.changes)
            takes = f"here it takes {forms}" if forms else "what is shown here can't be changed"
            raise InputInvalid(f"--change {line!r}: {takes}")
        changes = at.changed(changes, word, rest.strip())
    return changes


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
            gone = of_these(content, changes.remove_urls)
            for url in gone:
                row(console, "without", f"{url.number}: {url.url}")
            for address in changes.add_urls:
                row(console, "and with", address)
            for name, value in changes.modify_config.items():
                row(console, "settings", f"{name} {value}")
            left = {url.url for url in content.urls} - {url.url for url in gone}
            row(console, "pages", are_read(len(left.union(changes.add_urls))))
        case UnreadableList():
            chosen = {one.number for one in changes.instead}
            others = [one for one in content.instead if one.number not in chosen]
            for one in (*others, *changes.instead):
                if one.pasted is None:
                    row(console, "instead", f"of {one.number}: {one.url}")
                    continue
                size = how_many(len(one.pasted.text), "character")
                title = f"titled {one.pasted.title}" if one.pasted.title else "without a title"
                row(console, "instead", f"of {one.number}: {size} of text, {title}")
                put(console, "", one.pasted.text[:300])
        case TreeReview():
            from actors.systems.research.tree.editing import edited

            outline(edited(content.tree, changes.tree_edits).nodes, console, examples=content.examples)
        case _ if changes != Modifications():
            raise InputInvalid("what is shown here can't be changed: approve it, or reject it with a reason")


def of_these(content: UrlList, chosen: Sequence[int]) -> list[UrlCandidate]:
    """The addresses of some numbers. Raises InputInvalid: there is none of one."""
    known = {url.number: url for url in content.urls}
    for number in chosen:
        if number not in known:
            raise InputInvalid(f"{number}: the list has no address of that number")
    return [known[number] for number in dict.fromkeys(chosen)]


def _instead(before: Modifications, number: str, given: dict[str, Any]) -> tuple[Any, ...]:
    [chosen] = numbers([number])
    return (*(one for one in before.instead if one.number != chosen), {"number": chosen, **given})


def _titled(before: Modifications, number: str, title: str) -> tuple[Any, ...]:
    [chosen] = numbers([number])
    given = next((one.pasted for one in before.instead if one.number == chosen), None)
    if given is None:
        raise InputInvalid(f"title: {chosen} has no text of yours: write paste {chosen} FILE first")
    return _instead(before, number, {"pasted": {"text": given.text, "title": title}})


def numbers(words: Sequence[str]) -> tuple[int, ...]:
    """Numbers of a list, as they were typed. Raises InputInvalid: one is none."""
    for word in words:
        if not (word.isascii() and word.isdigit()):
            raise InputInvalid(f"{word!r} is no number of the list, and nothing was decided")
    return tuple(int(word) for word in words)


def _text_in(path: str) -> str:
    try:
        return Path(path).expanduser().read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise InputInvalid(f"{path}: can't be read: {getattr(error, 'strerror', None) or error}") from error
