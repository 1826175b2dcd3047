"""Whether the API and its database answer. Nobody needs a token to ask, so many who ask cost one question."""

import asyncio

from fastapi import APIRouter, Request
from pydantic import BaseModel

from models.store.database import Database

router = APIRouter(tags=["health"])


class Health(BaseModel):
    """All is well; otherwise the answer is a problem with status 503."""

    status: str


class Pulse:
    """Asks the database whether it answers, one question at a time. One per replica."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._asking: asyncio.Task[None] | None = None

    async def beat(self) -> None:
        """Return once a question that is under way, or a new one, is answered. Raises what it raises."""
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._ask())
        await asyncio.shield(self._asking)

    async def _ask(self) -> None:
        async with self._database.connection() as connection:
            await connection.execute("SELECT 1")


@router.get("/health")
async def health(request: Request) -> Health:
    """Ask the database a question, and say so. Needs no token."""
    pulse: Pulse = request.app.state.pulse
    await pulse.beat()
    return Health(status="ok")
