"""What people answer at the gates of an operation, and what they are told. Seed 003.

The names of the seed's fields are kept; beside them stands the digest of what was shown. Unclear is not
yes: what is malformed or contradicts itself is refused, and changes nothing.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, model_validator

from models.operations.operations import OperationStatus
from models.operations.revisions import AgentNames, Feedback, PlanEdit, RevisionType, targets_fault
from models.record import Record
from models.tools import PlainText

ShownDigest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class GateAnswer(BaseModel):
    """What all answers have. Without a digest, only what was shown once can be meant."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    plan_id: Annotated[PlainText, Field(max_length=64)] | None = None
    digest: ShownDigest | None = None


class PlanDecision(GateAnswer):
    """`Plan Approval Response`: yes to the plan, or to what `modified_plan` makes of it; or no, and why.

    A no has another plan made, by what `feedback` says. To end it all, cancel the operation.
    """

    approved: StrictBool
    feedback: Feedback | None = None
    modified_plan: PlanEdit | None = None

    @model_validator(mode="after")
    def _is_clear(self) -> "PlanDecision":
        if not self.approved and self.modified_plan is not None:
            raise ValueError(
                "modified_plan: it is approved as you change it, or rejected with feedback: leave one out"
            )
        if not self.approved and self.feedback is None:
            raise ValueError("feedback: say what another plan should do otherwise")
        return self


class ResultsDecision(GateAnswer):
    """`Final Results Approval Response`: yes to exactly these results, or what is to be done again.

    `export_results` says that they are wanted as files: the answer then says where they are.
    """

    approved: StrictBool
    revision_type: Literal["none"] | RevisionType = "none"
    target_agents: AgentNames = ()
    feedback: Feedback | None = None
    export_results: StrictBool = False

    @model_validator(mode="after")
    def _is_clear(self) -> "ResultsDecision":
        if self.approved and (self.revision_type != "none" or self.target_agents):
            raise ValueError("approved: true and a revision contradict each other: send one of them")
        if not self.approved and self.revision_type == "none":
            raise ValueError(
                "revision_type: say what is to be done again (full_replan, specific_agents or analysis_only)"
            )
        if not self.approved and self.feedback is None:
            raise ValueError("feedback: say what is wrong")
        if fault := targets_fault(self.revision_type, self.target_agents):
            raise ValueError(f"target_agents: {fault}")
        return self


class AgentDecision(GateAnswer):
    """What becomes of an agent that could not do its part, of a write that one wants, or of what one found.

    `retry` has it try again, `skip` goes on without it; `answer` gives a server what it asked a person for,
    in `given`, and `decline` tells it that it is given nothing. `accept` takes what is shown: a write is
    sent, a result is taken; `revise` has the result made again by `feedback`.
    """

    answer: Literal["retry", "skip", "answer", "decline", "accept", "revise"]
    given: Mapping[str, Any] | None = None
    feedback: Feedback | None = None

    @model_validator(mode="after")
    def _is_clear(self) -> "AgentDecision":
        if (self.given is not None) != (self.answer == "answer"):
            raise ValueError("given: it goes with answer, and with nothing else")
        if self.answer == "revise" and self.feedback is None:
            raise ValueError("feedback: say what the agent is to do otherwise")
        return self


class ClarificationResponse(BaseModel):
    """`Clarification Response (Legacy Support)`: `OK` and its kin, as whole answers, are a yes.

    `request_id` is the approval's. `is_approval`, where it is given, must say the same as the text does.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    request_id: Annotated[PlainText, Field(max_length=64)]
    plan_id: Annotated[PlainText, Field(max_length=64)] | None = None
    answer: Feedback
    is_approval: StrictBool | None = None


class OperationDecided(Record):
    """What came of a decision. `digest` is of what the gate shows now, where it takes more people."""

    operation_id: int
    plan_id: str
    approval_id: str
    decision: Literal["approved", "rejected", "pending"]
    status: OperationStatus
    message: str
    digest: str | None = None
    exports: tuple[str, ...] = ()
