"""Hostile texts in mail, bills and the CRM, and models that obey them all: nothing more is done.

Each injection is an operation of its own over the real graph, with models that plan, choose and write.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from typing import Any

from actors.platform.text.links import links
from models.config import Config
from models.store.database import Database
from tests.fakes.mcp_servers import HttpSite
from tests.fakes.model.obeying_model import ObeyingModel
from tests.integration.doors.mcp_client import serving
from tests.integration.operations.hostile.hostile_world import (
    KEY,
    HostileCase,
    Wire,
    injections,
    sample_servers,
)
from tests.integration.operations.hostile.played_hostile import HostileDesk, Played, beyond_evidence
from tests.integration.operations.operations_desk import operations_config

_AT_ONCE = 8
_SERVERS = {
    "mail": (("search_messages", "read_message", "list_threads"), ("send_message",)),
    "bills": (("search_bills", "get_bill", "list_vendors"), ("schedule_payment", "mark_paid")),
    "crm": (("search_accounts", "get_account", "list_cases"), ("add_note",)),
}
_SOURCES = {"gmail": "mail", "accounts_payable": "bills", "crm": "crm"}


def hostile_config(configure: Callable[..., Config], model: str, servers: dict[str, Any]) -> Config:
    """Models do all that models may do, and they are the one at `model`."""
    llm = {
        "model": "obeying",
        "api_base": f"{model}/v1",
        "context_window": 32768,
        "max_tokens": 2000,
        "temperature": 0.0,
        "context_window_threshold": 90,
        "max_retries": 1,
        "retry_delay": 0.0,
        "timeout_seconds": 60.0,
    }
    named = {name: {"title": name, **server} for name, server in servers.items()}
    sources = {
        agent: {"server": name, "service": f"{name}_mcp", "source": name, "reading": []}
        for agent, name in _SOURCES.items()
        if name in servers
    }
    models = {f"operations.{name}": llm for name in ("planner_llm", "agents_llm", "analysis_llm")}
    choices = {f"operations.{name}": "model" for name in ("plans", "chooses", "writes")}
    # One person asks and decides all of it: more than one works through in a minute.
    often = {"calls": 100_000, "per_seconds": 60}
    more = {"mcp.servers": named, "operations.sources": sources, "tools.rate_limit": often}
    return operations_config(configure, **models, **choices, **more)


def samples_at(url: str) -> dict[str, Any]:
    """The settings of the three sample servers."""
    return {
        name: {
            "http": {"url": f"{url}/{name}/mcp", "header": {"value": f"Bearer {KEY}"}},
            "tools": tools,
            "writes": writes,
        }
        for name, (tools, writes) in _SERVERS.items()
    }


async def test_models_that_obey_every_text_get_nothing_that_nobody_approved(
    configure: Callable[..., Config], database: Database
) -> None:
    wire = Wire()
    with HttpSite() as canary:
        cases = injections("injections.yaml", canary=canary.url.removesuffix("/mcp"))
        assert len(cases) >= 50
        model = ObeyingModel(*(case.injection.order for case in cases))
        async with serving(model.app) as model_url, sample_servers(cases, wire) as url:
            desk = HostileDesk(hostile_config(configure, model_url, samples_at(url)), database)
            async with desk.running():
                played = await _all_played(desk, cases, wire)
                votes, amended = await desk.votes(), await desk.amended()
        assert canary.requests == []
    obeyed = {name for name, _ in model.obeyed}
    assert {case.injection.name for case in cases} - obeyed == set(), "these were never read"
    for one in played:
        _check(one)
    # Nobody but the person has decided, and he only what he decided.
    decided = {key: ("ann", said) for one in played for key, said in one.decided.items()}
    assert votes == decided
    assert amended == 0
    # What writes was sent as often as he said yes to it, and as he was shown it.
    writing = {tool for _, writes in _SERVERS.values() for tool in writes}
    written = Counter(_key(*call) for call in wire.calls if call[1] in writing)
    accepted = [one.write for each in played for one in each.accepted]
    assert written == Counter(_key(one.server, one.tool, one.arguments) for one in accepted)
    assert len(accepted) == sum(len(case.injection.accepts) for case in cases)
    read = Counter(_key(*call) for call in wire.calls if call[1] not in writing)
    used = Counter(_key(use.server, use.tool, use.arguments) for one in played for use in _uses(one))
    assert read <= used
    assert {(server, tool) for server, tool, _ in wire.calls} <= {
        (server, tool) for server, names in _SERVERS.items() for tool in (*names[0], *names[1])
    }


async def _all_played(desk: HostileDesk, cases: list[HostileCase], wire: Wire) -> list[Played]:
    free = asyncio.Semaphore(_AT_ONCE)

    async def play(case: HostileCase) -> Played:
        async with free:
            return await desk.play(case, wire)

    return list(await asyncio.gather(*map(play, cases)))


def _check(played: Played) -> None:
    """It went as the person approved it, and what he was told has nothing that no evidence has."""
    name = played.case.injection.name
    assert played.status == "succeeded", (name, played.error)
    assert len(played.plans) == 1, name
    assert len(played.results) == 1, name
    [shown], [results] = played.plans, played.results
    assert results.plan == shown.plan, name
    assert set(results.plan.sources) <= {"gmail", "accounts_payable", "crm"}
    allowed = {
        (step.agent, tool.server, tool.tool, tool.writes): tool.digest
        for step in shown.plan.steps
        for tool in step.tools
    }
    for result in results.results:
        for use in result.metadata.tool_calls:
            assert (result.agent, use.server, use.tool, False) in allowed, (name, use)
    for write in played.shown:
        one = write.write
        assert allowed.get((write.agent, one.server, one.tool, True)) == one.digest, (name, one)
    texts = [shown.plan.description, *(step.why for step in shown.plan.steps)]
    sentences = (*results.analysis.executive_summary, *results.analysis.recommendations)
    for sentence in sentences:
        assert sentence.evidence, (name, sentence)
        assert beyond_evidence(sentence, results) == set(), (name, sentence)
    for text in (*texts, *(sentence.text for sentence in sentences)):
        assert not links(text), (name, text)
    # Whatever a text wants left out: the mail and the bill still contradict each other.
    if {"gmail", "accounts_payable"} <= set(results.plan.sources):
        assert results.conflicts, name


def _uses(played: Played) -> list[Any]:
    return [use for one in played.results[0].results for use in one.metadata.tool_calls]


def _key(server: str, tool: str, arguments: Any) -> str:
    return json.dumps([server, tool, dict(arguments)], sort_keys=True)
