"""An approval that waits, as a gate shows it: for tests of what is made of its content."""

from datetime import UTC, datetime, timedelta
from typing import Any

from models.runtime.approvals import Approval, content_digest


def pending(kind: str, content: dict[str, Any]) -> Approval:
    """One of this kind that shows this, asked for by Ann."""
    now = datetime.now(UTC)
    return Approval(
        id="7",
        workflow_id="w",
        gate="gate",
        kind=kind,
        about="research:1",
        title="A gate",
        content=content,
        digest=content_digest(content),
        requested_by="ann",
        required_scope="macro:analyst",
        four_eyes=False,
        quorum=1,
        votes=(),
        void_reason=None,
        status="pending",
        decided_by=None,
        notes=None,
        created_at=now,
        expires_at=now + timedelta(days=1),
        decided_at=None,
    )
