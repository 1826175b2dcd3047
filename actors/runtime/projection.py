"""Files that tell of ended workflows: written from what is settled, never from what a run believes.

The runner projects right after it has settled, and sweeps up what another left undone. A writer that was
paused in between may come late; so whoever has written looks again, and writes anew what has changed
meanwhile. Writing twice is harmless: the files are a function of the database.
"""

import logging
from collections.abc import Mapping

from actors.runtime.kind import Kind
from models.config import Config
from models.store import claims, documents, workflows
from models.store.database import Database
from models.workflows import ENDED_STATUSES, Workflow

_log = logging.getLogger("signoff.projection")
_AT_ONCE = 20


class Projector:
    """Writes the files that are due."""

    def __init__(self, *, config: Config, database: Database) -> None:
        self._config = config
        self._database = database

    async def sweep(self, kinds: Mapping[str, Kind]) -> None:
        """Write the files that nobody has written, the longest waiting first."""
        projecting = [name for name, kind in kinds.items() if kind.project]
        due = await claims.projections_due(self._database, kinds=projecting, limit=_AT_ONCE)
        for workflow_id, name in due:
            await self.project(workflow_id, kinds[name])

    async def project(self, workflow_id: str, kind: Kind) -> None:
        """Write a workflow's files if they are due. What fails is told, and tried again by the next sweep."""
        if kind.project is None:
            return
        while True:
            workflow = await self._database.steadily(lambda: self._look(workflow_id))
            if workflow.status not in ENDED_STATUSES or not workflow.projection_due:
                return
            kept = await self._database.steadily(lambda: documents.get_all(self._database, workflow_id))
            try:
                await kind.project(self._config, workflow, kept)
            except Exception as error:  # noqa: BLE001  # a full disk, say; the next sweep may find it better
                _log.exception("the files of workflow %s can't be written: %s", workflow_id, error)
                return
            if await self._note(workflow):
                return

    async def _look(self, workflow_id: str) -> Workflow:
        async with self._database.connection() as connection:
            return await workflows.get(connection, workflow_id)

    async def _note(self, workflow: Workflow) -> bool:
        return await self._database.steadily(
            lambda: claims.projected(self._database, workflow.id, epoch=workflow.epoch)
        )
