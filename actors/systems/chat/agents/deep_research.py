"""Deep research in the chat: it is begun, asked after by its number, and stopped; each after a yes.

Called by `analyst`, who begins it, and by `main_chat`, who tells of it. Deciding which pages are read takes
the person where all of them are shown, so the chat only says where that is.
"""

from actors.platform.text.markdown import escaped
from actors.systems.chat.routing.deep_research import ResearchNamed
from actors.systems.chat.turn.chat_agent import AgentContext
from actors.systems.chat.turn.confirmation import agreed
from actors.systems.chat.turn.messages import site_text
from actors.systems.chat.turn.reply import Reply
from models.chat.acts import Act
from models.chat.messages import Route, Turn, WorkflowState
from models.errors import PermissionMissing, SignoffError
from models.research.agent_workflows import ResearchStatusResponse, StartResponse
from models.store.research import agent_workflows
from models.text import seen

_OPERATION = 600  # characters of what it does now, with the words of whoever said no


async def begin(context: AgentContext, turn: Turn, route: Route, reply: Reply, act: Act) -> None:
    """Begin one on the person's own words, once they have said yes."""
    if (yes := await agreed(context, turn, route, reply, act)) is None:
        return
    begun = await reply.call(
        "start_research",
        {
            "topic": act.topic,
            "user_query": act.words and seen(act.words),
            # What was asked about once is begun once, however often its yes is sent.
            "request_id": f"act:{yes.act_id}",
        },
    )
    assert isinstance(begun, StartResponse)
    task_id, state = await _task(context, begun.workflow_id)
    reply.say(
        site_text("deep_research_started", reply.language, RESEARCH_ID=begun.workflow_id, TOPIC=act.topic)
    )
    reply.ends("processing", task_id=task_id, workflow_state=state)


async def tell_of(
    context: AgentContext, turn: Turn, route: Route, reply: Reply, named: ResearchNamed
) -> None:
    """How one stands; or, where it is to be stopped, the question whether that is meant."""
    try:
        if named.stops:
            await _stop(context, turn, route, reply, named.number)
        else:
            await _say_how_it_stands(context, reply, named.number)
    except SignoffError as error:
        _not_done(context, reply, error)


async def stop(context: AgentContext, turn: Turn, route: Route, reply: Reply) -> None:
    """Stop the one that the person has said yes to."""
    assert route.confirmed is not None, "they said yes to it"
    number = route.confirmed.act.research_id
    assert number is not None, "what was asked about is a research"
    try:
        await _stop(context, turn, route, reply, number)
    except SignoffError as error:
        _not_done(context, reply, error)


async def _stop(context: AgentContext, turn: Turn, route: Route, reply: Reply, number: int) -> None:
    act = Act(intent="stop_research", research_id=number)
    if await agreed(context, turn, route, reply, act) is None:
        return
    await reply.call("stop_research", {"workflow_id": number, "reason": "stopped in the chat"})
    reply.say(site_text("deep_research_stopped", reply.language, RESEARCH_ID=number))


async def _say_how_it_stands(context: AgentContext, reply: Reply, number: int) -> None:
    found = await reply.call("get_research", {"workflow_id": number})
    assert isinstance(found, ResearchStatusResponse)
    results, left = found.results, found.progress.estimated_minutes_left
    reply.say(
        site_text(
            "deep_research_stands",
            reply.language,
            RESEARCH_ID=number,
            NAME=escaped(found.name),
            TOPIC=found.topic,
            STATUS=found.status,
            DONE=found.progress.completed_steps,
            PLANNED=found.progress.total_steps,
            OPERATION=escaped(found.progress.current_operation, _OPERATION),
            PAGES=results.urls_discovered if results else 0,
            READ=results.urls_scraped if results else 0,
            POINTS=results.knowledge_points if results else 0,
            MINUTES=None if left is None else max(1, round(left)),
            GATE=found.approval is not None,
        )
    )


async def _task(context: AgentContext, number: int) -> tuple[str, WorkflowState]:
    database = await context.tools.database()
    async with database.connection() as connection:
        research = await agent_workflows.get(connection, number)
    return research.workflow_id, await context.task_state(research.workflow_id)


def _not_done(context: AgentContext, reply: Reply, error: SignoffError) -> None:
    if error.outage:
        raise error
    reply.say(site_text("not_done", reply.language, REASON=str(error)))
    reply.ends("refused" if isinstance(error, PermissionMissing) else "failed")
