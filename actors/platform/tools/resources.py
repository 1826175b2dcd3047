"""Resource tools: search, read, create texts and tables, attach and detach. Seed 000 §3.1, §7.2."""

from datetime import datetime
from typing import Annotated

from pydantic import FailFast, Field, model_validator

from actors.platform.tools.articles import ArticleId, Query, Topic
from actors.platform.tools.tool import Input, Output, ToolContext, tool
from actors.platform.tools.visibility import (
    attachable_resource,
    known_topic,
    topic_of_article,
    visible_article,
    visible_resource,
)
from models.content.articles import ArticleStatus, Cell, Resource, ResourceKind
from models.content.search import MOST_FOUND
from models.errors import ArticleConflict, InputInvalid
from models.record import Record
from models.store.content import articles, resources
from models.tools import Label, Number, PlainText, Prose, ToolPermission

READ = ToolPermission(required_role="reader", topic_scoped=False)
WRITE = ToolPermission(required_role="analyst", topic_scoped=True)
_MOST_CELLS = 200_000

ResourceId = Annotated[Number, Field(description="The resource", examples=[5])]
Name = Annotated[Label, Field(min_length=1, max_length=255, pattern=r"\S", examples=["CPI release, May"])]
Description = Annotated[Prose, Field(max_length=2000)]
TableCell = PlainText | int | float | bool | None


class ResourceSearchRequest(Input):
    """Search the resources that the caller may see, in one topic or in all."""

    query: Query
    topic: Topic | None = None
    limit: int = Field(default=10, ge=1, le=MOST_FOUND)


class ResourceSummary(Record):
    """One hit. `similarity_score` is the cosine of its best passage, absent where only words matched."""

    id: int
    kind: ResourceKind
    name: str
    description: str | None
    topic: str
    snippet: str
    created_at: datetime
    similarity_score: float | None


class ResourceSearchResponse(Output):
    """The hits, best first. `note` says what kept the search from being whole."""

    resources: tuple[ResourceSummary, ...]
    total_count: int
    note: str | None = None


@tool(READ, rest="POST /resources/search/text", effect="reads", own_transactions=True)
async def search_text_resources(
    context: ToolContext, request: ResourceSearchRequest
) -> ResourceSearchResponse:
    """Search texts by words and by meaning."""
    return await _search(context, request, frozenset(["text"]))


@tool(READ, rest="POST /resources/search/tables", effect="reads", own_transactions=True)
async def search_table_resources(
    context: ToolContext, request: ResourceSearchRequest
) -> ResourceSearchResponse:
    """Search tables by words and by meaning."""
    return await _search(context, request, frozenset(["table"]))


@tool(READ, rest="POST /resources/search/all", effect="reads", own_transactions=True)
async def search_all_resources(
    context: ToolContext, request: ResourceSearchRequest
) -> ResourceSearchResponse:
    """Search texts and tables by words and by meaning."""
    return await _search(context, request, frozenset(["text", "table"]))


async def _search(
    context: ToolContext, request: ResourceSearchRequest, kinds: frozenset[str]
) -> ResourceSearchResponse:
    topics = None if request.topic is None else frozenset([known_topic(context.config, request.topic)])
    found = await context.search.resources(
        request.query, kinds=kinds, topics=topics, scopes=context.caller.scopes, limit=request.limit
    )
    hits = tuple(ResourceSummary.model_validate(hit.model_dump()) for hit in found.items)
    return ResourceSearchResponse(resources=hits, total_count=found.total, note=found.note)


class GetResourceRequest(Input):
    """Read a resource."""

    resource_id: ResourceId


class GetResourceResponse(Output):
    """The resource, whole."""

    resource: Resource


@tool(READ, rest="GET /resources/{id=resource_id}", effect="reads")
async def get_resource(context: ToolContext, request: GetResourceRequest) -> GetResourceResponse:
    """Read a resource whole. Readers see those that published articles rest on."""
    return GetResourceResponse(resource=await visible_resource(context, request.resource_id))


class _NewResource(Input):
    """What a new text and a new table share: `topic`, or `article_id`, says where it belongs."""

    name: Name
    topic: Topic | None = Field(default=None, description="Topic to associate with")
    article_id: ArticleId | None = Field(default=None, description="Article to auto-attach")
    description: Description | None = None

    @model_validator(mode="after")
    def _belongs(self) -> "_NewResource":
        if self.topic is None and self.article_id is None:
            raise ValueError("topic: give the topic it belongs to, or the article_id to attach it to")
        return self


class CreateTextResourceRequest(_NewResource):
    """A text, such as a press release or an interview."""

    content: Annotated[
        PlainText, Field(description="Text content", min_length=1, max_length=1_000_000, pattern=r"\S")
    ]


class CreateTableResourceRequest(_NewResource):
    """A table: each row has one cell per column."""

    columns: list[Annotated[Label, Field(max_length=255)]] = Field(
        min_length=1, max_length=200, examples=[["month", "CPI"]]
    )
    # The first fault is enough: a table may have 200,000, each told four times over.
    rows: Annotated[list[Annotated[list[TableCell], FailFast()]], FailFast()] = Field(
        max_length=50_000, examples=[[["2026-05", 3.1]]]
    )

    @model_validator(mode="after")
    def _rectangular(self) -> "CreateTableResourceRequest":
        for number, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                raise ValueError(f"rows.{number}: has {len(row)} cells for {len(self.columns)} columns")
        if len(self.rows) * len(self.columns) > _MOST_CELLS:
            raise ValueError(f"rows: at most {_MOST_CELLS} cells in all: split the table")
        return self


class CreateResourceResponse(Output):
    """The resource. `chromadb_id` is the seed's, and always null: the index is Signoff's own."""

    resource_id: int
    name: str
    chromadb_id: str | None = None
    attached_to_article: int | None


async def topic_of_place(context: ToolContext, *, topic: str | None, article_id: int | None) -> str:
    """The topic that something new belongs to: the article's, or the one that is named."""
    if article_id is None:
        assert topic is not None, "the request was validated"
        return known_topic(context.config, topic)
    found = (await visible_article(context, article_id)).topic
    if topic not in (None, found):
        raise InputInvalid(f"topic: is {topic!r}, but article {article_id} is in {found!r}: leave it out")
    return found


async def _topic_of_new(context: ToolContext, request: _NewResource) -> str:
    return await topic_of_place(context, topic=request.topic, article_id=request.article_id)


@tool(WRITE, rest="POST /resources/create/text", effect="writes", only_adds=True, topic=_topic_of_new)
async def create_text_resource(
    context: ToolContext, request: CreateTextResourceRequest
) -> CreateResourceResponse:
    """Create a text resource, and attach it to an article where one is named."""
    resource = await resources.create_text(
        context.connection,
        topic=await _topic_of_new(context, request),
        name=request.name,
        description=request.description,
        content=request.content,
        by=context.caller.subject,
    )
    return await _created(context, request, resource)


@tool(WRITE, rest="POST /resources/create/table", effect="writes", only_adds=True, topic=_topic_of_new)
async def create_table_resource(
    context: ToolContext, request: CreateTableResourceRequest
) -> CreateResourceResponse:
    """Create a table resource, and attach it to an article where one is named."""
    rows: list[list[Cell]] = [list(row) for row in request.rows]
    resource = await resources.create_table(
        context.connection,
        topic=await _topic_of_new(context, request),
        name=request.name,
        description=request.description,
        columns=request.columns,
        rows=rows,
        by=context.caller.subject,
    )
    return await _created(context, request, resource)


async def _created(context: ToolContext, request: _NewResource, resource: Resource) -> CreateResourceResponse:
    if request.article_id is not None:
        await _change_attached(context, request.article_id, add=resource.id)
    return CreateResourceResponse(
        resource_id=resource.id, name=resource.name, attached_to_article=request.article_id
    )


class AttachmentRequest(Input):
    """A resource and an article."""

    resource_id: ResourceId
    article_id: ArticleId


class AttachmentResponse(Output):
    """What the article rests on now, in a new version."""

    article_id: int
    version: int
    status: ArticleStatus
    attached_resources: tuple[int, ...]


@tool(
    WRITE,
    rest="POST /resources/{id=resource_id}/attach",
    effect="writes",
    idempotent=True,
    topic=topic_of_article,
)
async def attach_resource(context: ToolContext, request: AttachmentRequest) -> AttachmentResponse:
    """Attach a resource to an article. A draft of another topic takes the right to publish there."""
    topic = (await visible_article(context, request.article_id)).topic
    await attachable_resource(context, request.resource_id, topic)
    return await _change_attached(context, request.article_id, add=request.resource_id)


@tool(
    WRITE,
    rest="POST /resources/{id=resource_id}/detach",
    effect="writes",
    idempotent=True,
    topic=topic_of_article,
)
async def detach_resource(context: ToolContext, request: AttachmentRequest) -> AttachmentResponse:
    """Take a resource off an article; the resource itself stays."""
    return await _change_attached(context, request.article_id, remove=request.resource_id)


async def _change_attached(
    context: ToolContext, article_id: int, *, add: int | None = None, remove: int | None = None
) -> AttachmentResponse:
    article = await articles.lock(context.connection, article_id)
    version = await articles.get_version(context.connection, article_id, article.version)
    attached = [resource.id for resource in version.resources]
    if remove is not None and remove not in attached:
        raise ArticleConflict(f"resource {remove} is not attached to article {article_id}")
    if add is None or add not in attached:
        wanted = [number for number in attached if number != remove] + ([] if add is None else [add])
        article, version = await articles.write(
            context.connection, article_id, by=context.caller.subject, resource_ids=wanted
        )
    return AttachmentResponse(
        article_id=article_id,
        version=version.version,
        status=article.status,
        attached_resources=tuple(resource.id for resource in version.resources),
    )
