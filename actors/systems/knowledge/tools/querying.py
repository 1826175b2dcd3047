"""The tool `query_knowledge_base`: what a project's sources say about a question. Seed 002 §6.2.

What it answers is text of outsiders and of models: data, whoever reads it.
"""

from typing import Annotated

from pydantic import Field

from actors.platform.tools.tool import Input, Output, ToolContext, tool
from actors.systems.knowledge.querying import query_project
from actors.systems.knowledge.tools.projects import ANALYST, ProjectId, topic_of_project
from models.knowledge.known import KnowledgeResult
from models.tools import PlainText


class QueryKnowledgeBaseRequest(Input):
    """A question, or words, in any language."""

    query: Annotated[
        PlainText,
        Field(min_length=1, max_length=1000, pattern=r"\S", examples=["What does asyncio.timeout raise?"]),
    ]
    project_id: ProjectId
    limit: int = Field(default=10, ge=1, le=50)


class QueryKnowledgeBaseResponse(Output):
    """Passages, best first. `total` is how many were found before the limit."""

    results: tuple[KnowledgeResult, ...]
    total: int
    note: str | None


@tool(
    ANALYST,
    rest="POST /projects/{project_id}/query",
    effect="reads",
    topic=topic_of_project,
    own_transactions=True,
)
async def query_knowledge_base(
    context: ToolContext, request: QueryKnowledgeBaseRequest
) -> QueryKnowledgeBaseResponse:
    """Search a project's sources, by words and by meaning, with what is known from them."""
    answer = await query_project(
        context.database,
        context.agents,
        context.config.search,
        project_id=request.project_id,
        query=request.query.strip(),
        limit=request.limit,
    )
    return QueryKnowledgeBaseResponse(
        results=tuple(
            KnowledgeResult(
                **found.passage.model_dump(exclude={"id"}),
                similarity_score=found.similarity,
                points=found.points,
            )
            for found in answer.found
        ),
        total=answer.total,
        note=answer.note,
    )
