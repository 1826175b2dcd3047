"""Outages as they are shown: what work waits for, and whether each thing that the site needs is there."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict


class Parked(BaseModel):
    """How many workflows wait for something that is away, the first of them since when."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    waits_for: str
    workflows: int
    since: datetime


class Needed(BaseModel):
    """A thing that the site needs. Where it is not ready, `since` says since when, as far as is known."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    ready: bool
    since: datetime | None = None
    reason: str | None = None
