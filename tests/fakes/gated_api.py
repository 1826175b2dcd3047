"""The REST API of a kind of gated work on loopback: number 7 goes from gate to gate as it is decided on.

It reads bodies and answers with the records of the API, and keeps what was asked. A test says which gates
come, and may put another content in place of the one that waits, as when somebody else has changed it.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, ClassVar, Self

from models.record import Record
from models.runtime.approvals import content_digest
from tests.fakes.heard_api import Asked, FileAnswer, HeardApi, Problem

NOW = datetime(2026, 3, 3, 10, 20, tzinfo=UTC)


class GatedApi(ABC):
    """The server, a context manager. Number 7 waits at the first of `gates`, or has ended without any."""

    command: ClassVar[str]
    path: ClassVar[str]
    # The kind of gate that shows each content.
    kinds: ClassVar[Mapping[str, str]]

    def __init__(self, *gates: Record, name: str = "How do rates move?") -> None:
        self._http = HeardApi(lambda asked: self.answer(asked))
        self.asked, self.of, self.until = self._http.asked, self._http.of, self._http.until
        self.url = self._http.url
        self.answers: list[Any] = []
        self.gates = list(gates)
        self.name = name
        self.kind: str | None = None
        self.title = "Decide"
        self.may_decide = True
        self.quorum = 1
        # Under four eyes whoever changes a gate's content is involved, and may not approve it.
        self.four_eyes = False
        self.amended_by: str | None = None
        # In place of the content's own digest.
        self.digest: str | None = None
        # Are so while no gate waits.
        self.status: Any = "completed"
        self.error: str | None = None
        self.reason: str | None = None
        # Refusals of the next requests, before anything else is looked at.
        self.refusals: list[tuple[int, str]] = []
        # What a newer site says besides.
        self.more: dict[str, Any] = {}

    def __enter__(self) -> Self:
        self._http.start()
        return self

    def __exit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        self._http.stop()

    @abstractmethod
    def tell(self, what: str, asked: Asked) -> Record | FileAnswer | None:
        """The answer to a request such as `GET /ID/results`; None where there is no such page."""

    def answer(self, asked: Asked) -> Mapping[str, Any] | FileAnswer:
        """The answer to a request: JSON, or a file."""
        if self.refusals:
            status, detail = self.refusals.pop(0)
            raise Problem(status, "Refused", detail)
        where = re.sub("^/[0-9]+", "/ID", asked.path.removeprefix(self.path))
        found = self.tell(f"{asked.method} {where}", asked)
        if found is None:
            raise Problem(404, "NotFound", "there is no such page")
        return found if isinstance(found, FileAnswer) else {**found.model_dump(mode="json"), **self.more}

    @property
    def content(self) -> dict[str, Any]:
        """What the gate that waits is about."""
        told: dict[str, Any] = self.gates[0].model_dump(mode="json")
        return told | ({"involved": [self.amended_by]} if self.amended_by else {})

    @property
    def standing(self) -> Any:
        """Its status now."""
        return "awaiting_approval" if self.gates else self.status

    def gate(self) -> dict[str, Any] | None:
        """The gate that waits."""
        if not self.gates:
            return None
        return {
            "approval_id": str(20 - len(self.gates)),
            "kind": self.kind or self.kinds[type(self.gates[0]).__name__],
            "digest": self.digest or content_digest(self.content),
            "title": self.title,
            "content": self.content,
            "expires_at": NOW,
            "may_decide": self.may_decide,
            "amended_by": self.amended_by,
        }

    def check(self, digest: str | None) -> None:
        """409 where a decision is not on what is shown."""
        if not self.gates:
            raise Problem(409, "ApprovalConflict", "approval 19 is already approved")
        if digest != content_digest(self.content):
            told = "approval 19 shows other content than was shown to you: look at it again"
            raise Problem(409, "ApprovalConflict", told)

    def decided(self, reply: Any, *, changed: bool, rejected: bool = False) -> dict[str, Any]:
        """Take a decision: what is said of it, and the digest of what is shown where it takes more people."""
        self.answers.append(reply)
        kept = "Your yes is kept: 1 more must approve exactly this."
        if self.four_eyes and changed:
            self.amended_by, self.may_decide = "ann", False
            return {"message": kept, "digest": content_digest(self.content)}
        if len(self.answers) < self.quorum:
            return {"message": kept, "digest": content_digest(self.content)}
        self.gates = [] if rejected else self.gates[1:]
        return {"message": "Decided: it goes on.", "digest": None}
