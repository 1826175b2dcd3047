"""What the runtime's tests share: begin a workflow, wait for it, run a runner in this process."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from actors.platform.runtime.directory import Directory
from actors.platform.runtime.runner import Runner
from models.config import Config
from models.runtime.workflows import Workflow, WorkflowRequest
from models.store.database import GONE, Database
from models.store.runtime import workflows
from tests.fakes.barrier import Barrier
from tests.fakes.graphs import KINDS


async def begin(database: Database, barrier: Barrier, kind: str = "steps", **more: Any) -> Workflow:
    """Queue a workflow."""
    async with database.transaction() as connection:
        return await workflows.create(
            connection,
            WorkflowRequest(
                kind=kind, input={"barrier": barrier.address, **more}, input_digest="d", requested_by="ann"
            ),
        )


async def ended(database: Database, workflow_id: str, *statuses: str, timeout: float = 120) -> Workflow:
    """The workflow once it has one of `statuses`."""
    async with asyncio.timeout(timeout):
        while True:
            try:
                async with database.connection() as connection:
                    workflow = await workflows.get(connection, workflow_id)
            except GONE:  # some tests restart Postgres
                continue
            if workflow.status in (statuses or ("succeeded", "failed", "cancelled")):
                return workflow
            await asyncio.sleep(0.02)


@asynccontextmanager
async def running(
    database: Database,
    config: Config,
    name: str = "r",
    *,
    kinds: dict[str, str] = KINDS,
    directory: Any = None,
) -> AsyncIterator[Runner]:
    """A runner in this process; its agents are the tests' own where no `directory` is given."""
    runner = Runner(
        name=name,
        config=config,
        database=database,
        directory=directory or Directory(config=config, roles="tests.fakes.agents:ROLES"),
        kinds=kinds,
    )
    task = asyncio.create_task(runner.run())
    try:
        yield runner
    finally:
        runner.stop()
        await asyncio.wait_for(task, 20)
