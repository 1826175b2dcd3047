"""Whether the API and its database answer, and whether all is there that the site needs."""

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from models.outages import Needed
from models.store import grants
from models.store.database import Database
from serve.readiness import Readiness

router = APIRouter(tags=["health"])


class Health(BaseModel):
    """It answers; otherwise the answer is a problem with status 503.

    `grants` is there while the list of grants (`auth.grants`) can't be read: since when its last one holds.
    """

    status: str
    grants: str | None = None


@router.get("/health", response_model_exclude_none=True)
async def health(request: Request) -> Health:
    """Ask the database a question, and say so. Needs no token."""
    database: Database = request.app.state.database
    async with database.connection() as connection:
        fault = await grants.fault(connection)
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
