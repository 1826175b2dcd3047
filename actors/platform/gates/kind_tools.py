"""What all tools about one gated kind have in common: who sees one, how it is listed, read and stopped.

A system makes a `KindTools` of its declaration, and its tools of that. Whoever may not see one is told that
there is none. Deciding is in `actors.platform.gates.deciding`.
"""

import functools
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from actors.platform.tools.tool import Output, Tool, ToolContext, tool
from models.errors import PermissionMissing, SignoffError, WorkflowEnded
from models.runtime.gated_kinds import GatedKind
from models.runtime.workflows import Workflow, WorkflowStatus
from models.store.database import Connection
from models.store.runtime import workflows
from models.tools import ToolPermission


class AskedFor(Protocol):
    """One of a kind, as its system keeps it."""

    @property
    def id(self) -> Any:
        """What people call it by."""
        ...

    @property
    def workflow_id(self) -> str:
        """Its workflow."""
        ...

    @property
    def topic(self) -> str:
        """The topic that it is of."""
        ...

    @property
    def requested_by(self) -> str:
        """Who asked for it."""
        ...


One = TypeVar("One", bound=AskedFor)


@dataclass(frozen=True)
class KindTools(Generic[One]):
    """A gated kind, and where its system keeps those of it.

    `noun`: what messages and records call one. `get` finds one by its number, or raises `missing`.
    `statuses`: what a workflow's status is called. `where`: its endpoint, with `{}` for its number.
    """

    kind: GatedKind
    noun: str
    get: Callable[[Connection, Any], Awaitable[One]]
    missing: type[SignoffError]
    statuses: Mapping[Any, Any]
    where: str

    @property
    def on_topic(self) -> ToolPermission:
        """What it takes to see one."""
        return ToolPermission(required_role=self.kind.role, topic_scoped=True)

    @property
    def anywhere(self) -> ToolPermission:
        """What it takes to list them."""
        return ToolPermission(required_role=self.kind.role, topic_scoped=False)

    @property
    def asking(self) -> ToolPermission:
        """What it takes to begin one."""
        return ToolPermission(required_role=self.kind.role, topic_scoped=True, requires_hitl=True)

    def number_in(self, request: Any) -> Any:
        """The number of the one that a request names."""
        return getattr(request, self.kind.number)

    def not_found(self, number: Any) -> SignoffError:
        """What whoever may not see it is told."""
        return self.missing(f"there is no {self.noun} {number}")

    async def visible(self, context: ToolContext, connection: Connection, number: Any) -> One:
        """The one of that number, if the caller may see it; else it is as if it did not exist."""
        one = await self.get(connection, number)
        if not context.caller.has(self.kind.role, one.topic):
            raise self.not_found(number)
        return one

    async def topic(self, context: ToolContext, request: Any) -> str:
        """The topic of the one that the request names."""
        async with context.database.connection() as connection:
            return (await self.visible(context, connection, self.number_in(request))).topic

    async def about(self, context: ToolContext, request: Any) -> tuple[str | None, str | None]:
        """For the record alone, so that it says what a person tried who may not know of it."""
        about = f"{self.noun}:{self.number_in(request)}"
        try:
            return (await self.get(context.connection, self.number_in(request))).topic, about
        except self.missing:
            return None, about

    def reads(
        self, rest: str | None, answer: type[Output]
    ) -> Callable[[Callable[[ToolContext, One, Any], Awaitable[Any]]], Tool]:
        """Make a tool of a function that reads of one: `async def name(context, one, request: Input)`.

        What it returns is answered as `answer`, which has the same fields.
        """

        def make(read: Callable[[ToolContext, One, Any], Awaitable[Any]]) -> Tool:
            @functools.wraps(read)
            async def run(context: ToolContext, request: Any) -> Output:
                one = await self.visible(context, context.connection, self.number_in(request))
                return answer(**dict(await read(context, one, request)))

            run.__annotations__ = {**read.__annotations__, "return": answer}
            return tool(self.on_topic, rest=rest, effect="reads", topic=self.topic)(run)

        return make

    async def recent(self, context: ToolContext, request: Any, find: Callable[..., Awaitable[Any]]) -> Any:
        """Those on the caller's topics that a list asks for; with `mine`, those alone that he asked for."""
        caller = context.caller
        wanted = {name: value for name, value in request if name != "mine"}
        return await find(
            context.connection,
            topics=[t for t in context.config.publishing.topics if caller.has(self.kind.role, t)],
            requested_by=caller.subject if request.mine else None,
            **wanted,
        )

    async def stop(self, context: ToolContext, one: One, reason: str, *, verb: str) -> Workflow:
        """Stop one for good. It is for whoever asked for it, and for the topic's admins.

        Raises:
            PermissionMissing.
            WorkflowEnded: it is over.
        """
        self.check_theirs(context, one, verb=verb)
        connection = context.connection
        try:
            return await workflows.cancel(
                connection, one.workflow_id, reason=f"{reason} ({context.caller.subject})"
            )
        except WorkflowEnded:
            status = await self.status(connection, one)
            raise WorkflowEnded(f"{self.noun} {one.id} is over: {status}") from None

    def check_theirs(self, context: ToolContext, one: One, *, verb: str) -> None:
        """PermissionMissing where it is somebody else's, and the caller none of the topic's admins."""
        caller = context.caller
        if one.requested_by != caller.subject and not caller.has("admin", one.topic):
            raise PermissionMissing(
                f"{one.requested_by} asked for this {self.noun}: for somebody else, only the topic "
                f"{one.topic}'s admins may {verb} it",
                scope=f"{one.topic}:admin",
            )

    async def status(self, connection: Connection, one: One) -> Any:
        """What its status is called."""
        status: WorkflowStatus = (await workflows.get(connection, one.workflow_id)).status
        return self.statuses[status]
