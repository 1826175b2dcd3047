"""What a defect is that can be put back, and what of all that must hold it breaks.

It is a change of the product's source text, made in the processes of the campaign. A change whose text is not
there any more fails loudly, so that none of them is lost when the product is rewritten.
"""

import inspect
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

# What must always hold, as far as a campaign can see it.
HOLDS = {
    1: "whatever dies, acknowledged work goes on from its last document; an outage is no verdict",
    2: "one runner at a time",
    3: "nothing gated without its decision",
    4: "a decision binds to exact content, and is taken once",
    6: "whoever asked for something does not approve it",
    8: "a message is sent at least once",
    9: "nothing is read that nobody let in",
    11: "nobody holds up the others",
}


@dataclass(frozen=True)
class Defect:
    """A defect, and what finds it by itself: a seed, and the faults that are drawn.

    Args:
        what: it does, in a few words.
        holds: which of the things that must always hold it breaks, by its number in `HOLDS`.
        seed: None: it is found by tests, and no campaign looks for it.
        in_tests: whether the suite looks for it; `make proof` looks for all.
    """

    put_back: Callable[[], None]
    what: str
    holds: int
    seed: int | None = None
    only: tuple[str, ...] = ()
    in_tests: bool = False


def change(owner: Any, name: str, *changes: tuple[str, str]) -> None:
    """Replace a function or method by itself with changes of its text."""
    text = textwrap.dedent(inspect.getsource(getattr(owner, name)))
    for old, new in changes:
        assert old in text, f"{name} has no {old!r} any more: put the defect back in another way"
        text = text.replace(old, new)
    module = sys.modules[owner.__module__] if inspect.isclass(owner) else owner
    made: dict[str, Any] = {}
    exec(compile(text, f"<defect in {name}>", "exec"), vars(module), made)
    setattr(owner, name, made[name])
