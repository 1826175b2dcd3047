"""The sample servers over a real socket: the SDK's client, both eras, the site's key; and stdio."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from models.config import Config
from serve.samples.data import load_samples
from serve.samples.door import build_samples, make_samples_app
from serve.samples.tools import FOLDER
from tests.integration.doors.mcp_client import HANDSHAKE, MODERN, mcp_client, post, serving

ROOT = Path(__file__).resolve().parents[3]
KEY = "a-key-of-the-site"
WITH_KEY = {"Authorization": f"Bearer {KEY}"}
SERVERS = ("mail", "bills", "crm")

eras = pytest.mark.parametrize("mode", [MODERN, HANDSHAKE])


@pytest.fixture
async def url() -> AsyncIterator[str]:
    """The application at a port of its own."""
    async with serving(make_samples_app(load_samples(FOLDER), KEY)) as url:
        yield url


def content(answer: Any) -> dict[str, Any]:
    """What a tool answered with."""
    assert not answer.is_error, answer.content
    found = answer.structured_content
    assert isinstance(found, dict)
    return found


@eras
@pytest.mark.parametrize("server", SERVERS)
async def test_a_client_of_either_era_lists_the_tools(url: str, mode: str, server: str) -> None:
    async with mcp_client(f"{url}/{server}", WITH_KEY, mode=mode) as client:
        assert client.protocol_version == {MODERN: MODERN, HANDSHAKE: "2025-11-25"}[mode]
        tools = [tool.name for tool in (await client.list_tools()).tools]
    assert len(tools) == {"mail": 4, "bills": 5, "crm": 4}[server]


@eras
async def test_one_invoice_is_followed_through_all_three(url: str, mode: str) -> None:
    async with mcp_client(f"{url}/bills", WITH_KEY, mode=mode) as bills:
        asked = {"number": "Invoice #2041", "vendor": "Meridian Office Supply, Inc."}
        [bill] = content(await bills.call_tool("search_bills", asked))["bills"]
        assert (bill["number"], bill["status"], bill["amount"]) == ("INV-2041", "paid", 4310.0)
    async with mcp_client(f"{url}/mail", WITH_KEY, mode=mode) as mail:
        found = content(await mail.call_tool("search_messages", {"query": bill["number"], "limit": 6}))
        assert {message["id"] for message in found["messages"]} >= {"m-001", "m-002", "m-003", "m-004"}
        read = content(await mail.call_tool("read_message", {"id": "m-004"}))["message"]
        assert "invoice 2041 is still unpaid" in read["body"]
        assert read["from"] == "Laura Kim <laura.kim@meridianoffice.example>"
    async with mcp_client(f"{url}/crm", WITH_KEY, mode=mode) as crm:
        [account, *_] = content(await crm.call_tool("search_accounts", {"query": "Meridian Office"}))[
            "accounts"
        ]
        [case] = content(await crm.call_tool("list_cases", {"account_id": account["id"], "status": "Open"}))[
            "cases"
        ]
        assert case["subject"] == "Payment missing for invoice 2041"


@eras
async def test_pages_lead_through_all_of_it(url: str, mode: str) -> None:
    ids: list[str] = []
    asked: dict[str, Any] = {"limit": 20}
    async with mcp_client(f"{url}/mail", WITH_KEY, mode=mode) as client:
        while True:
            found = content(await client.call_tool("search_messages", asked))
            ids += [message["id"] for message in found["messages"]]
            if found["next_cursor"] is None:
                break
            asked["cursor"] = found["next_cursor"]
    assert len(ids) == len(set(ids)) == found["total"] == 53


@eras
async def test_what_one_client_writes_the_next_one_reads(url: str, mode: str) -> None:
    async with mcp_client(f"{url}/crm", WITH_KEY, mode=mode) as client:
        await client.call_tool("add_note", {"account_id": "A-2004", "text": "Bank details unchanged."})
    async with mcp_client(f"{url}/crm", WITH_KEY, mode=mode) as client:
        account = content(await client.call_tool("get_account", {"id": "A-2004"}))["account"]
    assert account["notes"][-1]["text"] == "Bank details unchanged."


@eras
async def test_a_bad_argument_is_the_tool_s_error(url: str, mode: str) -> None:
    async with mcp_client(f"{url}/bills", WITH_KEY, mode=mode) as client:
        answer = await client.call_tool("search_bills", {"limit": 500})
    assert answer.is_error
    assert "limit: " in str(answer.content)


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer another"}, {"X-Api-Key": KEY}], ids=str)
@pytest.mark.parametrize("path", ["/mail/mcp", "/bills/mcp/", "/nowhere"])
async def test_nobody_comes_in_without_the_site_s_key(url: str, headers: dict[str, str], path: str) -> None:
    answer = await post(url, headers, path=path)
    assert answer.status_code == 401
    assert "Laura" not in answer.text


async def test_there_are_no_sessions_and_no_large_bodies(url: str) -> None:
    async with httpx2.AsyncClient(base_url=url, headers=WITH_KEY, timeout=30) as client:
        listening = await client.get("/mail/mcp")
        assert (listening.status_code, listening.headers["allow"]) == (405, "POST")
        assert (await client.delete("/mail/mcp")).status_code == 405
    answer = await post(
        url, WITH_KEY, "tools/call", path="/mail/mcp", name="send_message", arguments={"body": "x" * 200_000}
    )
    assert answer.status_code == 413
    answer = await post(url, WITH_KEY, path="/mail/mcp/")
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    assert "mcp-session-id" not in answer.headers


@eras
@pytest.mark.parametrize("server", SERVERS)
async def test_each_runs_on_stdio_too(mode: str, server: str) -> None:
    program = StdioServerParameters(command=sys.executable, args=["-m", f"serve.samples.{server}"], cwd=ROOT)
    async with Client(stdio_client(program), mode=mode) as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        listing = next(name for name in sorted(tools) if name.startswith("search_"))
        assert content(await client.call_tool(listing, {"query": "Meridian"}))["total"] >= 2


def test_the_application_is_built_without_a_cluster(configure: Any) -> None:
    config: Config = configure({"mcp.samples": str(FOLDER)})
    assert config.mcp.samples is not None
    deployment: Any = build_samples(load_samples(config.mcp.samples), KEY, "auto")._bound_deployment
    assert deployment.ray_actor_options["num_cpus"] == 0.1
    assert deployment.num_replicas == 1
