"""What a person changes of what a gate of a research shows, in words that are typed: read, made, and printed.

`signoff research follow` takes them line by line, and `decide --change` all at once.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from cluster.cli.asking import told_of_form
from cluster.cli.printing import put, row
from cluster.cli.records import checked
from cluster.cli.research.gate_view import are_read
from cluster.cli.research.view import outline
from models.errors import InputInvalid
from models.record import Record
from models.research.candidates import UrlCandidate
from models.research.gate_decisions import Modifications
from models.research.results import TreeReview
from models.research.url_lists import UnreadableList, UrlList
from models.text import how_many

# What can be typed at every gate, and at each: how it is written, and what it does.
_ALWAYS: Mapping[str, str] = {
    "approve": "what is shown, with your changes",
    "reject REASON": "say no: without these pages, or else for good",
    "show": "what it is about, with your changes",
    "undo": "take back the last of your changes",
    "later": "decide nothing now",
    "help": "these words",
}
_FORMS: Mapping[type[Record], Mapping[str, str]] = {
    UrlList: {
        "remove NUMBER ...": "do not read these",
        "add URL ...": "read these, too",
        "set NAME=VALUE ...": "change settings: language, category_id, require_approval, scrape_parallel",
        "look NUMBER": "all that is known of one",
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


def changed(content: Record | None, before: Modifications, word: str, rest: str) -> Modifications:
    """The changes with one more, as it was typed. Raises InputInvalid: it is none, or can't be made."""
    words = rest.split()
    more: dict[str, Any]
    match content, word, words:
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
            raise unclear(content, word, rest)
    return checked(Modifications, {**dict(before), **more})


def all_changed(content: Record | None, before: Modifications, lines: Sequence[str]) -> Modifications:
    """The changes with more of them, in their order, as `decide --change` is given them.

    Raises:
        InputInvalid: one is none, or can't be made here.
    """
    changes = before
    for line in lines:
        word, _, rest = line.strip().partition(" ")
        forms = [form for form in _forms(content) if not form.startswith("look")]
        if word not in [form.split()[0] for form in forms]:
            takes = f"here it takes {'; '.join(forms)}" if forms else "what is shown here can't be changed"
            raise InputInvalid(f"--change {line!r}: {takes}")
        changes = changed(content, changes, word, rest.strip())
    return changes


def help_text(content: Record | None) -> str:
    """What can be typed at a gate, and what it does."""
    forms = {**_ALWAYS, **_forms(content)}
    return "\n".join(f"{form:<21}{does}" for form, does in forms.items())


def unclear(content: Record | None, word: str, rest: str) -> InputInvalid:
    """Why what was typed is no answer: it is none here, or something is missing, or is too much."""
    known = {form.split()[0]: form for form in (*_ALWAYS, *_forms(content))}
    if (form := known.get(word)) is None:
        return InputInvalid(f"{word!r} is no answer here, and nothing was decided: help lists them")
    return told_of_form(form, word, rest)


def _forms(content: Record | None) -> Mapping[str, str]:
    """What can be typed of changes where this is shown."""
    return {} if content is None else _FORMS.get(type(content), {})


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
