"""Tools as permissions and records see them (seed 000 §6.1). The tools are in `actors/platform/tools`."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Field

from models.errors import PermissionMissing
from models.people.scopes import Role, Scope, check_permission
from models.record import Record
from models.text import unseen_in, unstorable

Door = Literal["rest", "mcp", "agent"]


def _storable(text: str) -> str:
    if fault := unstorable(text):
        raise ValueError(fault)
    return text


def _label(text: str) -> str:
    if fault := unseen_in(text, lines=False):
        raise ValueError(fault)
    return text


def _prose(text: str) -> str:
    if fault := unseen_in(text, lines=True):
        raise ValueError(fault)
    return text


PlainText = Annotated[str, AfterValidator(_storable)]
# What is shown to others: a headline, a name, a title on one line; a note, a reason on several.
Label = Annotated[PlainText, AfterValidator(_label)]
Prose = Annotated[PlainText, AfterValidator(_prose)]
# The largest that every JSON parser keeps whole (RFC 8259 §6).
Number = Annotated[int, Field(ge=1, le=2**53 - 1)]


class ToolPermission(Record):
    """What it takes to use a tool.

    `topic_scoped`: the role is needed on the topic that the call is about. `global_admin_override` false:
    a `global:` scope does not count. `requires_hitl`: it only asks, and a human decides.
    """

    required_role: Role
    topic_scoped: bool
    global_admin_override: bool = True
    requires_hitl: bool = False

    def permits(self, scopes: Iterable[Scope], topic: str | None = None) -> bool:
        """Whether `scopes` may use the tool on `topic`; without a topic: on any, as for a list of tools."""
        return check_permission(
            scopes,
            self.required_role,
            topic if self.topic_scoped else None,
            global_admin_override=self.global_admin_override,
        )

    def require(
        self, tool: str, scopes: Iterable[Scope], topic: str | None, *, topics: Sequence[str]
    ) -> None:
        """Raise PermissionMissing, with the scopes each of which will do, unless `permits`.

        Args:
            topics: those that may be meant where `topic` is None, and that the caller may be told of.
        """
        if not self.permits(scopes, topic):
            meant = [topic] if topic and self.topic_scoped else topics
            wanted = [f"{each}:{self.required_role}" for each in meant]
            told = f"{tool} takes the scope {' or '.join(wanted)}"
            raise PermissionMissing(told, scope=" ".join(wanted))


class ToolCall(Record):
    """A row of `tool_calls`: who called what, through which door, and what came of it.

    `status` is `ok` or the error's name; `input_digest` is SHA-256 of the canonical input.
    """

    id: int
    person: str
    tool: str
    door: str
    topic: str | None
    about: str | None
    input_digest: str
    status: str
    error: str | None
    seconds: float
    at: datetime


def about_of(*told: Mapping[str, Any] | BaseModel | None) -> str | None:
    """What a call is about, such as `article:17`, by its arguments and its answer: an article first."""
    for noun in ("article", "resource"):
        for each in told:
            name = f"{noun}_id"
            number = each.get(name) if isinstance(each, Mapping) else getattr(each, name, None)
            if number is not None:
                return f"{noun}:{number}"
    return None
