"""The extraction batch: sources of a project in, what is known from them out, each point with its span.

    signoff submit extract_knowledge --project NAME --topic TOPIC

Each source becomes a workflow, which the runners run while this driver lives, so that the served model
answers people first. Submitting again reads what is new or was not finished, and nothing else. When all are
read, the project's entities are compared. Exit code 1 if a source ended in an error, or the batch was
stopped. Seed 002 §5 (node 6), FR4.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Literal

import typer

from actors.platform.runtime import site
from actors.platform.runtime.directory import Directory
from actors.platform.runtime.submitter import submitter
from actors.platform.system import AgentDirectory
from actors.systems.knowledge.extraction.prompt import extracted_with
from models.config import Config
from models.errors import ProjectNotFound, SignoffError
from models.knowledge.extraction import ExtractionResult, ExtractionTask
from models.record import Record
from models.runtime.approvals import content_digest
from models.runtime.workflows import WorkflowRequest
from models.store.database import Database
from models.store.knowledge import points
from models.store.knowledge.points import ToExtract
from pipelines import driver
from pipelines.pipeline import BatchOptions, Settled
from pipelines.progress import say
from pipelines.scraping_stages import ROLES
from pipelines.site_options import ConfigOption, SubmittedByOption, named_project
from pipelines.source_summary import LAYOUT, SourceSummary

_PAGE = 1000
_STEPS = {"chunks": "cut", "chunk": "chunk {0} read", "kept": "kept"}


def main(
    project: Annotated[str, typer.Option(help="The project: its number, or a name with --topic.")],
    topic: Annotated[str | None, typer.Option(help="The project's topic, where it is given by name.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Read again what was read before.")] = False,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Read this many sources at most, the oldest first.")
    ] = None,
    at_once: Annotated[
        int | None, typer.Option(min=1, help="Sources under way at a time, instead of the configuration's.")
    ] = None,
    config: ConfigOption = None,
    submitted_by: SubmittedByOption = None,
) -> None:
    """Extract what is known from the sources of a project."""

    def work() -> int:
        here = driver.join_site()
        settings = site.load_for(here, config)
        options = BatchOptions(
            submitter=submitter(submitted_by),
            force=force,
            at_once=at_once or settings.knowledge.extraction.sources_at_once,
        )
        directory = Directory(config=settings, roles=ROLES, database_url=here.database_url)
        return asyncio.run(
            extract(
                settings, here.database_url, options, directory, project=project, topic=topic, limit=limit
            )
        )

    raise typer.Exit(driver.command("extract_knowledge", work))


class SourceRow(Record):
    """A source that is to be read."""

    source: ToExtract
    extracted_with: str

    @property
    def path(self) -> str:
        """What tells it from others."""
        return f"source {self.source.id}"

    @property
    def name(self) -> str:
        """Its address."""
        return self.source.url

    def head(self) -> "SourceRow":
        """Itself: it holds no text."""
        return self


class _SourceRows:
    """The rows of a batch: sources as they were when it began."""

    def __init__(self, rows: Sequence[SourceRow]) -> None:
        self._rows = rows

    def heads(self) -> Sequence[SourceRow]:
        """All of them."""
        return self._rows

    async def stream(self) -> AsyncIterator[SourceRow]:
        """One after the other."""
        for row in self._rows:
            yield row


async def extract(
    config: Config,
    database_url: str,
    options: BatchOptions,
    directory: AgentDirectory,
    *,
    project: str,
    topic: str | None,
    limit: int | None = None,
) -> int:
    """Read the sources of a project that were not read yet, and report; the exit code.

    Raises:
        ProjectNotFound: there is no such project.
    """
    async with driver.patient_database(config, database_url) as database:
        found = await named_project(database, config, project=project, topic=topic)
        if found is None:
            raise ProjectNotFound(
                f"there is no project {project!r} in the topic {topic}: scrape into it first, or make it"
            )
        made_with = extracted_with(config.knowledge.extraction)
        rows = await _rows(database, found.id, made_with, again=options.force, limit=limit)
        return await driver.drive(
            _SourcePipeline(found.id, directory, options.submitter),
            _SourceRows(rows),
            database=database,
            options=options,
            lease_seconds=config.article_generation.batch.lease_seconds,
            folder=config.data_dir / "output" / "extraction",
        )


async def _rows(
    database: Database, project_id: int, made_with: str, *, again: bool, limit: int | None
) -> list[SourceRow]:
    rows: list[SourceRow] = []
    after = 0
    while limit is None or len(rows) < limit:
        size = _PAGE if limit is None else min(_PAGE, limit - len(rows))

        page = partial(points.to_extract, project_id=project_id, extracted_with=made_with, again=again)
        sources = await database.read(partial(page, after=after, limit=size))
        rows += [SourceRow(source=source, extracted_with=made_with) for source in sources]
        if len(sources) < size:
            break
        after = sources[-1].id
    return rows


class _SourcePipeline:
    """The pipeline: sources in, a summary of each out; in the end the entities of all are compared."""

    layout = LAYOUT
    steps: Mapping[str, str] = _STEPS

    def __init__(self, project_id: int, directory: AgentDirectory, submitter: str) -> None:
        self._project_id = project_id
        self._directory = directory
        self._submitter = submitter

    def refusal(self, row: SourceRow) -> str | None:
        """None is refused."""
        return None

    async def refuse(self, row: SourceRow, reason: str) -> SourceSummary:
        """Not called: none is refused."""
        return self.unfinished(row, "error", reason)

    def request(self, row: SourceRow) -> WorkflowRequest:
        """The workflow that reads it. One text, come to at one time, is read once by one extraction."""
        task = ExtractionTask(
            project_id=row.source.project_id,
            source_id=row.source.id,
            text_sha256=row.source.text_sha256,
            extracted_with=row.extracted_with,
        )
        said = task.model_dump(mode="json")
        return WorkflowRequest(
            kind="extraction",
            key=f"extraction:{row.source.id}",
            input=said,
            input_digest=content_digest(said | {"settled_at": row.source.settled_at.isoformat()}),
            requested_by=self._submitter,
        )

    async def summarise(self, row: SourceRow, settled: Settled) -> SourceSummary:
        """What was found in it."""
        workflow = settled.workflow
        common: dict[str, Any] = {
            "source_id": row.source.id,
            "url": row.source.url,
            "skipped": settled.skipped,
            "seconds": settled.seconds,
            "tokens": settled.tokens,
        }
        if workflow.result is None:
            return SourceSummary(**common, status="error", error=workflow.error or workflow.status)
        result = ExtractionResult.model_validate(workflow.result)
        return SourceSummary(
            **common,
            status=result.outcome,
            chunks=result.chunks,
            points=result.points,
            entities=result.entities,
            dropped=sum(result.dropped.values()),
        )

    def unfinished(self, row: SourceRow, status: Literal["error", "stopped"], why: str) -> SourceSummary:
        """Nothing is known from it yet."""
        return SourceSummary(source_id=row.source.id, url=row.source.url, status=status, error=why)

    def lines(self, summary: SourceSummary) -> list[str]:
        """The table says it all."""
        return []

    def passes(self, summary: SourceSummary) -> bool:
        """It was read, or is to be read anew because it has changed."""
        return summary.status in ("kept", "changed")

    async def afterwards(self) -> bool:
        """Compare the project's entities. Whether that went well."""
        try:
            new, gone = await self._directory.agent("extractor").merge_entities(self._project_id)
        except SignoffError as error:
            say(f"entities: not compared: {error}; submit again when that is mended", trouble=True)
            return False
        say(f"entities: {new} merges are new, {gone} have gone")
        return True


if __name__ == "__main__":
    typer.run(main)
