"""Errors over HTTP: one handler renders every SignoffError as RFC 9457 problem details."""

import logging
import math
from collections.abc import Mapping
from http import HTTPStatus

import psycopg
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict
from starlette.exceptions import HTTPException

from models.error_lines import error_line, trace_of
from models.errors import PermissionMissing, SignoffError, Unauthenticated
from models.redaction import redacted
from models.store.database import GONE, missing
from models.text import flat

_log = logging.getLogger(__name__)
# What an outage is told to wait for where nobody knows.
_RETRY_SECONDS = 5
_MOST = 1000
_MEANINGS = {
    401: "The token is missing or not valid.",
    403: "The token lacks the scope; WWW-Authenticate says which.",
    404: "There is no such thing, or none that the caller may see.",
    409: "It is not in the state that this takes; nothing has changed.",
    408: "The body did not come whole in time.",
    413: "The body is too large, or holds too much.",
    422: "A parameter or the body is malformed; nothing has changed.",
    429: "Called too often; Retry-After says when to call again.",
    500: "It failed for a reason of the site's own, which its log has.",
    502: "An outside provider did not answer usefully.",
    503: "Something is away that this needs; Retry-After says when to try again.",
    504: "It took longer than it may.",
}
# Whoever sends a hundred thousand faults is told the first of them.
MOST_FAULTS = 20


class Problem(BaseModel):
    """A problem detail (RFC 9457): `type` names the fact, `detail` the thing and the remedy.

    Further members are facts for programs, such as `changes` or `retry_after_seconds`.
    """

    model_config = ConfigDict(extra="allow")

    type: str
    title: str
    status: int
    detail: str


def problem_responses(*statuses: int) -> dict[int | str, dict[str, object]]:
    """The problems a route may answer with, for OpenAPI."""
    return {
        status: {
            "description": _MEANINGS[status],
            "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
        }
        for status in statuses
    }


def add_problem_handlers(app: FastAPI) -> None:
    """Render what the app raises as `application/problem+json`."""

    @app.exception_handler(SignoffError)
    async def refused(request: Request, error: SignoffError) -> JSONResponse:
        return render(error)

    @app.exception_handler(HTTPException)
    async def unrouted(request: Request, error: HTTPException) -> JSONResponse:
        if error.status_code == 400:  # a body that FastAPI can't even decode
            return _answer("RequestInvalid", "The request is malformed.", 422, "body: is not JSON in UTF-8")
        return http_problem(error.status_code, str(error.detail), error.headers)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        all_faults = error.errors()
        shown = all_faults[:MOST_FAULTS]
        faults = [f"{'.'.join(str(p) for p in fault['loc'])}: {fault['msg']}" for fault in shown]
        if len(all_faults) > MOST_FAULTS:
            faults.append(f"and {len(all_faults) - MOST_FAULTS} more")
        return _answer("RequestInvalid", "The request is malformed.", 422, "; ".join(faults))

    @app.exception_handler(psycopg.DataError)
    async def unstorable(request: Request, error: psycopg.DataError) -> JSONResponse:
        reason = f"a value can't be kept or looked up: {error_line(str(error))}"
        return _answer("ValueUnstorable", "A value can't be kept.", 422, reason)

    for gone in GONE:

        @app.exception_handler(gone)
        async def away(request: Request, error: Exception) -> JSONResponse:
            pause = {"Retry-After": f"{_RETRY_SECONDS}"}
            if (what := missing(error)) != "Postgres":
                return _answer("RowHeld", f"It needs {what}.", 503, "try again in a moment", {}, pause)
            return _answer("DatabaseAway", "The database is away.", 503, "try again in a moment", {}, pause)

    @app.exception_handler(Exception)
    async def failed(request: Request, error: Exception) -> JSONResponse:
        trace_id = trace_of(error, _log, f"{request.method} {request.url.path}")
        reason = f"the site failed: try again, and tell whoever runs it (trace {trace_id})"
        return _answer("InternalError", _MEANINGS[500], 500, reason)


def http_problem(status: int, detail: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """What HTTP itself has to say: no such path, no such method, too large."""
    return _answer("HttpError", HTTPStatus(status).phrase, status, detail, {}, headers)


def render(error: SignoffError) -> JSONResponse:
    """A SignoffError as a problem, with the headers that its status asks for."""
    return JSONResponse(
        members_of(error),
        status_code=error.http_status,
        headers=headers_of(error) or None,
        media_type="application/problem+json",
    )


def members_of(error: SignoffError) -> dict[str, object]:
    """The members of a SignoffError's problem, for doors that carry it in an envelope of their own."""
    name = type(error).__name__
    title = (type(error).__doc__ or name).strip().splitlines()[0]
    return _members(name, title, error.http_status, _told(error), error.facts)


def headers_of(error: SignoffError) -> dict[str, str]:
    """The headers that a SignoffError's status asks for."""
    if isinstance(error, Unauthenticated):
        # Whoever sent no token learns only what to send (RFC 6750 §3.1).
        code = error.facts.get("error")
        return {"WWW-Authenticate": f'Bearer error="{code}"' if code else "Bearer"}
    if isinstance(error, PermissionMissing) and "scope" in error.facts:
        return {"WWW-Authenticate": f'Bearer error="insufficient_scope", scope="{error.facts["scope"]}"'}
    if "retry_after_seconds" in error.facts:
        return {"Retry-After": str(max(1, math.ceil(error.facts["retry_after_seconds"])))}
    return {"Retry-After": f"{_RETRY_SECONDS}"} if error.outage else {}


def _told(error: SignoffError) -> str:
    """What people are told. Of an outage what is away and when to try again; where it is, the log has."""
    waits_for = error.facts.get("waits_for")
    if not error.outage or not isinstance(waits_for, str):
        return error_line(error, _MOST) if error.outage else str(error)
    since = error.facts.get("away_since")
    when = f" since {since[11:16]} UTC" if isinstance(since, str) else ""
    seconds = headers_of(error)["Retry-After"]
    return f"The {waits_for.partition(' at ')[0]} is away{when}; try again in {seconds} s."


def _answer(
    name: str,
    title: str,
    status: int,
    detail: str,
    facts: dict[str, object] | None = None,
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    return JSONResponse(
        _members(name, title, status, detail, facts or {}),
        status_code=status,
        headers=headers,
        media_type="application/problem+json",
    )


def _members(name: str, title: str, status: int, detail: str, facts: dict[str, object]) -> dict[str, object]:
    # A name that a caller made up may hold half of a surrogate pair, which no answer can.
    told = flat(redacted(detail)).encode(errors="backslashreplace").decode()
    problem = Problem(type=f"urn:signoff:problem:{name}", title=title, status=status, detail=told)
    shown = {key: fact for key, fact in facts.items() if key != "waits_for"}  # it holds an address
    return {**shown, **problem.model_dump()}
