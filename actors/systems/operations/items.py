"""The things in a tool's answer: each object of its lists, or the whole object. Pure.

Servers are not known beforehand, so an answer's form is all there is to go by. What an answer says is kept as
it was given, cut to a bound, and followed by nobody.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

from models.json_once import DECODER
from models.mcp.tool_answers import ToolAnswer
from models.operations.items import SourceAgent, SourceItem
from models.text import cut, storable

_LONGEST_TEXT = 20_000
_DEEPEST = 6
_MOST_FIELDS = 200
_BLANKS = re.compile(r"[ \t\r\n]*")
# What an object may be wrapped in: {"result": {…}}.
_ENVELOPES = ("result", "data", "response")


def items_of(answer: ToolAnswer, *, agent: SourceAgent, call: int) -> Iterator[SourceItem]:
    """The things that a tool answered with, without their ids, which `numbered` gives."""
    for path, data in _all_things(answer):
        yield SourceItem(
            id="",
            agent=agent,
            server=answer.server,
            tool=answer.tool,
            call=call,
            path=path,
            data=_bounded(data, 0),
            mock=answer.mock,
        )


def without_copies(items: Sequence[SourceItem]) -> list[SourceItem]:
    """Each thing once, however many searches found it, with its id: `gmail/1`, `gmail/2`, …"""
    kept: dict[str, SourceItem] = {}
    for item in items:
        kept.setdefault(json.dumps(item.data, sort_keys=True, default=str), item)
    return [
        item.model_copy(update={"id": f"{item.agent}/{number}"})
        for number, item in enumerate(kept.values(), 1)
    ]


def _all_things(answer: ToolAnswer) -> Iterator[tuple[str, Mapping[str, Any]]]:
    found = [] if answer.structured is None else list(_things(answer.structured, ""))
    texts = _texts(answer)
    read = [] if found else [_read(text) for text in texts]
    if answer.structured is not None and not any(read):
        yield from found
        return
    if not any(read):  # words alone, however many texts they come in, are one
        if answer.text.strip():
            yield "", {"text": answer.text}
        return
    said = [each for one, text in zip(read, texts, strict=True) for each in one or [text]]
    for number, each in enumerate(said):
        if len(said) == 1:
            yield from _things(each, "")
        elif isinstance(each, Mapping | list):
            yield from _things(each, f"/{number}")
        elif words := each.strip() if isinstance(each, str) else json.dumps(each):
            yield f"/{number}", {"text": words}


def _texts(answer: ToolAnswer) -> list[str]:
    """The texts that an answer is made of."""
    if not answer.lengths:
        return [answer.text]
    ends = accumulate(length + 1 for length in answer.lengths)
    return [answer.text[end - length - 1 : end - 1] for end, length in zip(ends, answer.lengths, strict=True)]


def _read(text: str) -> list[Any]:
    """The JSON values that a text is, one or one after another; none where it is words, or holds some.

    One that says a thing twice is words, too: of those nobody takes either for the other.
    """
    found = []
    at = _past_blanks(text, 0)
    try:
        while at < len(text):
            value, at = DECODER.raw_decode(text, at)
            found.append(value)
            at = _past_blanks(text, at)
    except (ValueError, RecursionError):
        return []
    return found if len(found) == 1 or all(isinstance(each, Mapping | list) for each in found) else []


def _past_blanks(text: str, at: int) -> int:
    blanks = _BLANKS.match(text, at)
    return at if blanks is None else blanks.end()


def _things(said: Any, path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Objects of the outermost lists, or else the object itself."""
    if isinstance(said, list):
        for number, one in enumerate(said):
            if isinstance(one, Mapping):
                yield f"{path}/{number}", one
            elif isinstance(one, str) and one.strip():
                yield f"{path}/{number}", {"text": one}
    elif isinstance(said, Mapping):
        lists = {name: value for name, value in said.items() if _is_list_of_objects(value)}
        if lists and not _is_thing(said, lists):
            for name, value in lists.items():
                yield from _things(value, f"{path}/{_escaped(name)}")
        elif len(said) == 1 and (name := next(iter(said))) in _ENVELOPES:
            yield from _things(said[name], f"{path}/{_escaped(name)}")
        elif said and not _is_empty_page(said):
            yield path, said


def _is_list_of_objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], Mapping)


def _is_thing(said: Mapping[str, Any], lists: Mapping[str, Any]) -> bool:
    """An object with an id of its own is one thing, whatever lists it holds: a bill with its lines."""
    return any(name.casefold() in ("id", "number", "name", "subject") for name in said if name not in lists)


def _is_empty_page(said: Mapping[str, Any]) -> bool:
    """A list without anything in it, and what goes with a page: counts and cursors."""
    return any(value == [] for value in said.values()) and not any(
        isinstance(value, Mapping) for value in said.values()
    )


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def _bounded(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return storable(cut(value, _LONGEST_TEXT))
    if isinstance(value, Mapping):
        if depth >= _DEEPEST:
            return {}
        return {
            str(name)[:200]: _bounded(each, depth + 1) for name, each in list(value.items())[:_MOST_FIELDS]
        }
    if isinstance(value, list):
        return [] if depth >= _DEEPEST else [_bounded(each, depth + 1) for each in value[:_MOST_FIELDS]]
    return value
