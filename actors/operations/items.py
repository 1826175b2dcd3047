"""The things in a tool's answer: each object of its lists, or the whole object. Pure.

Servers are not known beforehand, so an answer's form is all there is to go by. What an answer says is kept as
it was given, cut to a bound, and followed by nobody.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from models.mcp.tool_answers import ToolAnswer
from models.operations.items import SourceAgent, SourceItem
from models.text import cut, storable

_LONGEST_TEXT = 20_000
_DEEPEST = 6
_MOST_FIELDS = 200
# What an object may be wrapped in: {"result": {…}}.
_ENVELOPES = ("result", "data", "response")


def items_of(answer: ToolAnswer, *, agent: SourceAgent, call: int) -> Iterator[SourceItem]:
    """The things that a tool answered with, without their ids, which `numbered` gives."""
    for path, data in _things(_said(answer), ""):
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


def _said(answer: ToolAnswer) -> Any:
    if answer.structured is not None:
        return answer.structured
    try:
        return json.loads(answer.text)
    except (ValueError, RecursionError):
        return {"text": answer.text} if answer.text.strip() else None


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
