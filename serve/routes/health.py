"""Whether the API and its database answer, and whether all is there that the site needs."""

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from models.outages import Needed
from models.store.database import Database
from serve.readiness import Readiness

router = APIRouter(tags=["health"])


class Health(BaseModel):
    """All is well; otherwise the answer is a problem with status 503."""

    status: str


@router.get("/health")
async def health(request: Request) -> Health:
    """Ask the database a question, and say so. Needs no token."""
    database: Database = request.app.state.database
    async with database.connection() as connection:
        await connection.execute("SELECT 1")
    return Health(status="ok")


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
