"""What a person answers at a gate of a research. Seed 002 §8.2 (`ApprovalRequest`, `ApprovalResponse`).

The names of the seed's fields are kept. Beside them stand what the seed's other gates need, and the digest of
what was shown.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, FailFast, Field, field_validator

from models.record import Record
from models.research.agent_workflows import AgentWorkflowStatus, Step, Url
from models.research.tree_edits import MOST_EDITS, TreeEdit
from models.research.url_lists import InsteadOf
from models.tools import Prose

_MOST_NOTES = 5000


class Modifications(BaseModel):
    """`ApprovalModifications`: what is approved in place of what was shown.

    `add_urls`, `remove_urls` (numbers of the list) and `modify_config` are for the gate of addresses;
    `instead` for that of pages that could not be read; `tree_edits`, in their order, for that of categories.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    add_urls: Annotated[tuple[Url, ...], FailFast()] = Field(default=(), max_length=200)
    remove_urls: Annotated[tuple[Annotated[int, Field(ge=1, strict=True)], ...], FailFast()] = Field(
        default=(), max_length=200
    )
    modify_config: Mapping[str, Any] = {}
    notes: Annotated[Prose, Field(max_length=_MOST_NOTES)] | None = None
    instead: Annotated[tuple[InsteadOf, ...], FailFast()] = Field(default=(), max_length=200)
    tree_edits: Annotated[tuple[TreeEdit, ...], FailFast()] = Field(default=(), max_length=MOST_EDITS)

    @field_validator("add_urls", "remove_urls", "modify_config", "instead", "tree_edits", mode="before")
    @classmethod
    def _absent(cls, given: Any, info: Any) -> Any:
        if given is None:
            return {} if info.field_name == "modify_config" else ()
        return given

    @field_validator("modify_config", mode="before")
    @classmethod
    def _plain(cls, given: Any) -> Any:
        """Unclear is not yes: what JSON can't keep, or what would be read as another, is no setting."""
        for name, value in given.items() if isinstance(given, dict) else ():
            if not isinstance(value, bool | int | str | None):
                raise ValueError(f"{name}: give true, false, a whole number, a text, or null")
        return given


class ApproveRequest(BaseModel):
    """`ApprovalRequest`. `digest` says what was shown; without it only what was shown once can be meant.

    A rejection needs its reason in `notes`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    decision: Literal["approve", "reject", "modify"]
    modifications: Modifications | None = None
    digest: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = None
    notes: Annotated[Prose, Field(max_length=_MOST_NOTES)] | None = None


class ApproveResponse(Record):
    """`ApprovalResponse`. `next_step` is what it does next, or `completed` where this ends it.

    `digest` is of what the gate shows now, where it takes more people; None where it is decided.
    """

    message: str
    workflow_id: int
    status: AgentWorkflowStatus
    next_step: Step | Literal["completed"]
    digest: str | None = None
