"""The tools that follow a research: how far it is, what its agents did and said, and what it came to."""

from typing import Annotated

from pydantic import Field

from actors.platform.tools.tool import Input, Output, ToolContext, tool
from actors.systems.research.tools.visible import RESEARCHES, WorkflowId
from models.research.agent_workflows import AgentWorkflow, AgentWorkflowStatus, ResearchStatusResponse
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


@RESEARCHES.reads("GET /api/v1/agent-workflows/{id=workflow_id}", GetResearchResponse)
async def get_research(
    context: ToolContext, research: AgentWorkflow, request: ResearchRequest
) -> ResearchStatusResponse:
    """Look at a research: how far it is, what it has found, and what it waits for."""
    return await overviews.status(
        context.connection, research, person=context.caller.subject, scopes=context.caller.scopes
    )


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


@tool(RESEARCHES.anywhere, rest="GET /api/v1/agent-workflows", effect="reads")
async def list_research(context: ToolContext, request: ListResearchRequest) -> ListResearchResponse:
    """List researches: what was asked for, and how each stands."""
    return ListResearchResponse(**dict(await RESEARCHES.recent(context, request, overviews.recent)))


class ResearchMessagesResponse(ResearchMessages, Output):
    """What its agents said, the oldest first."""


@RESEARCHES.reads("GET /api/v1/agent-workflows/{id=workflow_id}/messages", ResearchMessagesResponse)
async def read_research_messages(
    context: ToolContext, research: AgentWorkflow, request: ResearchPageRequest
) -> ResearchMessages:
    """Read what the agents of a research did at each step, and why."""
    return await overviews.messages(context.connection, research.id, after=request.after, limit=request.limit)


class ResearchToolUsesResponse(ResearchToolUses, Output):
    """The calls of tools that its agents made, the oldest first."""


@RESEARCHES.reads("GET /api/v1/agent-workflows/{id=workflow_id}/tools", ResearchToolUsesResponse)
async def read_research_tools(
    context: ToolContext, research: AgentWorkflow, request: ResearchPageRequest
) -> ResearchToolUses:
    """Read which tools the agents of a research called, with what came of each call."""
    return await overviews.tool_uses(
        context.connection, research.id, after=request.after, limit=request.limit
    )


class ResearchResultsResponse(ResearchResults, Output):
    """What it has come to so far."""


@RESEARCHES.reads("GET /api/v1/agent-workflows/{id=workflow_id}/results", ResearchResultsResponse)
async def read_research_results(
    context: ToolContext, research: AgentWorkflow, request: ResearchRequest
) -> ResearchResults:
    """Read what a research has come to: its pages, its tree of knowledge, and its sentences."""
    return await overviews.results(context.connection, research)


class ResearchLineageResponse(ResearchLineage, Output):
    """The way back from each sentence."""


@RESEARCHES.reads("GET /api/v1/agent-workflows/{id=workflow_id}/lineage", ResearchLineageResponse)
async def read_research_lineage(
    context: ToolContext, research: AgentWorkflow, request: ResearchRequest
) -> ResearchLineage:
    """Follow each sentence of a research back to the words it rests on, and to whoever let the page in."""
    return await lineage.of_research(context.connection, research)


class ResearchPointsResponse(ResearchPoints, Output):
    """Points, and what each rests on."""


@RESEARCHES.reads("GET /api/v1/agent-workflows/{id=workflow_id}/points", ResearchPointsResponse)
async def read_research_points(
    context: ToolContext, research: AgentWorkflow, request: ResearchPageRequest
) -> ResearchPoints:
    """Follow each point of a research back to the words it rests on, whether a sentence cites it or not."""
    return await lineage.of_points(context.connection, research, after=request.after, limit=request.limit)
