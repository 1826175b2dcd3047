"""Events: appended rows that say what happened. They feed progress displays, streams and the audit trail."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from models.people.scopes import Role, Scope, check_permission
from models.record import Record
from models.runtime.outages import named

# Of events of no topic.
_TOLD_TO_EDITORS = frozenset(("error", "reason"))


class Event(Record):
    """One thing that happened. `id` is its place in the one order of all; 0 while it has none yet.

    Whoever has `role` on `topic` may see it (without a topic: on all topics), and so may `person`, as long as
    they see drafts on the topic (without one: always).
    """

    id: int
    workflow_id: str | None
    type: str
    topic: str | None
    role: Role
    person: str | None
    data: dict[str, Any]
    at: datetime

    def visible_to(self, person: str, scopes: Iterable[Scope]) -> bool:
        """Whether it is this person's business: their own, or a matter of a topic they have the role on.

        What is of no topic is seen with the role on all topics.
        """
        scopes = tuple(scopes)
        if person == self.person and (
            self.topic is None or check_permission(scopes, self._own_takes(), self.topic)
        ):
            return True
        if self.topic is None:
            scopes = [scope for scope in scopes if scope.is_global]
        return check_permission(scopes, self.role, self.topic)

    def as_told_to(self, scopes: Iterable[Scope]) -> "Event":
        """Without why a workflow ended, which may name what a topic keeps, for who edits not all topics.

        Of what it waits for they are told the name, and not where it is.
        """
        less: dict[str, Any] = dict.fromkeys(self.data.keys() & _TOLD_TO_EDITORS)
        if isinstance(waits_for := self.data.get("waits_for"), str):
            less["waits_for"] = named(waits_for)
        everywhere = [scope for scope in scopes if scope.is_global]
        if not less or self.topic is not None or check_permission(everywhere, "editor"):
            return self
        return self.model_copy(update={"data": {**self.data, **less}})

    def _own_takes(self) -> Role:
        """What it takes to be told of what is one's own, as drafts are read there."""
        return "reader" if self.role == "reader" else "editor"
