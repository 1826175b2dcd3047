"""A name that nothing has, and those that it may have been meant for. Pure; for messages to people."""

import difflib
from collections.abc import Collection

_MOST = 3


def suggestion(name: str, names: Collection[str]) -> str:
    """How a message about `name` goes on: with the names that are like it, or else with all there are."""
    near = difflib.get_close_matches(name[:100], names, n=_MOST)
    return f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(names)}"
