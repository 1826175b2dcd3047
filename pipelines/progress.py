"""What a batch says while it runs: a line for each step of a row, or now and then one for all rows together.

Names, headlines, excerpts and reasons come from files and models: all of it is said through `say`.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager

from models.runtime.event_catalogue import StepDone, WorkflowFailed, WorkflowFilesDelayed, WorkflowParked
from models.runtime.events import Event
from models.text import flat, printable

SAY_SECONDS = 5.0


def plain(text: str) -> str:
    """Text that others wrote as one line: escape sequences, control and format characters are gone."""
    indent = " " * (len(text) - len(text.lstrip(" ")))
    return indent + printable(flat(text))


def say(line: str, *, trouble: bool = False) -> None:
    """Print one line at once; `trouble` goes to stderr."""
    print(plain(line), file=sys.stderr if trouble else sys.stdout, flush=True)


def show(name: str, event: Event, *, steps: Mapping[str, str]) -> None:
    """One line of progress.

    Args:
        steps: what to say of a step that is done, by the first part of its key; `{0}`, `{1}` stand for the
            other parts.
    """
    what = event.type
    if event.type == StepDone.type:
        step, *parts = str(event.data["step"]).split("/")
        what = steps[step].format(*parts) if step in steps else step
    elif event.type == WorkflowFailed.type:
        what = f"error: {event.data.get('error')}"
    elif event.type == WorkflowParked.type:
        what = f"waits for {event.data.get('waits_for')}"
    elif event.type == WorkflowFilesDelayed.type:
        what = f"its files can't be written yet: {event.data.get('reason')}"
    elif event.type.startswith("workflow."):
        what = event.type.removeprefix("workflow.")
    say(f"{name}: {what}")


@asynccontextmanager
async def saying(line: Callable[[], Awaitable[str | None]]) -> AsyncIterator[None]:
    """Say a line every five seconds as long as the block lasts; none where there is nothing to say.

    The block ends with the error that `line` raises.
    """

    async def say_again() -> None:
        while True:
            await asyncio.sleep(SAY_SECONDS)
            if (told := await line()) is not None:
                say(told)

    try:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(say_again())
            yield
            task.cancel()
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from failed
