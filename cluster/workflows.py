"""`signoff workflows`: what is under way, what stands still and why; begin one again, or stop one.

Over HTTP as one person; `global:editor` may do it.
"""

from datetime import datetime
from typing import Any
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict
from rich.console import Console
from rich.table import Table

from cluster.door import Door
from cluster.plain_text import one_line
from models.errors import InputInvalid

_UNSURE = "see `signoff workflows` for whether it was done"


class Listed(BaseModel):
    """A workflow as far as it is shown here: a newer Signoff may say more."""

    model_config = ConfigDict(frozen=True)

    id: str
    kind: str
    status: str
    requested_by: str
    created_at: datetime
    error: str | None
    parked_for: str | None
    parked_since: datetime | None

    @property
    def told(self) -> str:
        """Why it stands still, on one line."""
        if self.parked_for and self.parked_since:
            return f"waits for {one_line(self.parked_for)} since {self.parked_since:%Y-%m-%d %H:%M:%S} UTC"
        return one_line(self.error or "")


def run(door: Door, verb: str, workflow_id: str, *, reason: str, console: Console) -> None:
    """Do what was typed.

    Raises:
        InputInvalid: it is none of the verbs, or lacks its workflow.
        RequestRefused, ClusterProblem: see `Door.ask`.
    """
    if verb not in ("", "retry", "cancel"):
        raise InputInvalid(f"{verb!r}: write `signoff workflows`, or retry or cancel with an ID after it")
    if verb == "":
        console.print(_table(door.ask(list[Listed], "GET", "/api/workflows")))
        return
    if not workflow_id:
        raise InputInvalid(f"{verb}: which one? `signoff workflows` lists their IDs")
    body: dict[str, Any] = {"json": {"reason": reason}} if verb == "cancel" else {}
    path = f"/api/workflows/{quote(workflow_id, safe='')}/{verb}"
    done = door.ask(Listed, "POST", path, unsure=_UNSURE, **body)
    console.print(f"{done.id} is {done.status}")


def _table(found: list[Listed]) -> Table:
    table = Table("workflow", "kind", "status", "by", "asked for", "why it stands still")
    for one in found:
        asked = f"{one.created_at:%Y-%m-%d %H:%M}"
        table.add_row(one.id, one.kind, one.status, one_line(one.requested_by), asked, one.told)
    return table
