"""A gated kind: work that stops where people decide, and what its doors must know of it, declared once.

It hangs on a `WorkflowKind` in its system's `system.py`. Tools are named, not imported: `serve` makes paths
of them. What has no hint is shown all the same: a decision binds to all of a content.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Literal

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema

from models.people.scopes import Role

# How a field is shown. table: a list, with the columns that are named. quote: somebody else's words.
Look = Literal["table", "hidden", "money", "time", "quote", "link", "first"]


@dataclass(frozen=True)
class Shown:
    """How whoever shows a field's values may show them; it stands in the field's `Annotated`."""

    how: Look
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class Gate:
    """A gate: the record of what is shown there, and the tool by which people answer.

    `change` is the record of what a person may change of it, and `changed` is where the function is that
    makes the changed content of content and change, as `module:NAME`.
    """

    content: type[BaseModel]
    decide: str = "decide_approval"
    change: type[BaseModel] | None = None
    changed: str | None = None


@dataclass(frozen=True)
class GatedKind:
    """What doors know of a kind.

    `role`: who sees it, on its topic. `number`: the field by which tools name one. `actions`: the tools by
    what they do (`start`, `list`, `get`, `cancel`, …). `gates`: by the kinds of their approvals. `stages`: in
    their order. `exports`: the formats that the action `export` takes. `asks`: where the platform makes the
    kind's tools (`made_kind`), the record of what one is asked for with, which has a `topic`.
    """

    role: Role
    number: str
    actions: Mapping[str, str] = field(default_factory=dict)
    gates: Mapping[str, Gate] = field(default_factory=dict)
    stages: tuple[str, ...] = ()
    exports: tuple[str, ...] = ()
    asks: type[BaseModel] | None = None


# What the platform's own tools of a kind do.
ACTIONS = ("start", "list", "get", "cancel", "retry")


def made_kind(
    name: str, *, role: Role, asks: type[BaseModel], gates: Mapping[str, Gate], stages: tuple[str, ...] = ()
) -> GatedKind:
    """A kind whose tools the platform makes (`actors.platform.gates.made_tools`), under its name."""
    return GatedKind(
        role=role,
        number="task_id",
        actions={action: f"{action}_{name}" for action in ACTIONS},
        gates={kind: replace(gate, decide=f"decide_{name}") for kind, gate in gates.items()},
        stages=stages,
        asks=asks,
    )


class _WithHints(GenerateJsonSchema):
    """JSON Schema with the hints of `Shown`: `x-show`, and a table's `x-columns`."""

    def model_schema(self, schema: Any) -> dict[str, Any]:
        """See `GenerateJsonSchema`."""
        made = super().model_schema(schema)
        for name, info in schema["cls"].model_fields.items():
            for hint in info.metadata:
                if isinstance(hint, Shown):
                    told: dict[str, Any] = {"x-show": hint.how}
                    if hint.columns:
                        told["x-columns"] = list(hint.columns)
                    made["properties"][name] = {**made["properties"][name], **told}
        return made


@cache
def shown_schema(record: type[BaseModel]) -> Mapping[str, Any]:
    """The JSON Schema of a record, with its hints. It is made once."""
    return record.model_json_schema(schema_generator=_WithHints)
