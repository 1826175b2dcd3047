"""The tools of a gated kind that brings none: made of its declaration, with their endpoints.

One is its workflow, and its number that workflow's id. What it is asked for with is the workflow's input, and
a change of what a gate shows is checked by the kind's own function before it is anybody's yes.
"""

import asyncio
import functools
from collections.abc import Mapping
from dataclasses import replace
from functools import reduce
from operator import or_
from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, Field, create_model

from actors.platform.gates.deciding import ANYONE, change, decide, gate_meant
from actors.platform.gates.kind_tools import KindTools
from actors.platform.system import load_named
from actors.platform.tools.decisions import DecisionResponse, Digest, Notes
from actors.platform.tools.tool import Input, Output, Tool, ToolContext, tool
from actors.platform.tools.visibility import topic_in_request
from models.errors import InputInvalid, WorkflowNotFound
from models.record import Record
from models.runtime.approvals import Approval, GateShown, content_digest
from models.runtime.gated_kinds import Gate, GatedKind
from models.runtime.workflow_kinds import WorkflowKind
from models.runtime.workflows import Permission, Workflow, WorkflowRequest, WorkflowStatus
from models.store import approval_inbox, decisions
from models.store.database import Connection
from models.store.runtime import asked, workflows
from models.tools import PlainText, Prose

TaskNumber = Annotated[PlainText, Field(description="Its number, as starting it told", max_length=64)]


# What people call a workflow's status.
AskedStatus = Literal["pending", "running", "awaiting_approval", "parked", "completed", "failed", "cancelled"]
STATUS_OF: Mapping[WorkflowStatus, AskedStatus] = {
    "queued": "pending",
    "running": "running",
    "waiting": "awaiting_approval",
    "parked": "parked",
    "succeeded": "completed",
    "failed": "failed",
    "cancelled": "cancelled",
}


class AskedTask(Record):
    """A workflow as one of its kind: whose it is, and of which topic."""

    id: str
    workflow_id: str
    topic: str
    requested_by: str
    workflow: Workflow


class TaskInput(Input):
    """One of the kind."""

    task_id: TaskNumber


class StoppedTask(TaskInput):
    """Which one is cancelled, and why; the reason is kept with it."""

    reason: Annotated[Prose, Field(min_length=1, max_length=500)] = "cancelled"


class TaskListRequest(Input):
    """Which ones; `mine`: those alone that the caller asked for."""

    mine: bool = False
    before: TaskNumber | None = None
    limit: Annotated[int, Field(ge=1, le=100)] = 50


class BegunTask(Output):
    """It has a number now, by which it is followed. `new` is false where it was begun before."""

    task_id: str
    status: AskedStatus
    new: bool = True


class AskedStanding(Output):
    """How one stands, with the gate that waits and all that it shows, for those whom it is shown to."""

    task_id: str
    topic: str
    requested_by: str
    status: AskedStatus
    outcome: str
    asked: Mapping[str, Any]
    result: Mapping[str, Any] | None
    error: str | None
    waits_for: str | None
    approval: GateShown | None


class TaskLine(Record):
    """One in a list."""

    task_id: str
    topic: str
    requested_by: str
    status: AskedStatus


class TaskList(Output):
    """Those on the caller's topics, the newest first."""

    tasks: tuple[TaskLine, ...]


class DecidedTask(DecisionResponse):
    """Where the approval stands; `digest` is of what it shows now, where it takes more people."""

    task_id: str
    digest: str | None


class TaskDecision(TaskInput):
    """One person's decision; `digest` is that of what he was shown. A no needs its reason in `notes`."""

    decision: Literal["approve", "reject", "modify"]
    digest: Digest
    notes: Notes | None = None


def tools_of(kind: WorkflowKind, gated: GatedKind) -> tuple[Tool, ...]:
    """The tools of a kind that `made_kind` declares."""
    return _MadeTools(kind, gated).made()


class _MadeTools:
    """What the tools of one kind do."""

    def __init__(self, kind: WorkflowKind, gated: GatedKind) -> None:
        assert gated.asks is not None, "the platform makes tools where it is told what one is asked for with"
        self._kind, self._gated, self._asks = kind, gated, gated.asks
        self._noun = kind.word or kind.name
        self._path = f"/api/kinds/{kind.name.replace('_', '-')}"
        self._tasks: KindTools[AskedTask] = KindTools(
            kind=gated,
            noun=self._noun,
            get=self._find,
            missing=WorkflowNotFound,
            statuses=STATUS_OF,
            where=f"{self._path}/{{}}",
        )

    def made(self) -> tuple[Tool, ...]:
        """Each as a tool, under its kind's name."""
        tasks, path, noun = self._tasks, self._path, self._noun
        one = f"{path}/{{id=task_id}}"
        start = tool(
            tasks.asking, rest=f"POST {path} -> 201", effect=("writes", "asks"), topic=topic_in_request
        )(self._start)
        decided = tool(
            ANYONE, rest=f"POST {one}/decision", effect="writes", about=tasks.about, for_models=False
        )(self._decide)
        made = {
            "start": replace(start, input=self._request("start", (self._asks, Input), _REQUEST_ID)),
            "list": tool(tasks.anywhere, rest=f"GET {path}", effect="reads")(self._list),
            "get": tool(tasks.on_topic, rest=f"GET {one}", effect="reads", topic=tasks.topic)(self._get),
            "cancel": tool(
                tasks.on_topic,
                rest=f"POST {one}/cancel",
                effect="writes",
                topic=tasks.topic,
                about=tasks.about,
            )(self._cancel),
            "retry": tool(
                tasks.on_topic,
                rest=f"POST {one}/retry",
                effect="writes",
                topic=tasks.topic,
                about=tasks.about,
            )(self._retry),
            "decide": replace(decided, input=self._request("decide", (TaskDecision,), self._changes())),
        }
        return tuple(
            replace(each, name=f"{action}_{self._kind.name}", description=_TOLD[action].format(noun))
            for action, each in made.items()
        )

    def _request(
        self, action: str, base: tuple[type[BaseModel], ...], fields: Mapping[str, Any]
    ) -> type[Input]:
        words = "".join(word.title() for word in f"{action}_{self._kind.name}".split("_"))
        made: Any = create_model(f"{words}Request", __base__=base, __doc__=base[0].__doc__, **fields)
        return cast(type[Input], made)

    def _changes(self) -> dict[str, Any]:
        changes = [gate.change for gate in self._gated.gates.values() if gate.change is not None]
        return {"changes": (reduce(or_, changes) | None, None)} if changes else {}

    async def _find(self, connection: Connection, task_id: str) -> AskedTask:
        workflow = await workflows.get(connection, task_id)
        topic = None if workflow.permission is None else workflow.permission.topic
        if workflow.kind != self._kind.name or topic is None:
            raise WorkflowNotFound(f"there is no {self._noun} {task_id}")
        return AskedTask(
            id=workflow.id,
            workflow_id=workflow.id,
            topic=topic,
            requested_by=workflow.requested_by,
            workflow=workflow,
        )

    async def _start(self, context: ToolContext, request: Input) -> BegunTask:
        said = request.model_dump(mode="json")
        request_id = said.pop("request_id")
        workflow, new = await asked.begin(
            context.connection,
            WorkflowRequest(
                kind=self._kind.name,
                input=said,
                input_digest=content_digest(said),
                requested_by=context.caller.subject,
                permission=Permission(role=self._gated.role, topic=said["topic"]),
            ),
            request_id=request_id,
            named=self._kind.name,
            noun=self._noun,
        )
        return BegunTask(task_id=workflow.id, status=STATUS_OF[workflow.status], new=new)

    async def _list(self, context: ToolContext, request: TaskListRequest) -> TaskList:
        find = functools.partial(asked.recent, kind=self._kind.name)
        found: list[Workflow] = await self._tasks.recent(context, request, find)
        return TaskList(
            tasks=tuple(
                TaskLine(
                    task_id=each.id,
                    topic=each.permission.topic,
                    requested_by=each.requested_by,
                    status=STATUS_OF[each.status],
                )
                for each in found
                if each.permission is not None and each.permission.topic is not None
            )
        )

    async def _get(self, context: ToolContext, request: TaskInput) -> AskedStanding:
        connection, caller = context.connection, context.caller
        one = await self._tasks.visible(context, connection, request.task_id)
        waiting = await approval_inbox.pending_of_workflow(connection, one.id)
        shown = next((each for each in waiting if each.shown_to(caller.subject, caller.scopes)), None)
        workflow = one.workflow
        return AskedStanding(
            task_id=one.id,
            topic=one.topic,
            requested_by=one.requested_by,
            status=STATUS_OF[workflow.status],
            outcome=self._kind.outcome(workflow.status, workflow.result),
            asked=workflow.input,
            result=workflow.result,
            error=workflow.error,
            waits_for=workflow.parked_for,
            approval=None if shown is None else GateShown.of(shown, caller.subject, caller.scopes),
        )

    async def _cancel(self, context: ToolContext, request: StoppedTask) -> BegunTask:
        one = await self._tasks.visible(context, context.connection, request.task_id)
        stopped = await self._tasks.stop(context, one, request.reason, verb="cancel")
        if self._kind.stopped is not None:
            await self._kind.stopped(context.connection, one.id, request.reason, context.config)
        return BegunTask(task_id=one.id, status=STATUS_OF[stopped.status], new=False)

    async def _retry(self, context: ToolContext, request: TaskInput) -> BegunTask:
        one = await self._tasks.visible(context, context.connection, request.task_id)
        self._tasks.check_theirs(context, one, verb="retry")
        if self._kind.check_retry is not None:
            await self._kind.check_retry(context.connection, one.workflow)
        again = await workflows.retry(context.connection, one.id)
        return BegunTask(task_id=one.id, status=STATUS_OF[again.status], new=False)

    async def _decide(self, context: ToolContext, request: TaskDecision) -> DecidedTask:
        one, approval = await gate_meant(
            self._tasks, context, request, digest=request.digest, kinds=self._gated.gates.keys()
        )
        changes, digest, notes = getattr(request, "changes", None), request.digest, request.notes
        if (changes is not None) != (request.decision == "modify"):
            raise InputInvalid("changes: they go with modify, and with nothing else")
        if changes is None:
            yes = request.decision == "approve"
            decided = await decide(context, approval, yes=yes, digest=digest, notes=notes)
        else:
            # Before anything is looked at: a change of what is shown no more would mean something else.
            await decisions.check_open(context.connection, approval, digest)
            content = await asyncio.to_thread(_changed, self._gated.gates[approval.kind], approval, changes)
            decided = await change(context, approval, digest=digest, content=content, notes=notes)
        return DecidedTask(
            task_id=one.id,
            approval_id=decided.id,
            about=decided.about,
            status=decided.status,
            approved_by=tuple(vote.voter for vote in decided.votes if vote.decision == "approve"),
            quorum=decided.quorum,
            digest=decided.digest if decided.status == "pending" else None,
        )


def _changed(gate: Gate, approval: Approval, changes: BaseModel) -> dict[str, Any]:
    """What a person makes of what is shown. InputInvalid where it is not to be changed so."""
    if gate.change is None or not isinstance(changes, gate.change):
        raise InputInvalid(f"changes: {approval.title or approval.kind} is not to be changed so")
    assert gate.changed is not None, "what may be changed is changed by a function"
    content: BaseModel = load_named(gate.changed)(gate.content.model_validate(approval.subject), changes)
    return content.model_dump(mode="json")


_REQUEST_ID = {
    "request_id": (
        Annotated[PlainText, Field(min_length=1, max_length=200)] | None,
        Field(default=None, description="Your own name for this request: the same again is the same one"),
    )
}
_TOLD = {
    "start": "Ask for this: {}. It stops where people decide.",
    "list": "List those on your topics: {}.",
    "get": "Look at one ({}): how it stands, and what waits for a decision.",
    "cancel": "Cancel one ({}) for good: once this is answered nothing more is done.",
    "retry": "Begin one ({}) that failed again, from its last step.",
    "decide": "Approve what is shown ({}), approve it with changes, or reject it.\n\n"
    "409, and nothing happens, where `digest` is not that of what is shown now.",
}
