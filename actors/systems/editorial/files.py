"""The files of an ended topic: its canonical JSON and the artifacts of its run (seed 004 §7.1, §7.2).

The runner asks for them once the workflow has ended, from what is settled then: the same files however often,
and whoever writes them. A topic that was stopped has none; one that failed has the reason.
"""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from actors.systems.editorial.artifacts import RunArtifacts, article_path, run_folder
from actors.systems.editorial.rounds import R, Review, Rounds
from models.config import Config, EditorOutput
from models.content.editorial import (
    ArticleGenerationResult,
    ConcernMappingResult,
    TopicInput,
    WrittenArticle,
)
from models.runtime.workflows import Workflow


async def files(config: Config, workflow: Workflow, documents: dict[str, Any]) -> dict[Path, str]:
    """Everything that tells of an ended topic; the canonical JSON last."""
    output = config.article_generation.editor.output
    return await asyncio.to_thread(files_of, output, workflow, documents)


def settled_result(
    output: EditorOutput, workflow: Workflow, documents: Mapping[str, Any]
) -> ArticleGenerationResult:
    """What a topic that succeeded or failed came to."""
    rounds = _rounds(output, workflow, documents)
    if workflow.status == "succeeded":
        filed = rounds.kept("result", ArticleGenerationResult)
        assert filed is not None, "a topic that succeeded has filed its result"
        return filed
    assert workflow.finished_at is not None, "only an ended topic has a result"
    return rounds.result(rounds.finished(), outcome=None, error=workflow.error, at=workflow.finished_at)


def _rounds(output: EditorOutput, workflow: Workflow, documents: Mapping[str, Any]) -> Rounds:
    def kept(key: str, type_: type[R]) -> R | None:
        return type_.model_validate(documents[key]) if key in documents else None

    topic = TopicInput.model_validate(workflow.input)
    folder = run_folder(output, topic, started=workflow.created_at)
    return Rounds(topic=topic, kept=kept, artifacts_dir=folder)


def files_of(output: EditorOutput, workflow: Workflow, documents: dict[str, Any]) -> dict[Path, str]:
    """The same, to a thread."""
    if workflow.status == "cancelled":
        return {}
    rounds = _rounds(output, workflow, documents)
    topic = rounds.topic
    artifacts = RunArtifacts(
        directory=run_folder(output, topic, started=workflow.created_at),
        save_intermediate=output.save_intermediate_results,
    )
    finished = rounds.finished()
    number = 1
    while draft := rounds.kept(f"draft/{number}", WrittenArticle):
        artifacts.writer_draft(number, draft)
        if review := rounds.kept(f"review/{number}", Review):
            artifacts.article_review_raw(number, review.raw)
            artifacts.article_review(number, review.parsed)
        if mapping := rounds.kept(f"mapping/{number}", ConcernMappingResult):
            artifacts.concern_mapping(number, mapping)
        if number <= finished and rounds.concerns(number):
            artifacts.verdicts(number, rounds.verdicts(number))
            if f"draft/{number + 1}" in documents:
                artifacts.feedback(number, rounds.feedback(number))
        number += 1
    result = settled_result(output, workflow, documents)
    artifacts.finish(result)
    source = topic.source_metadata
    path = article_path(output, channel_name=source.channel_name, topic_slug=source.topic_slug)
    return {**artifacts.files, path: result.model_dump_json(indent=2)}
