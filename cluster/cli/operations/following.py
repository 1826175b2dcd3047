"""A person's operations over HTTP, and one of them as it is followed.

`signoff operations` uses it.
"""

from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import BaseModel
from rich.console import Console

from cluster.cli.door import Door
from cluster.cli.following import WITHOUT_RESULT, tell_waits
from cluster.cli.operations.answers import WAYS, GateReply, answers_at
from cluster.cli.operations.view import progress_line, show_entry
from cluster.cli.operations.words import gate_words, standing
from cluster.cli.printing import command_line, row
from cluster.cli.records import read
from cluster.cli.typed import typed
from models.operations.decisions import AgentDecision, OperationDecided, PlanDecision
from models.operations.exports import ExportFormat
from models.operations.history import ExecutionContext
from models.operations.operations import (
    GateShown,
    OperationBegun,
    OperationRequest,
    OperationStatusResponse,
)

_R = TypeVar("_R", bound=BaseModel)
_PATH = "/api/operations"
_MEDIA_TYPES: dict[ExportFormat, str] = {
    "json": "application/json",
    "markdown": "text/markdown",
    "csv": "text/csv",
    "pdf": "application/pdf",
}


class Operations:
    """The operations that one person may see. `options` are those with which the person called."""

    def __init__(self, door: Door, options: Sequence[str] = ()) -> None:
        self._door = door
        self._options = tuple(options)
        self.url = door.url

    def command(self, *words: object) -> str:
        """A command of `signoff operations` to type next, with the options with which the person called."""
        return typed(["operations", *words], self._options)

    def told(self, path: str, **params: Any) -> dict[str, Any]:
        """What the site answers to GET, as it is."""
        given = {name: value for name, value in params.items() if value is not None}
        return self._door.ask(dict[str, Any], "GET", f"{_PATH}{path}", params=given)

    def start(self, request: OperationRequest) -> OperationBegun:
        """Begin one. The same `request_id` never begins a second one."""
        unsure = f"run it again with --request-id {request.request_id}: it is the same operation then"
        return self._post(OperationBegun, "", request, unsure=unsure)

    def status(self, operation_id: int) -> OperationStatusResponse:
        """How far one is, and the gate that waits."""
        return read(OperationStatusResponse, self.told(f"/{operation_id}"))

    def history(self, operation_id: int) -> ExecutionContext:
        """All that happened in one."""
        return read(ExecutionContext, self.told(f"/{operation_id}/history"))

    def decide(self, operation_id: int, reply: GateReply) -> OperationDecided:
        """Send a decision. RequestRefused: nothing has changed."""
        where = "results"
        if isinstance(reply, PlanDecision | AgentDecision):
            where = "plan" if isinstance(reply, PlanDecision) else "agent"
        unsure = f"whether it was decided, `{self.command('show', operation_id)}` says"
        return self._post(OperationDecided, f"/{operation_id}/{where}", reply, unsure=unsure)

    def cancel(self, operation_id: int, reason: str | None) -> str:
        """Cancel one for good; what the site says of it."""
        body = {} if reason is None else {"reason": reason}
        unsure = f"whether it was cancelled, `{self.command('show', operation_id)}` says"
        path = f"{_PATH}/{operation_id}/cancel"
        told = self._door.ask(dict[str, Any], "POST", path, json=body, unsure=unsure)
        return str(told.get("message", "it is cancelled"))

    def exported(self, operation_id: int, form: ExportFormat) -> bytes:
        """The approved results as a file."""
        path = f"{_PATH}/{operation_id}/export"
        return self._door.file(path, media_type=_MEDIA_TYPES[form], params={"format": form})

    def _post(self, expected: type[_R], path: str, body: BaseModel, *, unsure: str) -> _R:
        sent = body.model_dump(mode="json", exclude_unset=True)
        told = self._door.ask(dict[str, Any], "POST", f"{_PATH}{path}", json=sent, unsure=unsure)
        return read(expected, told)


class FollowedOperation:
    """One operation, as it is followed: `cluster.cli.following.Followed`."""

    def __init__(self, operations: Operations, operation_id: int, console: Console) -> None:
        self._operations = operations
        self._id = operation_id
        self._console = console
        self._seen = 0
        # How it stood when its history was read; that is read again where it stands otherwise.
        self._stood: object = None
        self._status: OperationStatusResponse | None = None

    def look(self) -> str:
        """Its status now, with what has happened until then."""
        status = self._operations.status(self._id)
        done, gate = status.progress, status.approval
        stands = (
            status.status,
            status.iteration,
            done.current_stage,
            done.completed_agents,
            status.updated_at,
            None if gate is None else gate.digest,
        )
        if stands != self._stood:
            for entry in self._operations.history(self._id).execution_history:
                if entry.id > self._seen:
                    show_entry(entry, self._console)
                    self._seen = entry.id
        self._stood, self._status = stands, status
        return status.status

    def gate(self) -> GateShown | None:
        """The gate that waits."""
        return self._now.approval

    def progress(self) -> str:
        """How far it is."""
        return progress_line(self._now)

    def ended(self) -> int:
        """Print how it ended; the exit code."""
        status = self._now
        row(self._console, "ended", standing(status.status, status.outcome))
        if told := status.reason or status.error:
            row(self._console, "why" if status.reason else "error", told)
        if (status.status, status.outcome) == ("completed", "completed"):
            as_file = ("--format", "pdf", "--output", f"operation-{self._id}.pdf")
            command_line(self._console, "read it", self._operations.command("results", self._id))
            command_line(self._console, "export it", self._operations.command("export", self._id, *as_file))
            return 0
        command_line(self._console, "what was", self._operations.command("history", self._id))
        return 1 if status.status == "failed" else WITHOUT_RESULT

    def waits(self, gate: GateShown) -> None:
        """Print that somebody is to decide, and how."""
        tell_waits(
            self._console,
            gate,
            gate_words(gate.kind),
            lambda verb, *words: self._operations.command(verb, self._id, *words),
            {WAYS[form]: form for form in answers_at(gate) if form in WAYS},
        )

    @property
    def _now(self) -> OperationStatusResponse:
        assert self._status is not None, "it is looked at first"
        return self._status
