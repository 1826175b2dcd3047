"""Errors over HTTP: one handler renders every SignoffError as RFC 9457 problem details."""

import psycopg
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from models.errors import SignoffError, Unauthenticated
from models.store.database import GONE


class Problem(BaseModel):
    """A problem detail (RFC 9457): `type` names the fact, `detail` the thing and the remedy."""

    type: str
    title: str
    status: int
    detail: str


def add_problem_handlers(app: FastAPI) -> None:
    """Render what the app raises as `application/problem+json`."""

    @app.exception_handler(SignoffError)
    async def refused(request: Request, error: SignoffError) -> JSONResponse:
        return _render(error, error.http_status, str(error))

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        faults = [f"{'.'.join(str(p) for p in fault['loc'])}: {fault['msg']}" for fault in error.errors()]
        return _render(error, 422, "; ".join(faults))

    @app.exception_handler(psycopg.DataError)
    async def unstorable(request: Request, error: psycopg.DataError) -> JSONResponse:
        return _render(error, 422, f"a value can't be looked up: {str(error).splitlines()[0]}")

    for gone in GONE:

        @app.exception_handler(gone)
        async def away(request: Request, error: Exception) -> JSONResponse:
            return _render(error, 503, "the database is away: try again in a moment")


def _render(error: Exception, status: int, detail: str) -> JSONResponse:
    name = type(error).__name__
    title = (type(error).__doc__ or name).strip().splitlines()[0]
    problem = Problem(type=f"urn:signoff:problem:{name}", title=title, status=status, detail=detail)
    headers = {"WWW-Authenticate": "Bearer"} if isinstance(error, Unauthenticated) else None
    return JSONResponse(
        problem.model_dump(), status_code=status, headers=headers, media_type="application/problem+json"
    )
