"""Whether the API and its database answer, and whether all is there that the site needs.

Nobody needs a token to ask, so many who ask cost one question.
"""

import asyncio
from datetime import datetime

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from models.runtime.outages import Needed
from models.store.database import Database
from models.store.people import grants
from serve.monitoring.readiness import Readiness

router = APIRouter(tags=["health"])


class Health(BaseModel):
    """It answers; otherwise the answer is a problem with status 503.

    `grants` is there while the list of grants (`auth.grants`) can't be read: since when its last one holds.
    """

    status: str
    grants: str | None = None


class DatabaseProbe:
    """Asks the database whether it answers, one question at a time. One per replica."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._asking: asyncio.Task[tuple[str, datetime | None] | None] | None = None

    async def beat(self) -> tuple[str, datetime | None] | None:
        """What a question that is under way, or a new one, is answered: the fault of the list of grants."""
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._ask())
        return await asyncio.shield(self._asking)

    async def _ask(self) -> tuple[str, datetime | None] | None:
        async with self._database.connection() as connection:
            return await grants.fault(connection)


@router.get("/health", response_model_exclude_none=True)
async def health(request: Request) -> Health:
    """Ask the database a question, and say so. Needs no token."""
    probe: DatabaseProbe = request.app.state.database_probe
    fault = await probe.beat()
    if fault is None:
        return Health(status="ok")
    # Why is in the log: nobody had to say who they are here.
    since = "none was ever read" if fault[1] is None else f"the one of {fault[1].isoformat()} holds"
    return Health(status="ok", grants=f"the list can't be read: {since}")


class Ready(BaseModel):
    """Whether work can be done now, and what it needs: for load balancers and for people."""

    ready: bool
    needs: tuple[Needed, ...]


@router.get(
    "/health/ready",
    response_model=Ready,
    responses={503: {"description": "Something is away.", "model": Ready}},
)
async def ready(request: Request) -> JSONResponse:
    """Each thing that the site needs, and since when it is away; 503 unless all is there. Needs no token."""
    readiness: Readiness = request.app.state.readiness
    needs = await readiness.look()
    found = Ready(ready=all(need.ready for need in needs), needs=needs)
    headers = (
        {"Cache-Control": "no-store"} if found.ready else {"Cache-Control": "no-store", "Retry-After": "5"}
    )
    status = 200 if found.ready else 503
    return JSONResponse(found.model_dump(mode="json"), status_code=status, headers=headers)
