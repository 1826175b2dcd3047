"""Approvals: what exactly a human is asked to decide, who may decide it, and what was decided.

The digest covers the content that is shown. A decision carries the digest of what the human saw;
if it is not the approval's, nothing happens (409).
"""

import hashlib
import json
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

ApprovalStatus = Literal["pending", "approved", "rejected", "expired", "void"]
Kind = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=64)]


class GateRequest(BaseModel):
    """What a gate asks for. `expires_in_seconds` counts from when the approval is written."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Kind
    content: dict[str, Any]
    required_scope: str
    four_eyes: bool
    expires_in_seconds: float = Field(gt=0)


class GateDecision(BaseModel):
    """What a gate gets back. Only `approved` is a yes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    approval_id: str
    status: Literal["approved", "rejected", "expired", "void"]
    decided_by: str | None
    notes: str | None


class Decision(BaseModel):
    """A human's answer, as it arrives: strict, because unclear is not yes."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    decision: Literal["approve", "reject"]
    digest: str
    notes: str | None = None


class Approval(BaseModel):
    """A row of `approvals`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    workflow_id: str
    interrupt_id: str
    kind: str
    content: dict[str, Any]
    digest: str
    requested_by: str
    required_scope: str
    four_eyes: bool
    status: ApprovalStatus
    decided_by: str | None
    notes: str | None
    created_at: datetime
    expires_at: datetime
    decided_at: datetime | None


def content_digest(content: Any) -> str:
    """SHA-256 (hex) of JSON content in canonical form: sorted keys, no spaces, UTF-8 (after RFC 8785)."""
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()
