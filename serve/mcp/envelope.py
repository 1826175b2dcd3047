"""The envelope of a request at `/mcp`: what it must be, in either era, before the library reads it.

`serve.mcp.door` asks. The library chooses the era by a header alone and parses the body once with each era's
own parser, so whatever one part of the way could read otherwise than the next is refused here: a name that
is there twice, a header that is, a version that header and body do not agree on.
"""

import json
from typing import Any

import mcp_types as types
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER, find_duplicated_routing_header
from starlette.datastructures import Headers

from models.errors import InputInvalid
from models.json_once import Ambiguous, read_once

# What a request holds beside its tool's arguments: names, ids, what the client says of itself.
_BYTES = 16 * 1024
# Read before any handler is, by what takes them for headers (W3C Trace Context, Baggage).
_OF_TRACES = ("traceparent", "tracestate", "baggage")


class EnvelopeInvalid(Exception):
    """Why a body is no request (JSON-RPC 2.0 §4), as an error to it. HTTP says 400."""

    def __init__(self, code: int, message: str, request_id: str | int | None = None) -> None:
        super().__init__(message)
        self.error = types.ErrorData(code=code, message=message)
        self.request_id = request_id


def read(body: bytes, headers: Headers) -> str | None:
    """The version that a request says it is of, as each does since 2026-07-28; None before.

    Raises:
        EnvelopeInvalid: it is not one request, or says what its headers do not.
        InputInvalid: it holds too much beside the arguments of its tool.
    """
    message = _object(body)
    request_id = _id(message)
    params = message.get("params", {})
    if (reason := _not_a_request(message)) is not None:
        raise EnvelopeInvalid(types.INVALID_REQUEST, reason, request_id)
    if _too_much_beside_arguments(body, message, params):
        raise InputInvalid(f"a request takes {_BYTES} bytes beside the arguments of its tool: send less")
    if (twice := find_duplicated_routing_header(headers.items())) is not None:
        reason = f"{twice}: the header is there twice: send it once"
        raise EnvelopeInvalid(types.HEADER_MISMATCH, reason, request_id)
    meta = params.get("_meta")
    if not isinstance(meta, dict):
        return None
    for name in _OF_TRACES:
        if not isinstance(meta.get(name, ""), str):
            raise EnvelopeInvalid(types.INVALID_PARAMS, f"params._meta.{name}: must be a text", request_id)
    if types.PROTOCOL_VERSION_META_KEY not in meta:
        return None
    said = headers.get(MCP_PROTOCOL_VERSION_HEADER)
    if said is None or said != meta[types.PROTOCOL_VERSION_META_KEY]:
        where = f"params._meta[{types.PROTOCOL_VERSION_META_KEY!r}]"
        reason = f"MCP-Protocol-Version: the header must say what {where} says"
        raise EnvelopeInvalid(types.HEADER_MISMATCH, reason, request_id)
    return said


def _not_a_request(message: dict[str, Any]) -> str | None:
    if message.get("jsonrpc") != "2.0":
        return 'jsonrpc: must be "2.0"'
    if not isinstance(message.get("method"), str):
        return "method: must be the name of a method"
    for name in ("result", "error"):
        if name in message:
            return f"{name}: is a response's, and this server asks clients nothing: leave it out"
    if not isinstance(message.get("params", {}), dict):
        return "params: must be an object, or left out"
    return None


def _object(body: bytes) -> dict[str, Any]:
    try:
        message = read_once(body.decode())
    except Ambiguous as error:
        raise EnvelopeInvalid(types.INVALID_REQUEST, f"body: {error}") from error
    except (ValueError, RecursionError) as error:
        reason = "body: is not JSON in UTF-8, or nested too deeply"
        raise EnvelopeInvalid(types.PARSE_ERROR, reason) from error
    if not isinstance(message, dict):
        raise EnvelopeInvalid(
            types.INVALID_REQUEST, "body: must be one request or notification: send each by itself"
        )
    return message


def _id(message: dict[str, Any]) -> str | int | None:
    """None is a notification's: an id that is none would be taken for one, and never answered."""
    if "id" not in message:
        return None
    given = message["id"]
    if isinstance(given, bool) or not isinstance(given, str | int):
        raise EnvelopeInvalid(types.INVALID_REQUEST, "id: must be a text or a whole number")
    return given


def _too_much_beside_arguments(body: bytes, message: dict[str, Any], params: dict[str, Any]) -> bool:
    """The library reads the rest by records of the protocol, which hold lists without bounds and tell each
    fault of each item five times over; a tool's arguments are read by its own record.
    """
    if len(body) <= _BYTES:
        return False
    if message["method"] == "tools/call":
        params = {name: value for name, value in params.items() if name != "arguments"}
    return len(json.dumps({**message, "params": params})) > _BYTES
