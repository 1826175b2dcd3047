"""The tools of trees of knowledge: one is made of points or grows by them, and is given away. Seed 002 §6.2.

A research makes its tree by itself, with people at its gate; these are for whoever works with a project's
points beside that.
"""

import asyncio
from typing import Annotated, Literal

from pydantic import FailFast, Field

from actors.platform.runtime.concurrency import gather_all
from actors.platform.text.language import language_of
from actors.platform.tools.tool import Input, Output, ToolContext, tool
from actors.systems.knowledge.tools.projects import ANALYST, ProjectId, topic_of_project
from actors.systems.research.agents.organizer import GrownTree
from actors.systems.research.tree.assign_points import empty_tree
from actors.systems.research.tree.exports import as_graphml, as_json, as_markdown
from actors.systems.research.tree.naming import NameReply, NamingRequest, named
from models.errors import InputInvalid, WorkflowConflict
from models.llm import Answer, ModelCall
from models.research.trees import MOST_TITLE, Tree, TreeSummary
from models.store.knowledge import projects
from models.store.research import evidence, trees
from models.store.runtime import model_calls
from models.tools import Label, Number

# Of one call: clustering takes the square of them.
MOST_POINTS = 2_000
_MOST_TREES = 200
_NAMED_AT_ONCE = 4
TreeId = Annotated[Number, Field(description="The tree", examples=[1])]


class CreateKnowledgeTreeRequest(Input):
    """Which points: all that the project knows, or those of these ids. `category_id`: a tree, to grow."""

    project_id: ProjectId
    knowledge_points: Annotated[tuple[Number, ...], FailFast()] = Field(
        default=(), max_length=MOST_POINTS, description="Ids of points; none: all that the project knows"
    )
    category_id: TreeId | None = None
    title: Annotated[Label, Field(min_length=1, max_length=MOST_TITLE, pattern=r"\S")] | None = None


class CreateKnowledgeTreeResponse(Output):
    """The tree. `points` are in its nodes; those that were in it before count, too."""

    tree_id: int
    title: str
    node_count: int
    depth: int
    points: int


@tool(
    ANALYST,
    rest="POST /projects/{project_id}/trees",
    effect="writes",
    topic=topic_of_project,
    own_transactions=True,
)
async def create_knowledge_tree(
    context: ToolContext, request: CreateKnowledgeTreeRequest
) -> CreateKnowledgeTreeResponse:
    """Put what a project knows in a tree of named categories; with `category_id` that tree grows."""
    async with context.database.connection() as connection:
        project = await projects.get(connection, request.project_id)
        found = await evidence.of_project(
            connection, request.project_id, request.knowledge_points or None, limit=MOST_POINTS + 1
        )
        began = empty_tree(request.title or project.name)
        if request.category_id is not None:
            began = await trees.get(connection, request.project_id, request.category_id)
    if len(found) > MOST_POINTS:
        raise InputInvalid(
            f"knowledge_points: the project has more than {MOST_POINTS}: give the ids of those that matter"
        )
    known = {point.point_id for point in found}
    if missing := sorted(set(request.knowledge_points) - known):
        raise InputInvalid(f"knowledge_points: the project has no point {missing[0]}: leave it out")
    if not found:
        raise InputInvalid("project_id: nothing is known in it yet: have its sources extracted first")
    organizer = context.agent("organizer")
    grown: GrownTree = await organizer.grow(began, [point.in_tree() for point in found])
    language = language_of(grown.tree.title)

    room = asyncio.Semaphore(_NAMED_AT_ONCE)
    calls: list[ModelCall] = []

    async def name(asked: NamingRequest) -> tuple[str, str]:
        async with room:
            answer: Answer[NameReply] = await organizer.name(asked, language)
        calls.extend(answer.calls)
        return asked.node, answer.value.name

    try:
        names = await gather_all(name(asked) for asked in grown.requests)
    finally:  # they were made, whatever comes of the tree
        async with context.database.connection() as connection:
            await model_calls.put(connection, calls, step="create_knowledge_tree")
    made = named(grown.tree, dict(names))
    async with context.database.transaction() as connection:
        if began.id is not None:
            now = await trees.get(connection, request.project_id, began.id, lock=True)
            if now != began:
                raise WorkflowConflict(f"category_id: tree {began.id} has grown meanwhile: ask again")
        kept = await trees.put(connection, request.project_id, None, made)
        answer = _told(kept)
        await context.record(connection, answer)
    return answer


def _told(tree: Tree) -> CreateKnowledgeTreeResponse:
    assert tree.id is not None, "it is kept"
    metadata = tree.metadata
    return CreateKnowledgeTreeResponse(
        tree_id=tree.id,
        title=tree.title,
        node_count=metadata.nodes,
        depth=metadata.depth,
        points=metadata.points,
    )


class GetKnowledgeTreeRequest(Input):
    """A tree, and in which form."""

    project_id: ProjectId
    tree_id: TreeId
    format: Literal["json", "markdown", "graphml"] = "json"


class GetKnowledgeTreeResponse(Output):
    """The tree in the form that was asked for, as text."""

    tree_id: int
    title: str
    format: Literal["json", "markdown", "graphml"]
    content: str


@tool(
    ANALYST,
    rest="GET /projects/{project_id}/trees/{tree_id}",
    effect="reads",
    topic=topic_of_project,
)
async def get_knowledge_tree(
    context: ToolContext, request: GetKnowledgeTreeRequest
) -> GetKnowledgeTreeResponse:
    """Read a tree of knowledge: nodes, edges and metadata as JSON or GraphML, or its points as Markdown."""
    connection = context.connection
    tree = await trees.get(connection, request.project_id, request.tree_id)
    if request.format == "markdown":
        ids = [point for node in tree.nodes for point in node.points]
        found = await evidence.of_project(connection, request.project_id, ids, limit=len(ids))
        content = as_markdown(tree, {point.point_id: point.statement for point in found})
    else:
        content = as_json(tree) if request.format == "json" else as_graphml(tree)
    return GetKnowledgeTreeResponse(
        tree_id=request.tree_id, title=tree.title, format=request.format, content=content
    )


class ListKnowledgeTreesRequest(Input):
    """A project."""

    project_id: ProjectId


class ListKnowledgeTreesResponse(Output):
    """Its trees, the one that has grown last first."""

    trees: tuple[TreeSummary, ...]


@tool(ANALYST, rest="GET /projects/{project_id}/trees", effect="reads", topic=topic_of_project)
async def list_knowledge_trees(
    context: ToolContext, request: ListKnowledgeTreesRequest
) -> ListKnowledgeTreesResponse:
    """List a project's trees of knowledge."""
    found = await trees.recent(context.connection, request.project_id, limit=_MOST_TREES)
    return ListKnowledgeTreesResponse(trees=tuple(found))
