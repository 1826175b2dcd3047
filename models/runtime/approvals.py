"""Approvals: what exactly a human is asked to decide, who may decide it, and what was decided.

The digest covers the content that is shown. A decision carries the digest of what the human saw;
if it is not the approval's, nothing happens (409).
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from models.people.scopes import Role, Scope, check_permission, parse_scope
from models.record import Record

ApprovalStatus = Literal["pending", "approved", "rejected", "expired", "void"]
ApprovalKind = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=64)]
GateName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_/]*$", max_length=64)]


class GateRequest(Record):
    """What a gate asks for. `expires_in_seconds` counts from when the approval is written.

    `about` names the thing decided on, such as `article:17`; `title` is how the inbox shows it. It takes
    `quorum` different people who have `required_scope`, or more.
    """

    kind: ApprovalKind
    content: dict[str, Any]
    required_scope: str
    four_eyes: bool
    expires_in_seconds: float = Field(gt=0)
    about: str | None = None
    title: str = ""
    quorum: int = Field(default=1, ge=1)


class GateStop(Record):
    """A gate that a graph has stopped at. Without a `request`, its approval came with the workflow."""

    gate: GateName
    request: GateRequest | None = None


class GateDecision(Record):
    """What a gate gets back. Only `approved` is a yes: to what was asked for, or to `amended`.

    `answer` is what a no asks for instead, where its kind has more to say than no.
    """

    approval_id: str
    status: Literal["approved", "rejected", "expired", "void"]
    decided_by: str | None
    notes: str | None
    amended: dict[str, Any] | None = None
    answer: dict[str, Any] | None = None


class AskedGate(Record):
    """A gate that people were asked at: the digest of what it asked for, and the decision so far."""

    digest: str
    decision: GateDecision | None


class Decision(BaseModel):
    """A human's answer, as it arrives: strict, because unclear is not yes."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    decision: Literal["approve", "reject"]
    digest: str
    notes: str | None = None


class Vote(Record):
    """What one person said."""

    voter: str
    decision: Literal["approve", "reject"]
    notes: str | None
    at: datetime


class Approval(Record):
    """A row of `approvals` with its votes. `content` is what the digest covers, and all that is decided on.

    `gate` is the name under which the workflow waits for it. `void_reason` says what changed. Where somebody
    has amended it, `asked` is what the gate asked for, and `amended_by` who made `content` of that.
    """

    id: str
    workflow_id: str
    gate: str
    kind: str
    about: str | None
    title: str
    content: dict[str, Any]
    digest: str
    requested_by: str
    required_scope: str
    four_eyes: bool
    quorum: int
    votes: tuple[Vote, ...]
    void_reason: dict[str, Any] | None
    asked: dict[str, Any] | None = None
    amended_by: str | None = None
    answer: dict[str, Any] | None = None
    status: ApprovalStatus
    decided_by: str | None
    notes: str | None
    created_at: datetime
    expires_at: datetime
    decided_at: datetime | None

    @property
    def involved(self) -> frozenset[str]:
        """Who asked, and whoever the content names under `involved`: the authors, the submitter."""
        return frozenset((self.requested_by, *_texts(self.content.get("involved"))))

    @property
    def reason(self) -> str | None:
        """Why it is no yes; None while it waits, and of one that was approved."""
        return reason_of(self.status, decided_by=self.decided_by, notes=self.notes)

    @property
    def subject(self) -> dict[str, Any]:
        """What is decided on, in the form that the gate gave it: without who amended it under four eyes."""
        return subject_of(self.content, self.asked)

    @property
    def also_takes(self) -> tuple[str, ...]:
        """Scopes that approving takes beside `required_scope`: of topics whose drafts it reveals."""
        return _texts(self.content.get("also_takes"))

    @property
    def topic(self) -> str | None:
        """The topic it takes a scope on; None when it takes one on all topics."""
        scope = parse_scope(self.required_scope)
        return None if scope.is_global else scope.topic

    def may_be_decided_by(self, person: str, scopes: Iterable[Scope]) -> bool:
        """Whether this person may approve it: has the scopes, and is not involved where that matters."""
        return self.met_by(scopes) and not self.bars(person)

    def bars(self, person: str) -> bool:
        """Whether four eyes keep this person from approving; they may still reject."""
        return self.four_eyes and person in self.involved

    def shown_to(self, person: str, scopes: Iterable[Scope]) -> bool:
        """Whether this person may read it: decides on it, or asked for it and still sees drafts there.

        One on all topics is shown to who asked, as long as they have any scope.
        """
        scopes = tuple(scopes)
        if self.reached_by(scopes):
            return True
        role: Role = "reader" if self.topic is None else role_of_requester(self.about)
        return person == self.requested_by and check_permission(scopes, role, self.topic)

    def reached_by(self, scopes: Iterable[Scope]) -> bool:
        """Whether `scopes` reach the one that deciding takes: with it one may reject."""
        return _reach(scopes, self.required_scope)

    def met_by(self, scopes: Iterable[Scope]) -> bool:
        """Whether `scopes` reach all that approving takes."""
        scopes = tuple(scopes)
        return all(_reach(scopes, wanted) for wanted in (self.required_scope, *self.also_takes))


def subject_of(content: dict[str, Any], asked: dict[str, Any] | None) -> dict[str, Any]:
    """What is decided on, of an approval whose gate asked for `asked` where that was amended."""
    if asked is None or "involved" in asked:
        return content
    return {name: value for name, value in content.items() if name != "involved"}


def reason_of(status: ApprovalStatus, *, decided_by: str | None, notes: str | None) -> str | None:
    """Why an approval is no yes, for whoever asked: who said no with what words, or what else ended it."""
    match status:
        case "rejected":
            said = f": {notes.strip()}" if notes and notes.strip() else ", without a reason"
            return f"rejected by {decided_by or 'somebody'}{said}"
        case "expired":
            return "nobody decided in time"
        case "void":
            return notes or "what was asked for was changed before anybody decided"
        case _:
            return None


def role_of_requester(about: str | None) -> Role:
    """What a person needs in its topic to still see what he asked for: of an operation, that he may ask."""
    return "analyst" if (about or "").startswith("operation:") else "editor"


class GateShown(Record):
    """The gate that waits for a person: decide on it with its digest."""

    approval_id: str
    kind: str
    digest: str
    title: str
    content: Mapping[str, Any]
    expires_at: datetime
    may_decide: bool
    amended_by: str | None = None

    @classmethod
    def of(cls, approval: Approval, person: str, scopes: Iterable[Scope]) -> Self:
        """An approval that waits, as this person sees it."""
        return cls(
            **approval.model_dump(include=cls.model_fields.keys() & Approval.model_fields.keys()),
            approval_id=approval.id,
            may_decide=approval.may_be_decided_by(person, scopes),
        )


class ApprovalSummary(BaseModel):
    """A line of a person's inbox. `age_seconds` counts from the request, by the server's clock.

    `reason` is why it is no yes: who said no with what words, or what else ended it.
    `may_decide`: this person may approve it, with a token of their own for that (`decides` of `/api/me`).
    Clients read it too, so a newer site's may say more.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    kind: str
    about: str | None
    title: str
    topic: str | None
    requested_by: str
    required_scope: str
    quorum: int
    approved_by: tuple[str, ...]
    amended_by: str | None = None
    status: ApprovalStatus
    reason: str | None = None
    digest: str
    created_at: datetime
    age_seconds: float
    expires_at: datetime
    may_decide: bool

    @classmethod
    def of(cls, approval: Approval, person: str, scopes: Iterable[Scope]) -> Self:
        """An approval as this person sees it now."""
        return cls(
            **approval.model_dump(include=cls.model_fields.keys() & Approval.model_fields.keys()),
            topic=approval.topic,
            reason=approval.reason,
            approved_by=tuple(vote.voter for vote in approval.votes if vote.decision == "approve"),
            age_seconds=(datetime.now(UTC) - approval.created_at).total_seconds(),
            may_decide=approval.status == "pending" and approval.may_be_decided_by(person, scopes),
        )

    @property
    def seconds_left(self) -> float:
        """Until it expires, by the server's clock."""
        return (self.expires_at - self.created_at).total_seconds() - self.age_seconds


class ApprovalDetails(ApprovalSummary):
    """All of it: `content` is exactly what the digest covers. `void_reason` says what changed.

    `asked` is what was asked for before `amended_by` made `content` of it; None where nobody has.
    """

    workflow_id: str
    content: dict[str, Any]
    votes: tuple[Vote, ...]
    decided_by: str | None
    decided_at: datetime | None
    notes: str | None
    void_reason: dict[str, Any] | None
    asked: dict[str, Any] | None = None


def _texts(value: object) -> tuple[str, ...]:
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()


def _reach(scopes: Iterable[Scope], text: str) -> bool:
    """Whether scopes reach a wanted one; one on all topics is reached only by such a one."""
    wanted = parse_scope(text)
    if wanted.is_global:
        scopes = [scope for scope in scopes if scope.is_global]
        return check_permission(scopes, wanted.role)
    return check_permission(scopes, wanted.role, wanted.topic)


def content_digest(content: Any) -> str:
    """SHA-256 (hex) of JSON content in canonical form: sorted keys, no spaces, UTF-8 (after RFC 8785)."""
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()
