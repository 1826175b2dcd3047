"""Files say what is settled, and nothing else: the canonical ones, those of each run, and no others.

What they should say is made anew from the rows, beside them.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from actors.systems.editorial.artifacts import article_path, run_folder
from actors.systems.editorial.files import files_of, settled_result
from models.config import EditorOutput
from models.content.editorial import TopicInput
from models.runtime.workflows import Workflow
from tests.faults.ledger import Move
from tests.faults.site.kinds import Wrote, file_of, told

_RESULT = "article_result.json"


def of_march(workflow: Workflow, kept: Mapping[str, Any]) -> Iterator[str]:
    """The file of an ended march says its end; of one that was stopped, nothing or an earlier end."""
    path = file_of(workflow.input, workflow.id)
    if workflow.status == "cancelled":
        # It may have failed and been begun again before: `written_when_settled` looks at when that was told.
        if path.exists() and f'"{workflow.status}"' in path.read_text(encoding="utf-8"):
            yield f"{path.name} was written though {workflow.id} was stopped"
        return
    yield from _same(path, told(workflow, dict(kept)), workflow)


def of_topic(
    output: EditorOutput, workflow: Workflow, kept: Mapping[str, Any], *, newer: Sequence[Workflow]
) -> Iterator[str]:
    """The canonical file of a topic and those of its run. `newer`: later workflows of the same topic."""
    topic = TopicInput.model_validate(workflow.input)
    source = topic.source_metadata
    path = article_path(output, channel_name=source.channel_name, topic_slug=source.topic_slug)
    folder = run_folder(output, topic, started=workflow.created_at)
    # Of a topic that was stopped and begun anew, the files are the newer one's.
    theirs = {run_folder(output, topic, started=other.created_at) for other in newer}
    if workflow.status == "cancelled":
        written = [] if newer else [path]
        written += [] if folder in theirs else [folder]
        yield from (f"{one} was written though {workflow.id} was stopped" for one in written if one.exists())
        return
    expected = settled_result(output, workflow, dict(kept)).model_dump_json(indent=2)
    if not newer:
        yield from _same(path, expected, workflow)
    if folder not in theirs:
        yield from _same(folder / _RESULT, expected, workflow)
        yield from _of_run(output, folder, workflow, kept)


def _of_run(output: EditorOutput, folder: Path, workflow: Workflow, kept: Mapping[str, Any]) -> Iterator[str]:
    """All else in the folder of a run: as the product makes it."""
    made = files_of(output, workflow, dict(kept))
    expected = {path.name: text for path, text in made.items() if path.parent == folder}
    found = _texts(folder)
    for name in sorted((expected.keys() | found.keys()) - {_RESULT}):
        if expected.get(name) != found.get(name):
            says, should = (texts.get(name, "nothing")[:60] for texts in (found, expected))
            yield f"{name} of the run of {workflow.id} ({workflow.status}) says {says!r}, not {should!r}"


def _texts(folder: Path) -> dict[str, str]:
    """What is in a folder, by name; drafts of who was killed while writing start with a dot."""
    if not folder.exists():
        return {}
    return {p.name: p.read_text(encoding="utf-8") for p in folder.iterdir() if not p.name.startswith(".")}


def _same(path: Path, expected: str, workflow: Workflow) -> Iterator[str]:
    if not path.exists():
        yield f"the file {path.name} of {workflow.kind} {workflow.id} is missing"
    elif (text := path.read_text(encoding="utf-8")) != expected:
        yield f"the file {path.name} of {workflow.kind} {workflow.id} ({workflow.status}) says {text[:60]!r}"


def written_when_settled(wrote: Sequence[Wrote], moves: Sequence[Move]) -> Iterator[str]:
    """Whoever writes a march's file says what was settled before; also if the file is overwritten later."""
    settled: dict[tuple[str, str], float] = {}
    for move in moves:
        settled.setdefault((move.workflow, move.after), move.at)
    for one in wrote:
        since = settled.get((one.workflow, one.status))
        if since is None or since > one.at:
            when = "never was" if since is None else "was not yet"
            yield f"the file of march {one.workflow} was written as {one.status}, which it {when}"
