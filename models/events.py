"""Events: appended rows that say what happened. They feed progress displays, streams and the audit trail."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict

from models.scopes import Role, Scope, check_permission


class Event(BaseModel):
    """One thing that happened. `id` is its place in the one order of all; 0 while it has none yet.

    Whoever has `role` on `topic` may see it (without a topic: on all topics), and so may `person`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

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
        if person == self.person:
            return True
        if self.topic is None:
            scopes = [scope for scope in scopes if scope.is_global]
        return check_permission(scopes, self.role, self.topic)
