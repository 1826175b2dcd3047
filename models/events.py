"""Events: appended rows that say what happened. They feed progress displays, streams and the audit trail."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict


class Event(BaseModel):
    """One thing that happened. `id` grows, but not in commit order: read through `store.events`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: int
    workflow_id: str | None
    type: str
    data: dict[str, Any]
    at: datetime
