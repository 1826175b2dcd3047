"""All that Postgres has of one operation, read at once: what the laws of operations are checked on."""

import dataclasses
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import Any

from models.operations.items import SourceAgent
from models.operations.tasks import ReadingOutcome
from models.store.database import Database

Row = Mapping[str, Any]
_ALL = """SELECT jsonb_build_object(
    'operation', (SELECT to_jsonb(o) FROM operations o WHERE o.id = %(id)s),
    'workflow', (SELECT to_jsonb(w) FROM workflows w WHERE w.id = %(workflow)s),
    'approvals', (SELECT coalesce(jsonb_agg(to_jsonb(a) ORDER BY a.id::int), '[]')
                  FROM approvals a WHERE a.workflow_id = %(workflow)s),
    'votes', (SELECT coalesce(jsonb_agg(to_jsonb(v) ORDER BY v.approval_id, v.voter), '[]')
              FROM approval_votes v JOIN approvals a ON a.id = v.approval_id
              WHERE a.workflow_id = %(workflow)s),
    'history', (SELECT coalesce(jsonb_agg(to_jsonb(h) ORDER BY h.id), '[]')
                FROM operation_history h WHERE h.operation_id = %(id)s),
    'iterations', (SELECT coalesce(jsonb_agg(to_jsonb(i) ORDER BY i.iteration), '[]')
                   FROM operation_iterations i WHERE i.operation_id = %(id)s),
    'documents', (SELECT coalesce(jsonb_agg(to_jsonb(d) ORDER BY d.created_at, d.key), '[]')
                  FROM documents d WHERE d.workflow_id = %(workflow)s),
    'events', (SELECT coalesce(jsonb_agg(to_jsonb(e) ORDER BY e.id), '[]')
               FROM incoming_events e WHERE e.workflow_id = %(workflow)s)
) AS found"""


@dataclasses.dataclass(frozen=True)
class OperationFacts:
    """The rows of an operation; two are equal where nothing at all has changed."""

    rows: Mapping[str, Any]

    @property
    def status(self) -> str:
        """The workflow's."""
        return str(self.rows["workflow"]["status"])

    @property
    def outcome(self) -> str | None:
        """How it ended, where it succeeded."""
        return (self.rows["workflow"]["result"] or {}).get("outcome")

    @property
    def ended(self) -> bool:
        """Whether it is over for good."""
        return self.status in ("succeeded", "failed", "cancelled")

    @property
    def approvals(self) -> Sequence[Row]:
        """Everything that people were asked, in its order."""
        return list(self.rows["approvals"])

    @property
    def history(self) -> Sequence[Row]:
        """What it says has happened."""
        return list(self.rows["history"])

    @property
    def iterations(self) -> Sequence[Row]:
        """What each came to."""
        return list(self.rows["iterations"])

    @property
    def pending(self) -> Row | None:
        """What people are asked now."""
        return next((one for one in self.approvals if one["status"] == "pending"), None)

    @cached_property
    def documents(self) -> Mapping[str, Row]:
        """Its journal, by key."""
        return {one["key"]: one for one in self.rows["documents"]}

    def asked(self, *kinds: str) -> list[Row]:
        """What people were asked of these kinds."""
        return [one for one in self.approvals if one["kind"] in kinds]

    def decided(self, *kinds: str) -> list[Row]:
        """What was decided or has expired, of these kinds."""
        return [one for one in self.asked(*kinds) if one["status"] not in ("pending", "void")]

    def told(self, stage: str) -> list[Row]:
        """The history's entries of a stage."""
        return [one for one in self.history if one["stage"] == stage]

    def numbered(self, prefix: str) -> list[Row]:
        """Documents `prefix/1`, `prefix/2`, … as far as they go."""
        found = []
        while (one := self.documents.get(f"{prefix}/{len(found) + 1}")) is not None:
            found.append(one)
        return found

    def readings(self, agent: SourceAgent) -> list[tuple[datetime, ReadingOutcome]]:
        """What was kept of each reading of an agent, with when."""
        return [
            (moment(one["created_at"]), ReadingOutcome.model_validate(one["value"]))
            for one in self.numbered(f"read/{agent}")
        ]


def moment(text: str) -> datetime:
    """A time as Postgres writes it into JSON."""
    return datetime.fromisoformat(text)


def subject(approval: Row) -> dict[str, Any]:
    """What was shown, less who is involved."""
    return {name: value for name, value in approval["content"].items() if name != "involved"}


async def facts_of(database: Database, operation_id: int, workflow_id: str) -> OperationFacts:
    """Read them, of one moment."""
    async with database.connection() as connection:
        cursor = await connection.execute(_ALL, {"id": operation_id, "workflow": workflow_id})
        row = await cursor.fetchone()
    assert row is not None
    return OperationFacts(row["found"])
