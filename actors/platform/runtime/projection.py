"""Files that tell of ended workflows: written from what is settled, never from what a run believes.

The runner projects right after it has settled, and sweeps up what another left undone. A writer that was
paused may come late: what he has drafted then is gone, if another has written since (`settled_files`). Where
several workflows of one key write the same files, the newest owns them. Writing twice is harmless: the files
are a function of the database.
"""

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass

from actors.platform.runtime.settled_files import write_settled
from actors.platform.runtime.workflow_graph import WorkflowGraph
from models.config import Config
from models.error_lines import error_line
from models.runtime.event_catalogue import WorkflowFilesDelayed
from models.runtime.workflows import ENDED_STATUSES, Workflow
from models.store import events
from models.store.database import Database
from models.store.runtime import documents, projections, workflows

_log = logging.getLogger("signoff.projection")
_AT_ONCE = 20
_FIRST_PAUSE_SECONDS = 2.0
_LONGEST_PAUSE_SECONDS = 120.0


@dataclass(frozen=True)
class _Rest:
    """Files that could not be written rest until then (monotonic), so that others have their turn."""

    until: float
    seconds: float


class Projector:
    """Writes the files that are due."""

    def __init__(self, *, config: Config, database: Database) -> None:
        self._config = config
        self._database = database
        self._resting: dict[str, _Rest] = {}

    async def sweep(self, kinds: Mapping[str, WorkflowGraph]) -> None:
        """Write the files that nobody has written, the longest waiting first."""
        projecting = [name for name, kind in kinds.items() if kind.project]
        now = time.monotonic()
        long_ago = now - 2 * _LONGEST_PAUSE_SECONDS  # another runner has written them, then
        self._resting = {i: rest for i, rest in self._resting.items() if rest.until > long_ago}
        waiting = await projections.due(
            self._database,
            kinds=projecting,
            besides=[i for i, rest in self._resting.items() if rest.until > now],
            limit=_AT_ONCE,
        )
        for workflow_id, name in waiting:
            await self.project(workflow_id, kinds[name])

    async def project(self, workflow_id: str, kind: WorkflowGraph) -> None:
        """Write a workflow's files if they are due. What fails is told, and tried again by a later sweep."""
        if kind.project is None:
            return
        while True:
            workflow = await self._database.read(lambda connection: workflows.get(connection, workflow_id))
            if workflow.status not in ENDED_STATUSES or not workflow.projection_due:
                return
            if not await self._is_outdated(workflow):
                kept = await self._database.steadily(lambda: documents.get_all(self._database, workflow_id))
                try:
                    files = await kind.project(self._config, workflow, kept)
                    written = await write_settled(self._database, workflow, files)
                except Exception as error:  # noqa: BLE001  # a full disk, say; a later sweep may find it better
                    await self._rest(workflow_id, error)
                    return
                if not written:
                    continue
            if await self._note(workflow):
                self._resting.pop(workflow_id, None)
                return

    async def _rest(self, workflow_id: str, error: Exception) -> None:
        before = self._resting.get(workflow_id)
        seconds = min(2 * before.seconds, _LONGEST_PAUSE_SECONDS) if before else _FIRST_PAUSE_SECONDS
        self._resting[workflow_id] = _Rest(time.monotonic() + seconds, seconds)
        _log.warning(
            "the files of workflow %s can't be written, next try in %g s: %s",
            workflow_id,
            seconds,
            error_line(error),
            exc_info=None if before else error,
        )
        if before is None:
            # Whoever waits for the workflow waits for its files.
            delayed = WorkflowFilesDelayed(reason=error_line(error))
            await self._database.write(lambda connection: events.tell(connection, delayed, workflow_id))

    async def _is_outdated(self, workflow: Workflow) -> bool:
        """Whether a newer workflow owns the files: it writes them (again)."""
        return workflow.key is not None and await self._database.steadily(
            lambda: projections.hand_to_newest(self._database, workflow.id)
        )

    async def _note(self, workflow: Workflow) -> bool:
        return await self._database.steadily(
            lambda: projections.written(self._database, workflow.id, epoch=workflow.epoch)
        )
