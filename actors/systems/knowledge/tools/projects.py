"""Tools for projects and the sources that they hold. Seed 002 §10: rows belong to a project.

A project is its topic's: whoever is an analyst there works in it, and for everybody else it does not exist.
"""

from typing import Annotated, Any

from pydantic import Field

from actors.platform.tools.articles import Topic
from actors.platform.tools.tool import Input, Output, ToolContext, tool
from actors.platform.tools.visibility import known_topic, topic_in_request
from actors.systems.knowledge.entities.project_merging import merge_again
from models.errors import ProjectNotFound
from models.knowledge.projects import Project
from models.knowledge.sources import KnowledgeSource
from models.people.scopes import Role
from models.store.database import Connection
from models.store.knowledge import merges, projects, sources
from models.tools import Label, Number, ToolPermission

ANALYST = ToolPermission(required_role="analyst", topic_scoped=True)
ANYWHERE = ToolPermission(required_role="analyst", topic_scoped=False)
ROLE: Role = "analyst"
_MOST_TEXT = 20_000

ProjectId = Annotated[Number, Field(description="The project", examples=[1])]
SourceId = Annotated[Number, Field(description="The source", examples=[1])]


async def visible_project(context: ToolContext, connection: Connection, project_id: int) -> Project:
    """The project, if it is the caller's; else it is as if it did not exist."""
    project = await projects.get(connection, project_id)
    if not context.caller.has(ROLE, project.topic):
        raise ProjectNotFound(f"there is no project {project_id}")
    return project


async def topic_of_project(context: ToolContext, request: Any) -> str:
    """The topic of the project that the request names."""
    async with context.database.connection() as connection:
        return (await visible_project(context, connection, request.project_id)).topic


class CreateProjectRequest(Input):
    """A project; one of the same name in the topic is found, and not made twice."""

    topic: Topic
    name: Annotated[Label, Field(min_length=1, max_length=200, pattern=r"\S", examples=["AI in medicine"])]


class ProjectResponse(Output):
    """The project. `created` is false where it was there."""

    project: Project
    created: bool


@tool(
    ANALYST,
    rest="POST /projects",
    effect="writes",
    only_adds=True,
    idempotent=True,
    topic=topic_in_request,
)
async def create_project(context: ToolContext, request: CreateProjectRequest) -> ProjectResponse:
    """Make a project, which sources and what is known from them belong to."""
    project, created = await projects.find_or_create(
        context.connection,
        topic=known_topic(context.config, request.topic),
        name=request.name.strip(),
        by=context.caller.subject,
    )
    return ProjectResponse(project=project, created=created)


class ListProjectsRequest(Input):
    """Nothing to say."""


class ListProjectsResponse(Output):
    """The caller's projects, the newest first."""

    projects: tuple[Project, ...]


@tool(ANYWHERE, rest="GET /projects", effect="reads")
async def list_projects(context: ToolContext, request: ListProjectsRequest) -> ListProjectsResponse:
    """List the projects that the caller works in."""
    topics = [topic for topic in context.config.publishing.topics if context.caller.has(ROLE, topic)]
    return ListProjectsResponse(projects=tuple(await projects.in_topics(context.connection, topics)))


class GetSourceRequest(Input):
    """A source, and from which character on its text is read."""

    project_id: ProjectId
    source_id: SourceId
    offset: Annotated[int, Field(ge=0, le=2**31)] = 0


class GetSourceResponse(Output):
    """The source; its text from `offset` on, and where the next part begins, if there is one."""

    source: KnowledgeSource
    offset: int
    next_offset: int | None
    characters: int


@tool(
    ANALYST,
    rest="GET /projects/{project_id}/sources/{source_id}",
    effect="reads",
    topic=topic_of_project,
)
async def get_source(context: ToolContext, request: GetSourceRequest) -> GetSourceResponse:
    """Read a source of a project: where it came from, and its text."""
    source = await sources.get(context.connection, request.project_id, request.source_id)
    text = source.text or ""
    end = request.offset + _MOST_TEXT
    return GetSourceResponse(
        source=source.model_copy(update={"text": text[request.offset : end]}),
        offset=request.offset,
        next_offset=end if end < len(text) else None,
        characters=len(text),
    )


class DeleteSourceRequest(Input):
    """A source to be taken away."""

    project_id: ProjectId
    source_id: SourceId


class DeleteSourceResponse(Output):
    """What was taken away."""

    source_id: int
    url: str


@tool(
    ANALYST,
    rest="POST /projects/{project_id}/sources/{source_id}/delete",
    effect="writes",
    topic=topic_of_project,
)
async def delete_source(context: ToolContext, request: DeleteSourceRequest) -> DeleteSourceResponse:
    """Delete a source, and with it exactly what is known from it alone."""
    connection, config = context.connection, context.config
    source = await sources.get(connection, request.project_id, request.source_id, lock=True)
    await merges.lock(connection, request.project_id)
    await sources.delete(connection, request.project_id, request.source_id)
    # What was one by way of its entities may be so no more.
    await merge_again(
        connection,
        request.project_id,
        model=config.embedding.model_name,
        least_cosine=config.knowledge.extraction.least_cosine,
    )
    return DeleteSourceResponse(source_id=source.id, url=source.url)
