"""How workflows stand: what they came to, whom nobody drives any more, and why somebody said no."""

from collections.abc import Mapping, Sequence
from typing import Any

from models.runtime.approvals import reason_of
from models.runtime.standing import WorkflowStanding
from models.runtime.workflow_kinds import Kinds
from models.runtime.workflows import Workflow
from models.store.database import Connection
from models.store.runtime.claimable import WANTED

_UNDRIVEN = (
    "its batch is gone, so nobody drives it: submit the batch again to go on, or end it with "
    "`signoff workflows cancel {id}`"
)
_NO_RUNNER = "no runner is up, so nobody takes it: `signoff up` starts them"


async def standing(
    connection: Connection, found: Sequence[Workflow], *, kinds: Kinds
) -> list[WorkflowStanding]:
    """How each of these workflows stands, in their order."""
    outcomes = {one.id: _outcome(one, kinds) for one in found}
    reasons = await reasons_of(connection, [one for one in found if outcomes[one.id] != one.status])
    going = [one for one in found if one.status in ("queued", "running", "parked")]
    still = await _stands_still(connection, going)
    return [
        WorkflowStanding(
            **dict(one),
            outcome=outcomes[one.id],
            reason=reasons.get(one.id),
            stands_still=still.get(one.id),
        )
        for one in found
    ]


async def reasons_of(connection: Connection, ended: Sequence[Workflow]) -> dict[str, str]:
    """Why workflows ended without what was asked for, by their ids, where anybody or anything says so."""
    if not ended:
        return {}
    cursor = await connection.execute(
        """SELECT DISTINCT ON (workflow_id) workflow_id, status, decided_by, notes FROM approvals
           WHERE workflow_id = ANY(%s) AND status IN ('rejected', 'expired', 'void')
           ORDER BY workflow_id, created_at DESC, length(id) DESC, id DESC""",
        ([one.id for one in ended],),
    )
    said = {
        row["workflow_id"]: reason_of(row["status"], decided_by=row["decided_by"], notes=row["notes"])
        for row in await cursor.fetchall()
    }
    reasons = {one.id: said.get(one.id) or _told(one.result or {}) for one in ended}
    return {id_: reason for id_, reason in reasons.items() if reason}


def _outcome(workflow: Workflow, kinds: Kinds) -> str:
    kind = kinds.get(workflow.kind)
    return workflow.status if kind is None else kind.outcome(workflow.status, workflow.result)


def _told(result: Mapping[str, Any]) -> str | None:
    """What a result itself says of why there is nothing."""
    notes = result.get("desk_notes")
    return "; ".join(str(note) for note in notes) if isinstance(notes, list) and notes else None


async def _stands_still(connection: Connection, going: Sequence[Workflow]) -> dict[str, str]:
    """Why nothing happens with workflows that should be under way, by their ids: nobody drives them."""
    if not going:
        return {}
    cursor = await connection.execute(
        f"""SELECT w.id, NOT {WANTED} AS undriven, w.status <> 'parked'
                   AND NOT EXISTS (SELECT 1 FROM runners r WHERE r.lease_until > now()) AS untaken
            FROM workflows w WHERE w.id = ANY(%s)""".encode(),
        ([one.id for one in going],),
    )
    return {
        row["id"]: _UNDRIVEN.format(id=row["id"]) if row["undriven"] else _NO_RUNNER
        for row in await cursor.fetchall()
        if row["undriven"] or row["untaken"]
    }
