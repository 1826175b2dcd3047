"""What a gateway goes by is what the body says: headers of either era that disagree, or stand twice."""

import json

import httpx2
import pytest
from mcp_types import HEADER_MISMATCH

from models.config import Config
from tests.integration.doors.eras.asking import CALL, ERAS, LEGACY, asked
from tests.integration.doors.mcp_client import MODERN, raw_post

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
ENCODED = "=?base64?Z2V0X3RvbmFsaXRpZXM=?="

DISAGREEING: tuple[dict[str, str | None], ...] = (
    {"Mcp-Method": None},
    {"Mcp-Method": "tools/list"},
    {"Mcp-Method": "TOOLS/CALL"},
    {"Mcp-Name": None},
    {"Mcp-Name": "get_article"},
    {"Mcp-Name": "=?base64?Z2V0X2FydGljbGU=?="},
    {"Mcp-Name": "=?base64?!?="},
    {"Mcp-Name": "get_tonalities,get_article"},
    {"MCP-Protocol-Version": None},
    {"MCP-Protocol-Version": LEGACY},
    {"MCP-Protocol-Version": "2025-03-26"},
    {"MCP-Protocol-Version": "2027-01-01"},
    {"MCP-Protocol-Version": ""},
)


async def test_headers_that_say_other_than_the_body_are_refused(http: httpx2.AsyncClient) -> None:
    headers, body = asked(MODERN, "tools/call", **CALL)
    for changed in DISAGREEING:
        sent = {name: value for name, value in {**headers, **changed}.items() if value is not None}
        answer = await http.post("/mcp", headers=sent, json=body)
        assert (changed, answer.status_code) == (changed, 400)
        assert (changed, answer.json()["error"]["code"]) == (changed, HEADER_MISMATCH)
    assert (await http.post("/mcp", headers={**headers, "Mcp-Name": ENCODED}, json=body)).status_code == 200


@pytest.mark.parametrize("version", [None, LEGACY])
async def test_a_body_of_the_new_era_is_not_taken_for_one_of_the_old(
    http: httpx2.AsyncClient, version: str | None
) -> None:
    # Else nobody would compare the headers that a gateway has gone by.
    headers = {"Mcp-Method": "tools/list", **({"MCP-Protocol-Version": version} if version else {})}
    for declared in (MODERN, "2027-01-01", 7, None, ["2025-11-25"]):
        _, body = asked(MODERN, "tools/call", **CALL)
        body["params"]["_meta"][VERSION_KEY] = declared
        answer = await http.post("/mcp", headers=headers, json=body)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, HEADER_MISMATCH), declared
        assert answer.json()["id"] == 1


async def test_spaces_around_a_headers_value_are_not_its_own(
    url: str, http: httpx2.AsyncClient, config: Config
) -> None:
    token = http.headers["authorization"]
    for before, after in ((" ", " "), ("\t", "\t"), ("", "  \t")):
        for era in (MODERN, LEGACY):
            headers, body = asked(era, "tools/call", name="get_article", arguments={"article_id": 1})
            lines = [(name, f"{before}{value}{after}") for name, value in headers.items()]
            lines.append(("Authorization", f" {token}{after}"))
            status, said = await raw_post(url, lines, json.dumps(body).encode())
            assert (status, "result" in said) == (200, True), said


@ERAS
async def test_a_header_that_is_there_twice_is_refused(url: str, http: httpx2.AsyncClient, era: str) -> None:
    headers, body = asked(era, "tools/call", **CALL)
    lines = [("Authorization", http.headers["authorization"]), *headers.items()]
    for name, value in (
        ("MCP-Protocol-Version", MODERN),
        ("MCP-Protocol-Version", LEGACY),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Method", "tools/list"),
        ("Mcp-Name", "get_tonalities"),
    ):
        twice = [*lines, (name, value), *([] if name in headers else [(name, value)])]
        status, said = await raw_post(url, twice, json.dumps(body).encode())
        assert (name, status, said["error"]["code"]) == (name, 400, HEADER_MISMATCH)
        assert name.lower() in said["error"]["message"].lower()
