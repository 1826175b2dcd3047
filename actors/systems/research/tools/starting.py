"""The tools that begin a research and stop it. Seed 002 §8.2.

Beginning it only asks: pages are read once a person said which, where its gates stand.
"""

from typing import Annotated

from pydantic import Field

from actors.platform.tools.tool import Input, Output, ToolContext, tool
from actors.platform.tools.visibility import known_topic
from actors.systems.knowledge.tools.projects import visible_project
from actors.systems.research.limits import check_asked
from actors.systems.research.plan import plan_of
from actors.systems.research.tools.visible import RESEARCHES, WorkflowId
from models.errors import InputInvalid, PermissionMissing
from models.knowledge.projects import Project
from models.research.agent_workflows import AgentWorkflowStatus, StartRequest, StartResponse
from models.store.knowledge import projects
from models.store.research import agent_workflows, overviews, progress, trees
from models.text import one_line
from models.tools import Prose

_MOST_NAME = 120


class StartResearchRequest(StartRequest, Input):
    """`WorkflowStartRequest` of the seed. Give a `project_id`, or a `topic` in which a project is made."""


class StartResearchResponse(StartResponse, Output):
    """`WorkflowStartResponse` of the seed; follow it with `get_research`."""


async def _topic(context: ToolContext, request: StartResearchRequest) -> str:
    if request.project_id is not None:
        async with context.database.connection() as connection:
            project = await visible_project(context, connection, request.project_id)
        if request.topic not in (None, project.topic):
            raise InputInvalid(
                f"topic: project {project.id} is of {project.topic}, not {request.topic!r}: leave topic out"
            )
        return project.topic
    if request.topic is None:
        raise InputInvalid("project_id: give the project that it is for, or a topic to make one in")
    return known_topic(context.config, request.topic)


@tool(
    RESEARCHES.asking,
    rest="POST /api/v1/agent-workflows/start -> 201",
    effect=("writes", "asks", "leaves the site"),
    topic=_topic,
)
async def start_research(context: ToolContext, request: StartResearchRequest) -> StartResearchResponse:
    """Begin deep research: pages are found, a person says which are read, and a tree of knowledge is made."""
    connection, caller = context.connection, context.caller
    _check_unasked(context, request)
    if request.task_type == "analyze" and request.urls:
        raise InputInvalid(
            "urls: analyze reads no page: leave them out, or ask for research or full_pipeline"
        )
    project = await _project(context, request)
    limits = context.config.research.limits.of(project.topic)
    if not await agent_workflows.is_known(connection, caller.subject, request.request_id):
        check_asked(request, limits)
    if request.config.category_id is not None:
        await trees.get(connection, project.id, request.config.category_id)
    if request.parent_workflow_id is not None:
        await RESEARCHES.visible(context, connection, request.parent_workflow_id)
    research, new = await agent_workflows.start(
        connection,
        request,
        project=project,
        requested_by=caller.subject,
        most_at_once=limits.max_workflows,
    )
    plan = plan_of(research.task_type or "research", request.config)
    minutes = await overviews.estimate(connection, [step.step for step in plan.steps])
    return StartResearchResponse(
        workflow_id=research.id,
        status=await RESEARCHES.status(connection, research),
        estimated_steps=len(plan.steps),
        current_step=(await progress.at_and_after(connection, research.id))[0],
        current_agent="researcher",
        estimated_duration_minutes=plan.estimated_minutes if minutes is None else max(1, round(minutes)),
        message="The research has begun." if new else "It was begun before, by the same request_id.",
        project_id=project.id,
        estimate_is_learnt=minutes is not None,
    )


def _check_unasked(context: ToolContext, request: StartResearchRequest) -> None:
    """That nobody is asked takes a person's own word, and a site where one person's is enough."""
    policy = context.config.research.approval
    if request.config.require_approval:
        return
    if policy.four_eyes or policy.quorum > 1:
        raise InputInvalid(
            "config.require_approval: this site has others decide (research.approval): leave it true"
        )
    if not context.caller.decides:
        raise PermissionMissing(
            "config.require_approval: false means that you approve what is found, which takes a person: this "
            "token is one for an agent or a client; leave it true, or begin it with your own (auth.decide)"
        )


async def _project(context: ToolContext, request: StartResearchRequest) -> Project:
    if request.project_id is not None:
        return await visible_project(context, context.connection, request.project_id)
    if request.config.category_id is not None:
        raise InputInvalid("config.category_id: a tree is its project's: give the project_id as well")
    assert request.topic is not None, "without either its topic is not known"
    project, _ = await projects.find_or_create(
        context.connection,
        topic=request.topic,
        name=one_line(one_line(request.user_query)[:_MOST_NAME]),
        by=context.caller.subject,
    )
    return project


class StopResearchRequest(Input):
    """Which one is stopped, and why; the reason is kept with it."""

    workflow_id: WorkflowId
    reason: Annotated[Prose, Field(min_length=1, max_length=500)] = "stopped"


class StopResearchResponse(Output):
    """That it is stopped. What was found until then stays."""

    workflow_id: int
    status: AgentWorkflowStatus
    message: str


@tool(
    RESEARCHES.on_topic,
    rest="POST /api/v1/agent-workflows/{id=workflow_id}/stop",
    effect="writes",
    topic=RESEARCHES.topic,
    about=RESEARCHES.about,
)
async def stop_research(context: ToolContext, request: StopResearchRequest) -> StopResearchResponse:
    """Stop a research for good: once this is answered nothing more is written, nor another page asked for."""
    research = await RESEARCHES.visible(context, context.connection, request.workflow_id)
    stopped = await RESEARCHES.stop(context, research, request.reason, verb="stop")
    return StopResearchResponse(
        workflow_id=research.id,
        status=RESEARCHES.statuses[stopped.status],
        message="The research is stopped; what it had found stays in its project.",
    )
