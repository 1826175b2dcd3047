"""Plans that code makes: who can be read is in them, and what its server says of each tool is shown."""

from typing import Any

import pytest

from actors.systems.operations.agents.planner import Planner
from models.config import BreakerConfig, ModelSettings
from models.config.operations import SourceConfig
from models.mcp.served_tools import ServedTool, ServerListing
from models.operations.items import SourceAgent
from models.operations.plans import SOURCE_AGENTS, OperationPlan
from models.operations.tasks import PlanRequest

MODEL = ModelSettings.model_validate(
    {
        "model": "m",
        "api_base": "http://127.0.0.1:9/v1",
        "api_key": "x",
        "context_window": 4096,
        "max_tokens": 100,
        "temperature": 0.0,
        "context_window_threshold": 90,
        "max_retries": 0,
        "retry_delay": 0.0,
        "timeout_seconds": 1.0,
    }
)
LISTING = ServerListing(
    server="mail",
    state="answers",
    tools=(
        ServedTool(
            server="mail", name="search", description="Finds\nmail. " * 60, input_schema={}, digest="d" * 64
        ),
    ),
)


async def planned(*readable: SourceAgent, **request: Any) -> OperationPlan:
    """What code plans where these agents' systems can be read."""
    planner = Planner(
        plans="code",
        settings=MODEL,
        breaker=BreakerConfig(faults=1, pause_seconds=1.0, longest_pause_seconds=1.0),
        prompt="s\n---user---\nu",
        sources={
            agent: SourceConfig(server="mail", service="s", source=f"of {agent}") for agent in SOURCE_AGENTS
        },
    )
    away = LISTING.model_copy(update={"state": "away", "tools": (), "reason": "gone"})
    listings = {agent: LISTING if agent in readable else away for agent in SOURCE_AGENTS}
    given = {"question": "Why is INV-2041 late?", "listings": listings} | request
    return (await planner.plan(PlanRequest.model_validate(given))).value


async def test_what_a_server_says_of_a_tool_is_shown_on_one_line_and_cut() -> None:
    plan = await planned(*SOURCE_AGENTS)
    [tool] = plan.step("gmail").tools
    assert tool.description.startswith("Finds mail.")
    assert "\n" not in tool.description
    assert len(tool.description) <= 300


@pytest.mark.parametrize("readable", [("gmail",), ("accounts_payable", "crm"), SOURCE_AGENTS])
async def test_who_can_be_read_is_in_the_plan_and_who_can_not_is_named(
    readable: tuple[SourceAgent, ...],
) -> None:
    plan = await planned(*readable)
    assert plan.sources == readable
    told = {note.partition(":")[0] for note in plan.notes}
    assert told == set(SOURCE_AGENTS) - set(readable)


async def test_where_nothing_can_be_read_all_are_asked_about() -> None:
    assert (await planned()).sources == SOURCE_AGENTS


async def test_a_plan_made_again_without_a_word_keeps_its_agents_and_one_by_a_word_has_all() -> None:
    before = await planned("gmail")
    assert (await planned(*SOURCE_AGENTS, previous=before)).sources == ("gmail",)
    said = await planned(*SOURCE_AGENTS, previous=before, feedback="read the CRM as well")
    assert said.sources == SOURCE_AGENTS
    assert "read the CRM as well" in said.notes[0]
