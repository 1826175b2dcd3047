"""JSON that all readers take the same: every name is there once in its object, and every number can be kept.

Of two values of a name, one reader takes the first, another the last (RFC 8259 §4), so whoever said both has
said neither. Of a number beyond a double's, and of NaN, one makes nothing, another the nearest (§6).

All that comes from outside and decides something is read here: bodies of requests, messages of sockets,
files of topics, lists of grants, replies of models, texts of MCP servers.
"""

import json
import math
from collections import Counter
from decimal import Decimal
from typing import Any

_SHOWN = 80
# With so many characters, sign and point among them, a number without an exponent is what a double says.
_EXACT = 15


class Ambiguous(ValueError):
    """Readers would take a text in different ways; the message says which part of it, and what to do."""


class NamedTwice(Ambiguous):
    """A name is there twice in one object. `name` is which."""

    def __init__(self, name: str) -> None:
        shown = name if len(name) <= _SHOWN else name[:_SHOWN] + "…"
        super().__init__(f"{shown!a} is there twice in one object: send it once")
        self.name = name


class NumberNotKept(Ambiguous):
    """A number is larger, smaller or longer than a double can say, or is none."""

    def __init__(self, number: str) -> None:
        shown = number if len(number) <= _SHOWN else number[:_SHOWN] + "…"
        super().__init__(f"the number {shown} can't be kept as it is: send it as a text, or another")


def read_once(text: str | bytes) -> Any:
    """What a JSON text says. Raises Ambiguous; else what `json.loads` does: ValueError, RecursionError."""
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_refuse, parse_float=_kept)
    except ValueError as error:
        if type(error) is ValueError:  # Python reads no integer of so many digits
            raise NumberNotKept("with thousands of digits") from error
        raise


def ambiguity(text: str | bytes) -> str | None:
    """Why readers would take a text in different ways; None where they don't, and of what is no JSON.

    That is refused as such. A text that is nested too deeply to be looked at is told of, too.
    """
    try:
        read_once(text)
    except Ambiguous as error:
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


def _refuse(constant: str) -> Any:
    raise NumberNotKept(constant)


def _kept(number: str) -> float:
    value = float(number)
    if len(number) <= _EXACT and "e" not in number.lower():
        return value
    if value == 0:
        same = not number.lower().partition("e")[0].strip("-0.")
    else:
        same = math.isfinite(value) and (not value.is_integer() or Decimal(value) == Decimal(number))
    if not same:
        raise NumberNotKept(number)
    return value


# Reads one value after another of a text; raises what `read_once` does.
DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_refuse, parse_float=_kept)
