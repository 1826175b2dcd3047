"""Errors as OpenAI clients know them: under `/v1`, every problem becomes `{"error": {…}}`.

A middleware does it, so that what the router, the limits and the handlers refuse looks alike. What failed
unforeseen is told without its reason, and raised on for the log.
"""

import json
import logging
import re
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from models.error_lines import trace_of

_log = logging.getLogger(__name__)
_PREFIX = "/v1"
_PROBLEM = "application/problem+json"
# Where OpenAI has a word of its own for a problem. The others go by their name.
_CODES = {
    "Unauthenticated": "invalid_api_key",
    "PermissionMissing": "insufficient_permissions",
    "RateLimited": "rate_limit_exceeded",
    # Of a request, what can't even be decoded; the rest is `InputInvalid` (`serve.openai.door`).
    "RequestInvalid": "invalid_json",
    "InputInvalid": "invalid_value",
}
_HTTP_CODES = {404: "unknown_url", 405: "method_not_supported", 413: "request_too_large", 422: "invalid_json"}
_TYPES = {429: "rate_limit_error"}


class OpenAIError(BaseModel):
    """What went wrong; `param` is the member of the request that is at fault."""

    model_config = ConfigDict(frozen=True)

    message: str
    type: str
    param: str | None
    code: str | None


class ErrorAnswer(BaseModel):
    """An error in OpenAI's shape."""

    model_config = ConfigDict(frozen=True)

    error: OpenAIError


def openai_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The errors a route may answer with, for OpenAPI."""
    meanings = {
        400: "A member of the request is malformed or asks for what is not done; `param` names it.",
        401: "The token (the API key) is missing or not valid.",
        404: "There is no such model, or none that the caller may use.",
        413: "The body is too large.",
        429: "Called too often; Retry-After says when to call again.",
        500: "It failed for a reason of the site's own, which its log has.",
        503: "What answers is away, or the database (Retry-After), or the chat is switched off.",
        504: "It took longer than it may.",
    }
    told: dict[int | str, dict[str, Any]] = {
        status: {"description": meanings[status], "model": ErrorAnswer} for status in statuses
    }
    return {**told, "4XX": {"description": "Any other refusal.", "model": ErrorAnswer}}


def error_of(problem: Mapping[str, Any]) -> ErrorAnswer:
    """A problem's members (RFC 9457) in OpenAI's shape."""
    status = int(problem["status"])
    name = str(problem["type"]).rpartition(":")[2]
    if name == "HttpError":
        code = _HTTP_CODES.get(status)
    else:
        code = problem.get("code") or _CODES.get(name) or re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
    return ErrorAnswer(
        error=OpenAIError(
            message=str(problem["detail"]),
            type=_TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error"),
            param=problem.get("param"),
            code=code,
        )
    )


class OpenAIErrors:
    """ASGI middleware: rewrites problems of paths under `/v1`, and passes on everything else as it comes.

    A malformed request is 400, as OpenAI has it, and not 422.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request."""
        path = scope.get("path", "")
        if scope["type"] != "http" or not (path == _PREFIX or path.startswith(f"{_PREFIX}/")):
            await self._app(scope, receive, send)
            return
        rewriting = _Rewriting(send)
        try:
            await self._app(scope, receive, rewriting.send)
        except Exception as error:
            if not rewriting.begun:
                await rewriting.failed(trace_of(error, _log, path))
            raise


class _Rewriting:
    """One response. A problem is held until it is whole."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._start: Message | None = None
        self._body = b""
        self.begun = False

    async def send(self, message: Message) -> None:
        self.begun = True
        if message["type"] == "http.response.start":
            if MutableHeaders(raw=message["headers"]).get("content-type") == _PROBLEM:
                self._start = message
                return
        elif self._start is not None and message["type"] == "http.response.body":
            self._body += message.get("body", b"")
            if not message.get("more_body"):
                await self._tell(self._start, json.loads(self._body))
            return
        await self._send(message)

    async def failed(self, trace_id: str) -> None:
        """Nothing was sent, and something unforeseen was raised, which the log has under `trace_id`."""
        problem = {
            "type": "urn:signoff:problem:InternalError",
            "status": 500,
            "detail": f"the site failed: try again, and tell whoever runs it (trace {trace_id})",
        }
        await self._tell({"type": "http.response.start", "status": 500, "headers": []}, problem)

    async def _tell(self, start: Message, problem: Mapping[str, Any]) -> None:
        body = error_of(problem).model_dump_json().encode()
        headers = MutableHeaders(raw=list(start["headers"]))
        headers["content-type"] = "application/json"
        headers["content-length"] = str(len(body))
        status = 400 if start["status"] == 422 else start["status"]
        await self._send({**start, "status": status, "headers": headers.raw})
        await self._send({"type": "http.response.body", "body": body})
