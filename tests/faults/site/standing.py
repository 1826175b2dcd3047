"""Where everything stands in a world whose run ended badly: rows, statements, tasks, and the processes' logs.

It outlives the world, in a folder of its own.
"""

import asyncio
import os
import shutil
import tempfile
import time
from pathlib import Path

from models.runtime.workflows import ENDED_STATUSES
from tests.faults.site.telling import TELLS, TOLD
from tests.faults.site.world import World

_TELLING_SECONDS = 5.0
_QUERIES = {
    "workflows that have not ended": (
        "SELECT w.*, (SELECT key FROM documents d WHERE d.workflow_id = w.id"
        " ORDER BY d.created_at DESC LIMIT 1) AS newest_document FROM workflows w"
        f" WHERE NOT status = ANY(ARRAY{list(ENDED_STATUSES)}) OR projection_due"
    ),
    "runners": "SELECT *, extract(epoch FROM lease_until - now()) AS left FROM runners",
    "approvals that wait": "SELECT id, workflow_id, kind, expires_at FROM approvals WHERE status = 'pending'",
    "deliveries that wait": "SELECT id, event_type, status FROM deliveries WHERE status = 'pending'",
    "statements": (
        "SELECT application_name, pid, state, wait_event_type, wait_event, now() - state_change AS since,"
        " pg_blocking_pids(pid) AS blocked_by, left(query, 300) AS query"
        " FROM pg_stat_activity WHERE backend_type = 'client backend' ORDER BY application_name"
    ),
}


async def dump(world: World, run: int) -> Path:
    """Write all of it down; the folder."""
    folder = Path(tempfile.mkdtemp(prefix=f"signoff-run-{run}-"))
    lines = []
    for what, query in _QUERIES.items():
        lines += [f"== {what}", *(str(row) for row in await world.rows(query))]
    (folder / "rows.txt").write_text("\n".join(lines), encoding="utf-8")
    logs = {pid: log for pid, log in world.logs().items() if _ask(pid)}
    until = time.monotonic() + _TELLING_SECONDS
    while time.monotonic() < until and not all(_has_told(log) for log in logs.values()):  # noqa: ASYNC110
        await asyncio.sleep(0.1)  # other processes write them
    for log in world.folder.glob("*.log"):
        shutil.copy(log, folder)
    return folder


def _ask(pid: int) -> bool:
    try:
        os.kill(pid, TELLS)
    except ProcessLookupError:
        return False
    return True


def _has_told(log: Path) -> bool:
    return log.exists() and TOLD in log.read_text(encoding="utf-8", errors="replace")
