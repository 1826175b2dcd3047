"""JSON in which every name is there once in its object: of two values, one reader takes the first, another
the last (RFC 8259 §4), so whoever said both has said neither.

All that comes from outside and decides something is read here: bodies of requests, messages of sockets,
files of topics, lists of grants, replies of models.
"""

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

_SHOWN = 80


class NamedTwice(ValueError):
    """A name is there twice in one object. `name` is which; the message says it, and what to do."""

    def __init__(self, name: str) -> None:
        shown = name if len(name) <= _SHOWN else name[:_SHOWN] + "…"
        super().__init__(f"{shown!a} is there twice in one object: send it once")
        self.name = name


def read_once(text: str | bytes, *, parse_constant: Callable[[str], Any] | None = None) -> Any:
    """What a JSON text says. Raises NamedTwice; else what `json.loads` does: ValueError, RecursionError."""
    return json.loads(text, object_pairs_hook=_once, parse_constant=parse_constant)


def named_twice(text: str | bytes) -> str | None:
    """Why a text says a thing twice; None where it does not, and of what is no JSON: that is refused as such.

    A text that is nested too deeply to be looked at says it too.
    """
    try:
        read_once(text)
    except NamedTwice as error:
        return str(error)
    except RecursionError:
        return "is nested too deeply"
    except ValueError:
        return None
    return None


def _once(members: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(members)
    if len(found) < len(members):
        raise NamedTwice(next(name for name, n in Counter(name for name, _ in members).items() if n > 1))
    return found
