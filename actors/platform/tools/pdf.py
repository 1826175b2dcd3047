"""The tool that keeps a PDF of the web: its text and its tables become resources. Seed 000 §3.1, §7.1.

No transaction is open while it is fetched and read; all of it is stored in one at the end, or nothing.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated

from pydantic import Field, model_validator

from actors.platform.pdf.pdf import read_pdf
from actors.platform.tools.articles import ArticleId, Topic
from actors.platform.tools.resources import WRITE, Name, topic_of_place
from actors.platform.tools.tool import Input, Output, ToolContext, tool
from models.content.articles import ResourceKind
from models.content.pdf import PdfContents, PdfTable
from models.record import Record
from models.store.content import articles, resources
from models.tools import PlainText

_LONGEST_NAME, _LONGEST_DESCRIPTION = 255, 2000


class DownloadPdfRequest(Input):
    """Where the PDF is, and where it belongs: `topic`, or `article_id`."""

    url: Annotated[
        PlainText, Field(min_length=1, max_length=2000, examples=["https://reports.example.org/prices.pdf"])
    ]
    topic: Topic | None = Field(default=None, description="Topic to associate with")
    article_id: ArticleId | None = Field(default=None, description="Article to auto-attach")
    name: Name | None = Field(default=None, description="Name of the resources; the PDF's title if absent")

    @model_validator(mode="after")
    def _belongs(self) -> "DownloadPdfRequest":
        if self.topic is None and self.article_id is None:
            raise ValueError("topic: give the topic it belongs to, or the article_id to attach it to")
        return self


class PdfResource(Record):
    """A resource that was made of the PDF; `page` is a table's."""

    resource_id: int
    kind: ResourceKind
    name: str
    page: int | None = None


class DownloadPdfResponse(Output):
    """The resources: the text, in parts where it is long, and each table. `note` says what was left out."""

    url: str
    pages: int
    resources: tuple[PdfResource, ...]
    attached_to_article: int | None
    note: str | None = None


async def _topic(context: ToolContext, request: DownloadPdfRequest) -> str:
    async with context.database.connection() as connection:
        here = replace(context, _connection=connection)
        return await topic_of_place(here, topic=request.topic, article_id=request.article_id)


@tool(
    WRITE,
    rest="POST /research/download-pdf",
    effect=("writes", "leaves the site"),
    only_adds=True,
    topic=_topic,
    own_transactions=True,
)
async def download_pdf(context: ToolContext, request: DownloadPdfRequest) -> DownloadPdfResponse:
    """Fetch a PDF and keep its text and tables as resources, attached to an article where one is named."""
    contents = await read_pdf(request.url, config=context.config)
    name = request.name or contents.title
    async with context.database.transaction() as connection:
        here = replace(context, _connection=connection)
        # Minutes may have passed since the call was let in.
        topic = await topic_of_place(here, topic=request.topic, article_id=request.article_id)
        WRITE.require("download_pdf", context.caller.scopes, topic, topics=())
        made = [await _keep(here, topic, *each) for each in _parts(contents, name)]
        if request.article_id is not None:
            await _attach(here, request.article_id, [each.resource_id for each in made])
        answer = DownloadPdfResponse(
            url=contents.url,
            pages=contents.pages,
            resources=tuple(made),
            attached_to_article=request.article_id,
            note=contents.note,
        )
        await context.record(connection, answer)
    return answer


def _parts(contents: PdfContents, name: str) -> Iterator[tuple[str, str, str | PdfTable]]:
    """What becomes resources: name, description, and the text or table."""
    where = f"From {contents.url}"
    count = len(contents.texts)
    for number, text in enumerate(contents.texts, 1):
        part = f", part {number} of {count}" if count > 1 else ""
        noted = f". Left out: {contents.note}" if contents.note else ""
        yield _named(name, part), f"{where}, {contents.pages} pages{part}{noted}"[:_LONGEST_DESCRIPTION], text
    for number, table in enumerate(contents.tables, 1):
        yield _named(name, f", table {number} (page {table.page})"), f"{where}, page {table.page}", table


def _named(name: str, part: str) -> str:
    return name[: _LONGEST_NAME - len(part)] + part


async def _keep(
    context: ToolContext, topic: str, name: str, description: str, part: str | PdfTable
) -> PdfResource:
    if isinstance(part, str):
        made = await resources.create_text(
            context.connection,
            topic=topic,
            name=name,
            description=description,
            content=part,
            by=context.caller.subject,
        )
        return PdfResource(resource_id=made.id, kind=made.kind, name=made.name)
    made = await resources.create_table(
        context.connection,
        topic=topic,
        name=name,
        description=description,
        columns=part.columns,
        rows=part.rows,
        by=context.caller.subject,
    )
    return PdfResource(resource_id=made.id, kind=made.kind, name=made.name, page=part.page)


async def _attach(context: ToolContext, article_id: int, resource_ids: list[int]) -> None:
    """Attach all of them in one new version."""
    article = await articles.lock(context.connection, article_id)
    version = await articles.get_version(context.connection, article_id, article.version)
    attached = [resource.id for resource in version.resources]
    await articles.write(
        context.connection, article_id, by=context.caller.subject, resource_ids=[*attached, *resource_ids]
    )
