"""Requests of either era by hand."""

import json
from typing import Any

import httpx2
import pytest

from tests.integration.doors.mcp_client import MODERN, envelope, mirrored

LEGACY = "2025-11-25"
HEADER = {"MCP-Protocol-Version": LEGACY}
ERAS = pytest.mark.parametrize("era", [MODERN, LEGACY])
CALL: dict[str, Any] = {"name": "get_tonalities", "arguments": {}}


def asked(era: str, method: str, /, **params: Any) -> tuple[dict[str, str], dict[str, Any]]:
    """A request of an era: its headers and its body."""
    body = {"jsonrpc": "2.0", "id": 1, "method": method}
    if era == MODERN:
        return mirrored(method, params.get("name")), {**body, "params": {**params, "_meta": envelope()}}
    return HEADER, {**body, "params": params}


async def ask(
    http: httpx2.AsyncClient, era: str, method: str, /, **params: Any
) -> tuple[int, dict[str, Any], httpx2.Headers]:
    """Ask in an era: status, body, headers."""
    headers, body = asked(era, method, **params)
    answer = await http.post("/mcp", headers=headers, content=json.dumps(body))
    return answer.status_code, answer.json(), answer.headers
