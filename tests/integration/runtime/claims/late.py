"""What tests of late senders share: who has a claim and sends under it, and what came to whom it is sent."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from actors.platform.sending import Sender
from models.runtime.workflows import Claim
from models.store.database import Database
from models.store.runtime import workflows
from tests.fakes.barrier import Barrier
from tests.integration.runtime.claims.claiming import claim, lease
from tests.integration.workflows import begin


@dataclass
class Target:
    """Where it is sent: how often it was connected to, and every byte that came."""

    url: str = ""
    connections: int = 0
    came: bytes = b""
    idle: asyncio.Event = field(default_factory=asyncio.Event)

    async def all_that_came(self) -> bytes:
        """Every byte, once whoever was connected is not any more."""
        await self.idle.wait()
        return self.came


@asynccontextmanager
async def target() -> AsyncIterator[Target]:
    """One on loopback, which answers whatever comes with 200."""
    found = Target()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        found.connections += 1
        found.idle.clear()
        while part := await reader.read(65_536):
            found.came += part
            if b"\r\n\r\n" in found.came and found.came.endswith(b"}"):
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        writer.close()
        found.idle.set()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        found.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        yield found
    finally:
        server.close()


async def claimed(database: Database, runner_id: str = "r1") -> Claim:
    """A workflow's claim, whose runner has a lease."""
    with Barrier() as barrier:
        await begin(database, barrier)
    await lease(database, runner_id)
    [found] = await claim(database, runner_id)
    return found


def sender(database: Database, held: Claim) -> Sender:
    """Who sends under a claim, as an agent's process does."""
    return Sender(claim=held.mark, database_url=database.url)


async def cancel(database: Database, held: Claim) -> None:
    """Cancel the workflow, as a person does."""
    async with database.transaction() as connection:
        await workflows.cancel(connection, held.workflow_id, reason="no")
