"""What the workshop is asked for, shows, lets people change, and comes to."""

from typing import Annotated, Literal

from pydantic import Field

from models.record import Record
from models.runtime.gated_kinds import Shown
from models.tools import Prose


class ToyOrder(Record):
    """What somebody wishes for."""

    topic: str
    wish: Annotated[Prose, Field(min_length=1, max_length=200)]


class Part(Record):
    """A part of a toy."""

    name: str
    count: int


class ToyPlan(Record):
    """What is built once it is approved."""

    wish: Annotated[str, Shown("quote")]
    wood: Annotated[str, Shown("first")]
    parts: Annotated[tuple[Part, ...], Shown("table", columns=("name", "count"))]


class ToyChange(Record):
    """Another wood, for one."""

    wood: Literal["beech", "oak"]


class Toy(Record):
    """What was built, or why not."""

    decision: str
    toy: str | None = None
