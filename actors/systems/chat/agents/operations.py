"""Operations in the chat: begun, asked after by their number, and cancelled; what is written, after a yes.

Called by `analyst`, who begins one, and by `main_chat`, who tells of it. Deciding on a plan or on results
takes the person where all of it is shown, so the chat only says where that is. Seed 003.
"""

from actors.platform.text.markdown import escaped
from actors.systems.chat.routing.operations import OperationNamed, asks_for_operation, is_bare_wish
from actors.systems.chat.turn.chat_agent import AgentContext
from actors.systems.chat.turn.confirmation import agreed
from actors.systems.chat.turn.messages import site_text
from actors.systems.chat.turn.reply import Reply
from models.chat.acts import Act
from models.chat.messages import Route, Turn
from models.config import Config
from models.errors import InputInvalid, OperationNotFound, PermissionMissing, SignoffError
from models.operations.following import IterationResults
from models.operations.operations import MOST_QUESTION, OVER, OperationBegun, OperationStatusResponse
from models.record import Record
from models.text import seen

# Conflicts that are told here, and characters of each: all of them are in the results.
_CONFLICTS, _CONFLICT = 8, 500
# Stages of a first iteration in which there is nothing found yet.
_TOO_EARLY = frozenset(
    {
        "plan_creation",
        "plan_approval",
        "gmail_execution",
        "ap_execution",
        "crm_execution",
        "analysis_execution",
    }
)


def is_wanted(turn: Turn, route: Route) -> bool:
    """Whether a turn that came to the analyst is to begin an operation, or is the yes to one."""
    if route.confirmed is not None:
        return route.confirmed.act.intent == "operation"
    return asks_for_operation(turn.message)


def cannot_begin(context: AgentContext, reply: Reply) -> bool:
    """Say why no operation is begun at this site, if none is."""
    settings = context.config.operations
    if settings.sources and _type_with_plan(context.config) is not None:
        return False
    reply.say(
        site_text("operation_not_here", reply.language, MISSING="types" if settings.sources else "sources")
    )
    reply.ends("failed")
    return True


async def begin(context: AgentContext, turn: Turn, route: Route, reply: Reply) -> None:
    """Begin one on the person's own words, once they have said yes. `route` has its topic."""
    if route.confirmed is not None:
        act = route.confirmed.act
    else:
        query = turn.message.strip()
        if len(query) > MOST_QUESTION:
            raise InputInvalid(
                f"message: an operation takes {MOST_QUESTION} characters at most: say it in fewer"
            )
        if is_bare_wish(query):
            raise InputInvalid("message: say what the operation is to find out")
        act = Act(intent="operation", topic=route.topic, words=query)
    # What was said of its plan must still be so.
    act = act.model_copy(update={"task_type": _type_with_plan(context.config)})
    if (yes := await agreed(context, turn, route, reply, act)) is None:
        return
    begun = await reply.call(
        "start_operation",
        {
            "topic": act.topic,
            "query": act.words and seen(act.words),
            "task_type": act.task_type,
            # What was asked about once is begun once, however often its yes is sent.
            "request_id": f"act:{yes.act_id}",
        },
    )
    assert isinstance(begun, OperationBegun)
    state = await context.task_state(begun.plan_id)
    reply.say(
        site_text("operation_started", reply.language, OPERATION_ID=begun.operation_id, TOPIC=act.topic)
    )
    reply.ends("processing", task_id=begun.plan_id, workflow_state=state)


async def tell_of(
    context: AgentContext, turn: Turn, route: Route, reply: Reply, named: OperationNamed
) -> None:
    """How one stands; or, where it is to be cancelled, the question whether that is meant."""
    try:
        if named.cancels:
            await _cancel(context, turn, route, reply, named.number)
        else:
            await _say_how_it_stands(context, reply, named.number)
    except SignoffError as error:
        _not_done(context, reply, error)


async def cancel(context: AgentContext, turn: Turn, route: Route, reply: Reply) -> None:
    """Cancel the one that the person has said yes to."""
    assert route.confirmed is not None, "they said yes to it"
    number = route.confirmed.act.operation_id
    assert number is not None, "what was asked about is an operation"
    try:
        await _cancel(context, turn, route, reply, number)
    except SignoffError as error:
        _not_done(context, reply, error)


async def _cancel(context: AgentContext, turn: Turn, route: Route, reply: Reply, number: int) -> None:
    act = Act(intent="cancel_operation", operation_id=number)
    if await agreed(context, turn, route, reply, act) is None:
        return
    await reply.call("cancel_operation", {"operation_id": number, "reason": "cancelled in the chat"})
    reply.say(site_text("operation_cancelled", reply.language, OPERATION_ID=number))


async def _say_how_it_stands(context: AgentContext, reply: Reply, number: int) -> None:
    found = await reply.call("get_operation", {"operation_id": number})
    assert isinstance(found, OperationStatusResponse)
    progress, gate = found.progress, found.approval
    results = await _results(reply, found)
    reply.say(
        site_text(
            "operation_stands",
            reply.language,
            OPERATION_ID=number,
            NAME=escaped(found.name),
            TOPIC=found.topic,
            STATUS=found.status,
            OVER=found.status in OVER,
            OUTCOME=found.outcome,
            STAGE=progress.current_stage,
            ITERATION=found.iteration,
            DONE=progress.completed_agents,
            PENDING=progress.pending_agents,
            GATE=None if gate is None else gate.kind,
            TITLE=None if gate is None else escaped(gate.title),
            MAY_DECIDE=gate is not None and gate.may_decide,
            WAITS_FOR=None if found.waits_for is None else escaped(found.waits_for),
            REASON=None if found.reason is None else escaped(found.reason, _CONFLICT),
            FOUND=None if results is None else findings_told(results),
        )
    )


class FindingsTold(Record):
    """What an iteration came to, as it is told: all text that is not the site's own is escaped."""

    iteration: int
    approved_by: str | None
    conflicts: int
    pairs: int
    told: tuple[str, ...]
    missing: tuple[str, ...]
    mocked: tuple[str, ...]


def findings_told(one: IterationResults) -> FindingsTold:
    """The results of an iteration as the chat tells them."""
    results = one.results
    return FindingsTold(
        iteration=one.iteration,
        approved_by=escaped(one.approved_by or "a person") if one.approved else None,
        conflicts=len(results.conflicts),
        pairs=len(results.matches),
        told=tuple(escaped(each.explanation, _CONFLICT) for each in results.conflicts[:_CONFLICTS]),
        missing=tuple(escaped(each) for each in results.missing),
        mocked=results.stand_ins,
    )


async def _results(reply: Reply, found: OperationStatusResponse) -> IterationResults | None:
    """Those of the last iteration that came to any; None where none did yet."""
    if found.iteration == 1 and found.progress.current_stage in _TOO_EARLY:
        return None
    try:
        results = await reply.call("read_operation_results", {"operation_id": found.operation_id})
    except OperationNotFound:
        return None
    assert isinstance(results, IterationResults)
    return results


def _type_with_plan(config: Config) -> str | None:
    """The first of the site's types of operations whose plan is approved before anything is read."""
    types = config.operations.task_types
    return next((name for name, each in types.items() if "plan" in each.gates), None)


def _not_done(context: AgentContext, reply: Reply, error: SignoffError) -> None:
    if error.outage:
        raise error
    reply.say(site_text("not_done", reply.language, REASON=str(error)))
    reply.ends("refused" if isinstance(error, PermissionMissing) else "failed")
