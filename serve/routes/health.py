"""Whether the API and its database answer."""

from fastapi import APIRouter, Request
from pydantic import BaseModel

from models.store.database import Database

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
