"""The editorial batch: topic files in, reviewed articles out, one canonical JSON each.

    signoff submit edit_articles --topics DIR

Ray Data reads and checks the files; each topic becomes a workflow that the runners run while this
driver lives. Submitting again finishes what is missing and redoes nothing. Exit code 1 if a topic did
not pass (with `--allow-blocked`: if one ended in an error), if the summary can't be written, or if a
publication could not be asked for. Seed 004 §3.1, §7.1, §9.
"""

import asyncio
import functools
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from actors.platform.runtime import site
from actors.platform.runtime.settled_files import write_settled, write_while
from actors.platform.runtime.submitter import submitter
from actors.systems.editorial.artifacts import article_path, write_atomically
from actors.systems.editorial.files import settled_result
from models.config import ArticleGenerationConfig, Config
from models.content.editorial import ArticleGenerationResult
from models.error_lines import error_line
from models.errors import InputInvalid
from models.runtime.workflows import WorkflowRequest
from models.store.database import Connection, Database
from models.store.runtime import workflows
from pipelines import driver
from pipelines.drafts import Drafting, Drafts
from pipelines.pipeline import BatchOptions, Settled, Write
from pipelines.progress import say
from pipelines.rows import DataRows, Rows, read_files
from pipelines.site_options import ConfigOption, SubmittedByOption
from pipelines.summary import write_parquet
from pipelines.topic_files import find_topic_files
from pipelines.topic_summary import LAYOUT, TopicSummary, as_lines, passes
from pipelines.topics import TopicRow, duplicates, read_topic, unreadable_topic

_STEPS = {
    "terms": "begun",
    "draft": "draft {0} written",
    "review": "draft {0} reviewed",
    "mapping": "concerns of draft {0} mapped",
    "verdict": "concern {1} of draft {0} judged",
    "result": "filed",
}
# What canonical files say before there is any workflow: another version than any of theirs.
_REFUSED = "refused"


def main(
    topics: Annotated[str, typer.Option(help="A folder of topic files, or one file; a path or a URI.")],
    config: ConfigOption = None,
    force: Annotated[bool, typer.Option("--force", help="Redo finished topics.")] = False,
    allow_blocked: Annotated[
        bool, typer.Option("--allow-blocked", help="Exit 0 when the only failures are blocked articles.")
    ] = False,
    at_once: Annotated[
        int | None, typer.Option(min=1, help="Topics under way at a time, instead of the configuration's.")
    ] = None,
    draft_in: Annotated[
        str | None, typer.Option(help="Make a draft of each edited article in this subject area.")
    ] = None,
    request_publication: Annotated[
        bool, typer.Option("--request-publication", help="Ask for the publication of those drafts.")
    ] = False,
    requests_at_most: Annotated[
        int | None, typer.Option(min=0, help="Ask for no more than this, those that wait already included.")
    ] = None,
    submitted_by: SubmittedByOption = None,
) -> None:
    """Edit the articles of a folder of topic files."""

    def work() -> int:
        if requests_at_most is not None and not request_publication:
            raise InputInvalid("--requests-at-most: nothing is asked for without --request-publication")
        if draft_in is None and request_publication:
            raise InputInvalid("--request-publication: say which subject area they go to with --draft-in")
        here = driver.join_site()
        settings = site.load_for(here, config)
        rows = _read(topics, settings.article_generation, here.root)
        options = BatchOptions(
            submitter=submitter(submitted_by),
            force=force,
            at_once=at_once or settings.article_generation.batch.max_topics_at_once,
        )
        drafting = Drafting(
            topic=draft_in, request_publication=request_publication, requests_at_most=requests_at_most
        )
        return asyncio.run(
            edit(rows, settings, here.database_url, options, drafting, allow_blocked=allow_blocked)
        )

    raise typer.Exit(driver.command("edit_articles", work))


def _read(topics: str, settings: ArticleGenerationConfig, root: Path) -> DataRows[TopicRow]:
    filesystem, paths, refused = find_topic_files(topics, roots=[Path.cwd(), root])
    return read_files(
        paths,
        filesystem=filesystem,
        check=functools.partial(read_topic, settings=settings),
        unreadable=unreadable_topic,
        parse=TopicRow.model_validate_json,
        refused=refused,
        noun=LAYOUT.noun,
    )


async def edit(
    rows: Rows[TopicRow],
    config: Config,
    database_url: str,
    options: BatchOptions,
    drafting: Drafting,
    *,
    allow_blocked: bool,
    write: Write = write_parquet,
) -> int:
    """Edit all topics, and report; the exit code. `write` writes the summary.

    Raises:
        TopicUnknown: drafts are to go into a subject area that there is not.
    """
    settings = config.article_generation
    async with driver.patient_database(config, database_url) as database:
        drafts = None
        if drafting.topic is not None:
            drafts = Drafts(
                config=config, database=database, topic=drafting.topic, submitter=options.submitter
            )
        pipeline = _TopicPipeline(
            rows, config, database, options.submitter, drafts, drafting, allow_blocked=allow_blocked
        )
        return await driver.drive(
            pipeline,
            rows,
            database=database,
            options=options,
            lease_seconds=settings.batch.lease_seconds,
            folder=settings.editor.output.run_artifacts_dir / "batches",
            write=write,
        )


class _TopicPipeline:
    """The pipeline: where a batch's topics go in and their summaries come out."""

    layout = LAYOUT
    steps: Mapping[str, str] = _STEPS

    def __init__(
        self,
        rows: Rows[TopicRow],
        config: Config,
        database: Database,
        submitter: str,
        drafts: Drafts | None,
        drafting: Drafting,
        *,
        allow_blocked: bool,
    ) -> None:
        self._twice = duplicates((head.path, head.channel, head.slug) for head in rows.heads())
        self._output = config.article_generation.editor.output
        self._database = database
        self._submitter = submitter
        self._drafts = drafts
        self._drafting = drafting
        self._allow_blocked = allow_blocked

    def refusal(self, row: TopicRow) -> str | None:
        """It is no topic, or others have its name."""
        return self._twice.get(row.path) or row.error

    async def refuse(self, row: TopicRow, reason: str) -> TopicSummary:
        """Its JSON says why: the canonical one, where that is not a workflow's."""
        result = ArticleGenerationResult(success=False, error=reason)
        path = None
        try:
            path = await self._leave(row, result)
        except OSError as error:
            reason = f"{reason} (and its file can't be written: {error_line(error)})"
        return _summary(row, status="error", error=reason, path=path and str(path))

    async def _leave(self, row: TopicRow, result: ArticleGenerationResult) -> Path:
        """Write what is said of a refused row, and say where.

        A canonical JSON tells what the topic's newest workflow came to, if there is any, also if another
        batch begins one meanwhile; what is wrong with a later file is written beside it.
        """
        text = result.model_dump_json(indent=2)
        if row.channel and row.slug:
            path = self._path(row)
            if await write_while(lambda: self._is_first(row), {path: text}, version=_REFUSED):
                return path
        own = self._own_path(row)
        await asyncio.to_thread(write_atomically, own, text)
        return own

    async def _is_first(self, row: TopicRow) -> bool:
        """Whether the topic has no workflow."""

        async def look(connection: Connection) -> bool:
            return await workflows.latest_of_key(connection, row.key, lock=False) is None

        return await self._database.read(look)

    def request(self, row: TopicRow) -> WorkflowRequest:
        """The workflow that edits it."""
        assert row.topic is not None, "what is no topic is refused"
        return WorkflowRequest(
            kind="editorial",
            key=row.key,
            input=row.topic.model_dump(mode="json"),
            input_digest=row.digest,
            requested_by=self._submitter,
        )

    async def summarise(self, row: TopicRow, settled: Settled) -> TopicSummary:
        """Its article, which is drafted where that is asked for, and what is held against it."""
        workflow, kept = settled.workflow, settled.documents
        filed = ArticleGenerationResult.model_validate(kept["result"]) if "result" in kept else None
        if self._drafts is not None and (said := await self._drafts.file(row.name, workflow.id, filed)):
            say(f"{row.name}: {said}")
        report = filed.editor_report if filed else None
        remaining = [concern.excerpt for concern in (report.blocking_concerns if report else None) or []]
        path = self._path(row)
        if settled.skipped:
            # Finished before; its file may be gone since, or of another run. The database has it.
            text = settled_result(self._output, workflow, kept).model_dump_json(indent=2)
            if not await asyncio.to_thread(_says, path, text):
                await write_settled(self._database, workflow, {path: text})
        result = workflow.result or {}
        return _summary(
            row,
            status=result.get("outcome", "error"),
            skipped=settled.skipped,
            rounds=result.get("rounds", sum(key.startswith("draft/") for key in kept)),
            concerns=len(remaining),
            remaining=remaining,
            seconds=settled.seconds,
            tokens=settled.tokens,
            headline=filed.article.headline if filed and filed.article else None,
            path=str(path),
            error=workflow.error,
        )

    def unfinished(self, row: TopicRow, status: Literal["error", "stopped"], why: str) -> TopicSummary:
        """No article."""
        return _summary(row, status=status, error=why)

    def lines(self, summary: TopicSummary) -> list[str]:
        """Its article, and what is held against it."""
        return as_lines(summary)

    def passes(self, summary: TopicSummary) -> bool:
        """It passed, or is blocked where that is allowed."""
        return passes(summary, allow_blocked=self._allow_blocked)

    async def afterwards(self) -> bool:
        """Ask for the publication of the drafts, where that is wished. Whether none was refused."""
        fine = True
        if self._drafts is not None and self._drafting.request_publication:
            async for asked in self._drafts.request_publication(self._drafting.requests_at_most):
                say(asked.line)
                fine = fine and not asked.refused
        return fine

    def _path(self, row: TopicRow) -> Path:
        assert row.channel is not None, "a topic has one"
        assert row.slug is not None, "a topic has one"
        return article_path(self._output, channel_name=row.channel, topic_slug=row.slug)

    def _own_path(self, row: TopicRow) -> Path:
        """Under its own name; a file of the same name in another folder gets another."""
        mark = hashlib.sha256(row.path.encode("utf-8", "surrogatepass")).hexdigest()[:12]
        own = f"{Path(row.path).stem}-{mark}"
        return article_path(self._output, channel_name="_unreadable", topic_slug=own)


def _says(path: Path, text: str) -> bool:
    return path.exists() and path.read_bytes() == text.encode()


def _summary(row: TopicRow, **facts: Any) -> TopicSummary:
    blank = {"skipped": False, "rounds": 0, "concerns": 0, "remaining": [], "seconds": 0.0, "tokens": 0}
    nothing = {"headline": None, "path": None, "error": None}
    return TopicSummary(topic=row.name, **{**blank, **nothing, **facts})


if __name__ == "__main__":
    typer.run(main)
