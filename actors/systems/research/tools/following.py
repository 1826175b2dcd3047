"""The tools that follow a research: how far it is, what its agents did and said, and what it came to."""

from typing import Annotated

from pydantic import Field

from actors.platform.tools.tool import Input, Output, ToolContext, tool
from actors.systems.research.tools.visible import (
    ANALYST,
    ANYWHERE,
    ROLE,
    WorkflowId,
    topic_of_research,
    visible_research,
)
from models.research.agent_workflows import AgentWorkflowStatus, ResearchStatusResponse
from models.research.following import (
    ResearchLineage,
    ResearchList,
    ResearchMessages,
    ResearchPoints,
    ResearchResults,
    ResearchToolUses,
)
from models.store.research import lineage, overviews
from models.tools import Number

Limit = Annotated[int, Field(ge=1, le=500)]
After = Annotated[int, Field(ge=0, le=2**53 - 1, description="The id of the last one of the page before")]


class ResearchRequest(Input):
    """A research."""

    workflow_id: WorkflowId


class ResearchPageRequest(Input):
    """A research, and which part of a list of it."""

    workflow_id: WorkflowId
    after: After = 0
    limit: Limit = 100


class GetResearchResponse(ResearchStatusResponse, Output):
    """`WorkflowStatusResponse` of the seed, and what waits for a decision."""


@tool(ANALYST, rest="GET /api/v1/agent-workflows/{id=workflow_id}", effect="reads", topic=topic_of_research)
async def get_research(context: ToolContext, request: ResearchRequest) -> GetResearchResponse:
    """Look at a research: how far it is, what it has found, and what it waits for."""
    research = await visible_research(context, context.connection, request.workflow_id)
    found = await overviews.status(
        context.connection, research, person=context.caller.subject, scopes=context.caller.scopes
    )
    return GetResearchResponse(**dict(found))


class ListResearchRequest(Input):
    """Which researches; `mine`: those alone that the caller asked for, `parent_workflow_id`: its children."""

    status: AgentWorkflowStatus | None = None
    project_id: Number | None = None
    parent_workflow_id: Number | None = None
    mine: bool = False
    before: Number | None = Field(default=None, description="The id of the last one of the page before")
    limit: Annotated[int, Field(ge=1, le=100)] = 50


class ListResearchResponse(ResearchList, Output):
    """Researches on the caller's topics, the newest first."""


@tool(ANYWHERE, rest="GET /api/v1/agent-workflows", effect="reads")
async def list_research(context: ToolContext, request: ListResearchRequest) -> ListResearchResponse:
    """List researches: what was asked for, and how each stands."""
    caller = context.caller
    found = await overviews.recent(
        context.connection,
        topics=[topic for topic in context.config.publishing.topics if caller.has(ROLE, topic)],
        requested_by=caller.subject if request.mine else None,
        status=request.status,
        project_id=request.project_id,
        parent_id=request.parent_workflow_id,
        before=request.before,
        limit=request.limit,
    )
    return ListResearchResponse(**dict(found))


class ResearchMessagesResponse(ResearchMessages, Output):
    """What its agents said, the oldest first."""


@tool(
    ANALYST,
    rest="GET /api/v1/agent-workflows/{id=workflow_id}/messages",
    effect="reads",
    topic=topic_of_research,
)
async def read_research_messages(
    context: ToolContext, request: ResearchPageRequest
) -> ResearchMessagesResponse:
    """Read what the agents of a research did at each step, and why."""
    research = await visible_research(context, context.connection, request.workflow_id)
    found = await overviews.messages(
        context.connection, research.id, after=request.after, limit=request.limit
    )
    return ResearchMessagesResponse(**dict(found))


class ResearchToolUsesResponse(ResearchToolUses, Output):
    """The calls of tools that its agents made, the oldest first."""


@tool(
    ANALYST,
    rest="GET /api/v1/agent-workflows/{id=workflow_id}/tools",
    effect="reads",
    topic=topic_of_research,
)
async def read_research_tools(context: ToolContext, request: ResearchPageRequest) -> ResearchToolUsesResponse:
    """Read which tools the agents of a research called, with what came of each call."""
    research = await visible_research(context, context.connection, request.workflow_id)
    found = await overviews.tool_uses(
        context.connection, research.id, after=request.after, limit=request.limit
    )
    return ResearchToolUsesResponse(**dict(found))


class ResearchResultsResponse(ResearchResults, Output):
    """What it has come to so far."""


@tool(
    ANALYST,
    rest="GET /api/v1/agent-workflows/{id=workflow_id}/results",
    effect="reads",
    topic=topic_of_research,
)
async def read_research_results(context: ToolContext, request: ResearchRequest) -> ResearchResultsResponse:
    """Read what a research has come to: its pages, its tree of knowledge, and its sentences."""
    research = await visible_research(context, context.connection, request.workflow_id)
    found = await overviews.results(context.connection, research)
    return ResearchResultsResponse(**dict(found))


class ResearchLineageResponse(ResearchLineage, Output):
    """The way back from each sentence."""


@tool(
    ANALYST,
    rest="GET /api/v1/agent-workflows/{id=workflow_id}/lineage",
    effect="reads",
    topic=topic_of_research,
)
async def read_research_lineage(context: ToolContext, request: ResearchRequest) -> ResearchLineageResponse:
    """Follow each sentence of a research back to the words it rests on, and to whoever let the page in."""
    research = await visible_research(context, context.connection, request.workflow_id)
    found = await lineage.of_research(context.connection, research)
    return ResearchLineageResponse(**dict(found))


class ResearchPointsResponse(ResearchPoints, Output):
    """Points, and what each rests on."""


@tool(
    ANALYST,
    rest="GET /api/v1/agent-workflows/{id=workflow_id}/points",
    effect="reads",
    topic=topic_of_research,
)
async def read_research_points(context: ToolContext, request: ResearchPageRequest) -> ResearchPointsResponse:
    """Follow each point of a research back to the words it rests on, whether a sentence cites it or not."""
    research = await visible_research(context, context.connection, request.workflow_id)
    found = await lineage.of_points(context.connection, research, after=request.after, limit=request.limit)
    return ResearchPointsResponse(**dict(found))
