"""Outages as they are shown: what work waits for, and whether each thing that the site needs is there."""

import re
from datetime import datetime

from models.record import Record

# Where a model is, or what is wrong with it.
_MORE = re.compile(r" at |: | \(")
# As `actors.platform.llm.endpoint` and its like name an endpoint, within what went wrong with it.
_ENDPOINT = re.compile(r"\b(model \S+) at https?://\S*?(?=[:,;.]?(?:\s|$))")


def named(waits_for: str) -> str:
    """The name of what is waited for, as those are told it who need not know where it is, or why."""
    return _MORE.split(waits_for, maxsplit=1)[0]


def without_addresses(error: str) -> str:
    """What went wrong, without where models are."""
    return _ENDPOINT.sub(r"\1", error)


class Parked(Record):
    """How many workflows wait for something that is away, the first of them since when."""

    waits_for: str
    workflows: int
    since: datetime


class Needed(Record):
    """A thing that the site needs. Where it is not ready, `since` says since when, as far as is known."""

    name: str
    ready: bool
    since: datetime | None = None
    reason: str | None = None
