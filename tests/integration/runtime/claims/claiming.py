"""Claims, leases and outcomes as a runner has them."""

from typing import Any

from models.runtime.workflows import Claim
from models.store.database import Database
from models.store.runtime import claims, runners
from models.store.runtime.documents import NewDocument
from models.store.runtime.runners import RunnerProcess
from tests.fakes.graphs import KINDS

ELSEWHERE = RunnerProcess(node="n", pid=1, machine=None, started=None)


async def lease(database: Database, runner_id: str, *, seconds: float = 60) -> None:
    """Let a runner have a lease."""
    async with database.connection() as connection:
        await runners.renew(
            connection, runner_id=runner_id, name=runner_id, process=ELSEWHERE, lease_seconds=seconds
        )


async def end(database: Database, runner_id: str) -> None:
    """End a runner's lease."""
    async with database.connection() as connection:
        await runners.end(connection, [runner_id])


async def claim(database: Database, runner_id: str, limit: int = 5, **more: Any) -> list[Claim]:
    """Claim what there is, as a runner would."""
    return await claims.claim(
        database,
        runner_id=runner_id,
        rooms=dict.fromkeys(KINDS, limit),
        limit=limit,
        lease_seconds=more.pop("lease_seconds", 60),
        **more,
    )


def outcome(claim: Claim, key: str, value: str = "{}") -> NewDocument:
    """A document on its way."""
    return NewDocument(claim=claim, key=key, value=value, calls=None)
