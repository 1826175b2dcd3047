"""How workflows stand: what they came to, why not to what was asked for, and whom nobody drives any more."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

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
_DECIDED = ("rejected", "expired", "void")
_WORDS: Mapping[str, str] = {
    "expired": "nobody decided in time",
    "not_enough": "there was too little to write from",
    "nothing_found": "no page was found",
    "nothing_read": "no page could be read",
    "nothing_extracted": "nothing was found in what was read",
    "nothing_written": "nothing could be written about what was found",
}
_BY_ITSELF = ("failed", "cancelled")
_NO_RUNNER = "no runner is up, so nobody takes it: `signoff up` starts them"


class Came(NamedTuple):
    """What a workflow came to, as its kind calls it, with its error and its result."""

    workflow_id: str
    outcome: str
    error: str | None = None
    result: Mapping[str, Any] | None = None


async def standing(
    connection: Connection, found: Sequence[Workflow], *, kinds: Kinds
) -> list[WorkflowStanding]:
    """How each of these workflows stands, in their order."""
    outcomes = {one.id: _outcome(one, kinds) for one in found}
    why = await reasons(connection, [Came(one.id, outcomes[one.id], one.error, one.result) for one in found])
    going = [one for one in found if one.status in ("queued", "running", "parked")]
    still = await _stands_still(connection, going)
    return [
        WorkflowStanding(
            **dict(one),
            outcome=outcomes[one.id],
            reason=why.get(one.id),
            stands_still=still.get(one.id),
        )
        for one in found
    ]


async def reasons(connection: Connection, found: Sequence[Came]) -> dict[str, str]:
    """Why workflows ended without what was asked for, by their ids: who said no or stopped them, with what
    words, or else what their error or result says.
    """
    why = {one.workflow_id: _told(one) for one in found}
    outcomes = {one.workflow_id: one.outcome for one in found if one.outcome in _DECIDED}
    if outcomes:
        # The last of them ended it: a no at an earlier gate did not.
        cursor = await connection.execute(
            """SELECT DISTINCT ON (workflow_id) workflow_id, status, decided_by, notes FROM approvals
               WHERE workflow_id = ANY(%s) AND status = ANY(%s)
               ORDER BY workflow_id, created_at DESC, length(id) DESC, id DESC""",
            (list(outcomes), list(_DECIDED)),
        )
        for row in await cursor.fetchall():
            if row["status"] == outcomes[row["workflow_id"]]:
                said = reason_of(row["status"], decided_by=row["decided_by"], notes=row["notes"])
                why[row["workflow_id"]] = said
    return {id_: reason for id_, reason in why.items() if reason}


def _outcome(workflow: Workflow, kinds: Kinds) -> str:
    kind = kinds.get(workflow.kind)
    return workflow.status if kind is None else kind.outcome(workflow.status, workflow.result)


def _told(came: Came) -> str | None:
    """What it says itself of why there is nothing; else what its outcome says to anybody."""
    if came.outcome in _BY_ITSELF:
        return came.error
    notes = (came.result or {}).get("desk_notes")
    if came.outcome == "not_enough" and isinstance(notes, list) and notes:
        return "; ".join(str(note) for note in notes)
    return _WORDS.get(came.outcome)


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
