"""What one person is told of one operation over a socket: seed 003's messages, by the rights of now.

Messages are made of the operation's events, so they come in one order and none is missed; what is large in
them is read when it is told, from what is kept for good. Who may see an event is judged here alone, and
anew for each: how a workflow ends has no topic, and an operation's end is its analysts' to know.
"""

import contextlib
import json
from collections.abc import AsyncGenerator
from typing import Any

from models.errors import OperationNotFound
from models.operations.events import ComprehensiveResultsReady, WorkflowProgressUpdate
from models.operations.messages import (
    Message,
    Standing,
    message_of_approval,
    message_of_results,
    message_of_standing,
)
from models.operations.operations import Operation
from models.people.scopes import Scope
from models.people.users import UserContext
from models.runtime.event_catalogue import (
    ApprovalAmended,
    ApprovalRequested,
    WorkflowCancelled,
    WorkflowFailed,
    WorkflowParked,
    WorkflowSucceeded,
)
from models.runtime.events import Event
from models.runtime.outages import named
from models.store import approval_inbox, events
from models.store.database import Connection, Database
from models.store.operations import history
from models.store.runtime import workflows
from serve.streams.feed import Feed, Position
from serve.streams.websocket import Renew

_ASKED = (ApprovalRequested.type, ApprovalAmended.type)
_STANDS = (WorkflowParked.type, WorkflowSucceeded.type, WorkflowFailed.type, WorkflowCancelled.type)
_TOLD = frozenset((WorkflowProgressUpdate.type, ComprehensiveResultsReady.type, *_ASKED, *_STANDS))


class OperationSight:
    """One socket's. It remembers which gates it has shown, so that a right that comes later shows the rest.

    `renew` says what the caller may now: of all that the token carries, also what was revoked at first.
    """

    def __init__(self, database: Database, operation: Operation, caller: UserContext, renew: Renew) -> None:
        self._database, self._operation, self._caller, self._renew = database, operation, caller, renew
        self._shown: set[tuple[str, str]] = set()
        self._scopes: tuple[Scope, ...] | None = None
        self._rested = False

    async def follow(self, feed: Feed, *, after: int) -> AsyncGenerator[str, None]:
        """Each message as it comes, from the event `after` on, until the caller's token is over.

        Raises:
            OperationNotFound: the caller is no analyst of its topic any more.
            Unauthenticated: the token is over.
            DatabaseUnavailable, StreamTooSlow: see `Feed.follow`.
        """
        followed = feed.follow(
            after=after,
            person=self._caller.subject,
            scopes_now=_none,
            types=_TOLD,
            workflow_id=self._operation.workflow_id,
            until=self._caller.expires_at,
            judges=False,
        )
        async with contextlib.aclosing(followed) as items:
            async for item in items:
                if isinstance(item, Position):
                    yield json.dumps({"type": "position", "after": item.after})
                at = item.after if isinstance(item, Position) else item.id
                for type_, data in await self._messages(item):
                    yield json.dumps({"type": type_, "id": at, "data": data})

    async def _messages(self, item: Event | Position) -> list[Message]:
        """What there is to tell now: an event, and the gates that wait which a new right opens to view.

        At the first rest as well: what waits may be older than the event from which a socket goes on.
        """
        rests, scopes = isinstance(item, Position), await self._scopes_now()
        async with self._database.connection() as connection:
            changed = self._scopes not in (None, scopes)
            told = None if isinstance(item, Position) else await self._of_event(connection, item, scopes)
            waiting: list[Message] = []
            if changed or (rests and not self._rested):
                waiting = await self._waiting(connection, item, scopes)
        self._scopes, self._rested = scopes, self._rested or rests
        return ([] if told is None else [told]) + waiting

    async def _scopes_now(self) -> tuple[Scope, ...]:
        """What the caller may now. OperationNotFound where that shows nothing of the operation."""
        caller = await self._renew()
        if not caller.has("analyst", self._operation.topic):
            raise OperationNotFound(f"there is no operation {self._operation.id}")
        return caller.scopes

    async def _of_event(
        self, connection: Connection, event: Event, scopes: tuple[Scope, ...]
    ) -> Message | None:
        """An event as the seed's message; None where it is none, or not to be shown."""
        if event.type == WorkflowProgressUpdate.type:
            return event.type, event.data
        if event.type in _STANDS:
            return await self._standing(connection, event)
        if event.type in _ASKED:
            return await self._asked(connection, str(event.data["approval_id"]), event, scopes)
        if event.type == ComprehensiveResultsReady.type:
            iteration = int(event.data["iteration"])
            results = await history.results_of(connection, self._operation.id, iteration)
            return None if results is None else message_of_results(results, at=event.at)
        return None

    async def _waiting(
        self, connection: Connection, item: Event | Position, scopes: tuple[Scope, ...]
    ) -> list[Message]:
        """The gates that wait, and that this socket has not shown as they are now."""
        pending = await approval_inbox.pending_digests(connection, self._operation.workflow_id)
        due = [approval_id for approval_id, digest in pending if (approval_id, digest) not in self._shown]
        found = [await self._asked(connection, approval_id, item, scopes) for approval_id in due]
        return [message for message in found if message is not None]

    async def _asked(
        self,
        connection: Connection,
        approval_id: str,
        item: Event | Position,
        scopes: tuple[Scope, ...],
    ) -> Message | None:
        """What an approval asks, as it is now, for whoever may read it now."""
        approval = await approval_inbox.get(connection, approval_id)
        if not approval.shown_to(self._caller.subject, scopes):
            return None
        self._shown.add((approval.id, approval.digest))
        at = approval.created_at if isinstance(item, Position) else item.at
        return message_of_approval(approval, at=at)

    async def _standing(self, connection: Connection, event: Event) -> Message:
        """How far it had come when it was parked or ended, as it was then, and why."""
        operation = self._operation
        data = await events.latest_before(
            connection, event.id, workflow_id=operation.workflow_id, type_=WorkflowProgressUpdate.type
        )
        progress = (
            WorkflowProgressUpdate.at_first(operation.id, operation.workflow_id)
            if data is None
            else WorkflowProgressUpdate.model_validate(data)
        )
        status, reason = await self._why(connection, event)
        return message_of_standing(progress, status, reason=reason)

    async def _why(self, connection: Connection, event: Event) -> tuple[Standing, str | None]:
        said: dict[str, Any] = event.data
        if event.type == WorkflowFailed.type:
            return "failed", said.get("error")
        if event.type == WorkflowCancelled.type:
            return "cancelled", said.get("reason")
        if event.type == WorkflowParked.type:
            return "parked", f"it waits for {named(said['waits_for'])}"
        result = (await workflows.get(connection, self._operation.workflow_id)).result or {}
        if result.get("outcome") == "expired":
            return "expired", f"nobody decided in time at the gate {result.get('ended_at')}"
        return "completed", None


async def _none() -> tuple[Scope, ...]:
    """The feed is not to judge."""
    return ()
