"""Which researches a caller sees: those on topics in which he is an analyst, or more."""

from typing import Annotated, Any

from pydantic import Field

from actors.platform.tools.tool import ToolContext
from models.errors import ResearchNotFound
from models.people.scopes import Role
from models.research.agent_workflows import AgentWorkflow
from models.store.database import Connection
from models.store.research import agent_workflows
from models.tools import Number, ToolPermission

ROLE: Role = "analyst"
ANALYST = ToolPermission(required_role=ROLE, topic_scoped=True)
ANYWHERE = ToolPermission(required_role=ROLE, topic_scoped=False)
WorkflowId = Annotated[Number, Field(description="The research, by its number", examples=[12])]


async def visible_research(context: ToolContext, connection: Connection, workflow_id: int) -> AgentWorkflow:
    """The research, if the caller may see it; else ResearchNotFound, as if it did not exist."""
    research = await agent_workflows.get(connection, workflow_id)
    if not context.caller.has(ROLE, research.topic):
        raise ResearchNotFound(f"there is no research {workflow_id}")
    return research


async def topic_of_research(context: ToolContext, request: Any) -> str:
    """The topic of the research that the request names."""
    async with context.database.connection() as connection:
        return (await visible_research(context, connection, request.workflow_id)).topic


async def about_research(context: ToolContext, request: Any) -> tuple[str | None, str | None]:
    """For the record alone, so that it says what a person tried who may not know of the research."""
    about = f"research:{request.workflow_id}"
    try:
        return (await agent_workflows.get(context.connection, request.workflow_id)).topic, about
    except ResearchNotFound:
        return None, about
