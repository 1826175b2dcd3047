"""Tools for the entities of a project: who and what its sources name, which of them are one, and why."""

from typing import Annotated

from pydantic import Field

from actors.platform.tools.tool import Input, Output, ToolContext, tool
from actors.systems.knowledge.entities.project_merging import merge_again
from actors.systems.knowledge.tools.projects import ANALYST, ProjectId, topic_of_project
from models.errors import EntityNotFound
from models.knowledge.known import EntityShown, RelationShown
from models.store.database import Connection
from models.store.knowledge import entities, merges
from models.tools import Number, PlainText

_MOST_POINTS = 200

EntityId = Annotated[Number, Field(description="The entity", examples=[1])]
MergeId = Annotated[Number, Field(description="The merge", examples=[1])]


class ListEntitiesRequest(Input):
    """The entities of a project, or those with something in their names."""

    project_id: ProjectId
    name: Annotated[PlainText, Field(min_length=1, max_length=200)] | None = Field(
        default=None, description="Only those with this in a name or another name"
    )
    limit: Annotated[int, Field(ge=1, le=200)] = 50


class ListEntitiesResponse(Output):
    """Those that most points name, first."""

    entities: tuple[EntityShown, ...]


@tool(ANALYST, rest="GET /projects/{project_id}/entities", effect="reads", topic=topic_of_project)
async def list_entities(context: ToolContext, request: ListEntitiesRequest) -> ListEntitiesResponse:
    """List who and what a project's sources name."""
    found = await entities.find(
        context.connection, request.project_id, name=request.name, limit=request.limit
    )
    return ListEntitiesResponse(entities=tuple(found))


class GetEntityRequest(Input):
    """An entity, by its own id or that of any entity that is merged into it."""

    project_id: ProjectId
    entity_id: EntityId


class GetEntityResponse(Output):
    """The entity, and what joins it to others, each relation with the points of all sources that say so.

    At most 200 points are shown, those of the highest scores; `total` is how many there are.
    """

    entity: EntityShown
    relations: tuple[RelationShown, ...]
    total: int


@tool(ANALYST, rest="GET /projects/{project_id}/entities/{entity_id}", effect="reads", topic=topic_of_project)
async def get_entity(context: ToolContext, request: GetEntityRequest) -> GetEntityResponse:
    """Read an entity: its names, why they are one, and its relations."""
    connection = context.connection
    entity = await _entity(connection, request.project_id, request.entity_id)
    group = await entities.group_of(connection, request.project_id, [request.entity_id])
    relations = await entities.relations(connection, group, limit=_MOST_POINTS)
    total = await entities.count_relations(connection, group)
    return GetEntityResponse(entity=entity, relations=tuple(relations), total=total)


class UndoMergeRequest(Input):
    """A merge that is wrong."""

    project_id: ProjectId
    merge_id: MergeId


class UndoMergeResponse(Output):
    """The entity that was merged, now another; what is one with it by way of it still is."""

    entity: EntityShown


@tool(
    ANALYST,
    rest="POST /projects/{project_id}/merges/{merge_id}/undo",
    effect="writes",
    idempotent=True,
    topic=topic_of_project,
)
async def undo_merge(context: ToolContext, request: UndoMergeRequest) -> UndoMergeResponse:
    """Say that two entities are two: they are parted, and never merged again."""
    connection, config = context.connection, context.config
    merged = await merges.undo(connection, request.project_id, request.merge_id, by=context.caller.subject)
    await merge_again(
        connection,
        request.project_id,
        model=config.embedding.model_name,
        least_cosine=config.knowledge.extraction.least_cosine,
    )
    return UndoMergeResponse(entity=await _entity(connection, request.project_id, merged))


async def _entity(connection: Connection, project_id: int, entity_id: int) -> EntityShown:
    """An entity with all that are one with it. EntityNotFound: there is none, or it has just gone."""
    group = await entities.group_of(connection, project_id, [entity_id])
    found = await entities.shown(connection, project_id, group)
    if not found:
        raise EntityNotFound(f"project {project_id} has no entity {entity_id}")
    return found[0]
