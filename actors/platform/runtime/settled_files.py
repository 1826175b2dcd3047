"""Writing files that tell how something stands, and only while it stands so.

Called for the files of ended workflows, and for those of a batch. Whoever was paused and comes late finds his
drafts gone, if another has written since: see `models.versioned_files`.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from models.runtime.workflows import Workflow
from models.store.database import Database
from models.store.runtime import projections
from models.versioned_files import VersionedFiles


async def write_settled(database: Database, workflow: Workflow, files: Mapping[Path, str]) -> bool:
    """Put files in their places, made of a workflow as it was; False where that is not settled any more.

    Raises:
        OSError: one can't be written; its `filename` says which.
    """

    async def stands() -> bool:
        return await database.steadily(
            lambda: projections.stands(database, workflow.id, epoch=workflow.epoch)
        )

    return await write_while(stands, files, version=f"{workflow.id}/{workflow.epoch}")


async def write_while(
    stands: Callable[[], Awaitable[bool]], files: Mapping[Path, str], *, version: str
) -> bool:
    """Put files of a version in their places, if that stands; False where it does not any more.

    Raises:
        OSError: one can't be written; its `filename` says which.
    """
    drafted = await asyncio.to_thread(VersionedFiles, files, version=version)
    try:
        # Asked once they are drafted: whoever has another version after that takes the drafts away.
        return await stands() and await asyncio.to_thread(drafted.keep)
    finally:
        await asyncio.to_thread(drafted.drop)
