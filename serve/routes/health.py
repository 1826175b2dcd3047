"""Whether the API and its database answer."""

from fastapi import APIRouter, Request
from pydantic import BaseModel

from models.store import grants
from models.store.database import Database

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
