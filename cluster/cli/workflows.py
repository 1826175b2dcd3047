"""`signoff workflows`: what is under way, what stands still and why; begin one again, or stop one.

Over HTTP as one person; `global:editor` may do it.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict
from rich.console import Console
from rich.table import Table

from cluster.cli.door import Door
from cluster.plain_text import one_line
from models.errors import InputInvalid

_PAGE = 500
_NARROWEST = 76
_UNSURE = "see `signoff workflows` for whether it was done"


class ListedWorkflow(BaseModel):
    """A workflow as far as it is shown here: a newer Signoff may say more."""

    model_config = ConfigDict(frozen=True)

    id: str
    kind: str
    status: str
    requested_by: str
    created_at: datetime
    outcome: str = ""
    reason: str | None = None
    stands_still: str | None = None
    error: str | None
    parked_for: str | None
    parked_since: datetime | None

    @property
    def told(self) -> str:
        """Why it stands still, or why it came to nothing, on one line."""
        if self.stands_still:
            return one_line(self.stands_still)
        if self.parked_for and self.parked_since:
            return f"waits for {one_line(self.parked_for)} since {self.parked_since:%Y-%m-%d %H:%M:%S} UTC"
        return one_line(self.error or self.reason or "")


def run(
    door: Door,
    verb: str,
    workflow_id: str,
    *,
    reason: str,
    console: Console,
    statuses: Sequence[str] = (),
    before: str | None = None,
) -> None:
    """Do what was typed; `statuses` and `before` are for the list.

    Raises:
        InputInvalid: it is none of the verbs, or lacks its workflow.
        RequestRefused, ClusterProblem: see `Door.ask`.
    """
    if verb not in ("", "retry", "cancel"):
        raise InputInvalid(f"{verb!r}: write `signoff workflows`, or retry or cancel with an ID after it")
    if verb == "":
        _list(door, statuses, before, console)
        return
    if statuses or before is not None:
        raise InputInvalid("--status and --before are for the list: leave out retry and cancel")
    if not workflow_id:
        raise InputInvalid(f"{verb}: which one? `signoff workflows` lists their IDs")
    if not workflow_id.isascii():
        raise InputInvalid(f"{workflow_id!r} is no workflow's id: `signoff workflows` lists them")
    body: dict[str, Any] = {"json": {"reason": reason}} if verb == "cancel" else {}
    path = f"/api/workflows/{quote(workflow_id, safe='')}/{verb}"
    done = door.ask(ListedWorkflow, "POST", path, unsure=_UNSURE, **body)
    console.print(f"{done.id} is {done.status}")


def _list(door: Door, statuses: Sequence[str], before: str | None, console: Console) -> None:
    asked: dict[str, Any] = {"limit": _PAGE, "status": list(statuses)}
    found = door.ask(
        list[ListedWorkflow], "GET", "/api/workflows", params=asked | ({"before": before} if before else {})
    )
    # A line that is too long for the terminal goes on in the next: an id must be whole to be copied.
    console.print(_table(found, width=max(console.width, _NARROWEST)), crop=False)
    if len(found) == _PAGE:
        again = " ".join(["signoff workflows", *(f"--status {one}" for one in statuses)])
        told = f"these are {_PAGE}, and there may be older ones: `{again} --before {found[-1].id}`"
        console.print(told, soft_wrap=True)


def _table(found: list[ListedWorkflow], *, width: int) -> Table:
    table = Table(box=None, pad_edge=False, width=width)
    table.add_column("workflow", no_wrap=True, min_width=max((len(one.id) for one in found), default=0))
    for name in ("kind", "status", "by", "asked for", "why"):
        table.add_column(name, overflow="fold")
    for one in found:
        asked = f"{one.created_at:%Y-%m-%d %H:%M}"
        table.add_row(
            one.id, one.kind, one.outcome or one.status, one_line(one.requested_by), asked, one.told
        )
    return table
