"""What a batch says while it runs: a line for each step of a topic."""

from models.events import Event

_STEPS = {
    "terms": "begun",
    "draft": "draft {0} written",
    "review": "draft {0} reviewed",
    "mapping": "concerns of draft {0} mapped",
    "verdict": "concern {1} of draft {0} judged",
    "result": "filed",
}


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
    print(f"{name}: {what}", flush=True)
