"""What a batch says while it runs: a line for each step of a topic, and nothing that steers a terminal.

Names, headlines, excerpts and reasons come from files and models: all of it is said through `say`.
"""

import sys
import unicodedata

from models.events import Event
from models.text import flat

_STEPS = {
    "terms": "begun",
    "draft": "draft {0} written",
    "review": "draft {0} reviewed",
    "mapping": "concerns of draft {0} mapped",
    "verdict": "concern {1} of draft {0} judged",
    "result": "filed",
}


def plain(text: str) -> str:
    """Text that others wrote as one line: escape sequences, control and format characters are gone."""
    indent = " " * (len(text) - len(text.lstrip(" ")))
    return indent + "".join(c for c in flat(text) if c.isprintable() or unicodedata.category(c) == "Zs")


def say(line: str, *, trouble: bool = False) -> None:
    """Print one line at once; `trouble` goes to stderr."""
    print(plain(line), file=sys.stderr if trouble else sys.stdout, flush=True)


def show(name: str, event: Event) -> None:
    """One line of progress."""
    what = event.type
    if event.type == "step.done":
        step, *numbers = str(event.data["step"]).split("/")
        what = _STEPS.get(step, step).format(*numbers)
    elif event.type == "workflow.failed":
        what = f"error: {event.data.get('error')}"
    elif event.type == "workflow.parked":
        what = f"waits for {event.data.get('waits_for')}"
    elif event.type == "workflow.files_delayed":
        what = f"its files can't be written yet: {event.data.get('reason')}"
    elif event.type.startswith("workflow."):
        what = event.type.removeprefix("workflow.")
    say(f"{name}: {what}")
