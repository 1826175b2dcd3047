"""`python -m tests.conformance.client URL`: an agent's MCP client, as the suite starts it for each scenario.

It is configured as agents have it: it reads, samples nothing, names no roots, and declines what a server asks
of a person. The suite says which scenario and which version of the protocol in the environment.

SEAM: `_agent` opens the SDK's client as agents' own does (`actors.platform.mcp`), which takes its place here:
one server in a configuration, `tools` with all that `calls` names, `era` by the suite's version. A call then
takes the digest of the listed tool, and a question comes back as an answer (`asks`), declined by a second
call.
"""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from mcp.client.client import Client
from mcp.shared.exceptions import MCPError
from mcp_types import ElicitResult, Implementation, Tool
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from models.release import RELEASE

_NUMBERS = {"a": 5, "b": 3}
# By scenario: the tools that the suite's server has for it, and what they are given.
_CALLS: dict[str, list[tuple[str, Mapping[str, Any]]]] = {
    "tools_call": [("add_numbers", _NUMBERS)],
    "request-metadata": [("add_numbers", _NUMBERS)],
    "http-standard-headers": [("add_numbers", _NUMBERS)],
    "sse-retry": [("test_reconnection", {})],
    "elicitation-sep1034-client-defaults": [("test_client_elicitation_defaults", {})],
    "sep-2322-client-request-state": [
        ("test_mrtr_echo_state", {}),
        ("test_mrtr_unrelated", {}),
        ("test_mrtr_no_state", {}),
        ("test_mrtr_no_result_type", {}),
    ],
}
_EMPTY: dict[str, Any] = {
    "string": "x",
    "integer": 0,
    "number": 0,
    "boolean": False,
    "object": {},
    "array": [],
}


async def main(url: str, scenario: str, version: str, context: Mapping[str, Any]) -> None:
    """List the tools, and call those that the scenario is about."""
    async with _agent(url, version) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        for name, arguments in calls(scenario, tools, context):
            try:
                await client.call_tool(name, dict(arguments))
            except MCPError as error:
                sys.stderr.write(f"{name}: {error}\n")  # the suite keeps it


def calls(
    scenario: str, tools: Mapping[str, Tool], context: Mapping[str, Any]
) -> list[tuple[str, Mapping[str, Any]]]:
    """What is called in a scenario, of the tools that the client lists."""
    if scenario == "json-schema-2020-12-preservation":
        return [("json_schema_echo", {"schema": tools["json_schema_2020_12_tool"].input_schema})]
    if scenario == "http-invalid-tool-headers":
        # Those whose headers are not valid must not be among the listed.
        return [(name, _required(tool.input_schema)) for name, tool in tools.items()]
    if scenario == "http-custom-headers":
        given = [(each["name"], each.get("arguments") or {}) for each in context.get("toolCalls", ())]
        return [(name, arguments) for name, arguments in given if name in tools]
    return _CALLS.get(scenario, [])


def _required(schema: Mapping[str, Any]) -> dict[str, Any]:
    kinds = {name: each.get("type") for name, each in schema.get("properties", {}).items()}
    return {name: _EMPTY.get(kinds.get(name), "x") for name in schema.get("required", ())}


@asynccontextmanager
async def _agent(url: str, version: str) -> AsyncIterator[Client]:
    mode = "auto" if version in MODERN_PROTOCOL_VERSIONS else "legacy"
    us = Implementation(name="Signoff", version=RELEASE)
    async with Client(url, mode=mode, cache=None, client_info=us, elicitation_callback=_declined) as client:
        yield client


async def _declined(*_: Any) -> ElicitResult:
    return ElicitResult(action="decline")


if __name__ == "__main__":
    environment = os.environ
    asyncio.run(
        main(
            sys.argv[-1],
            environment["MCP_CONFORMANCE_SCENARIO"],
            environment["MCP_CONFORMANCE_PROTOCOL_VERSION"],
            json.loads(environment.get("MCP_CONFORMANCE_CONTEXT") or "{}"),
        )
    )
