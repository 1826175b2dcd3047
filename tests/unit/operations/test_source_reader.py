"""An agent whose model chooses calls: where its server can't be used, it says so, and is not done."""

from collections.abc import Sequence

import pytest

from actors.platform.llm.prompts import read_two_part_prompt
from actors.systems.operations.agents.source_reader import SourceReader
from models.config import BreakerConfig, Config
from models.errors import McpServerAway
from models.mcp.served_tools import ServerListing
from models.mcp.tool_answers import ServedToolCall
from models.operations.plans import AllowedTool
from models.operations.results import AgentResult, ProposedWrite
from models.operations.tasks import ReadingTask
from tests.fakes.served import ScriptedChoices, ServedThings
from tests.unit.operations.test_planner import MODEL

SEARCH = AllowedTool(server="crm", tool="search", digest="d" * 64)


class ListedThings(ServedThings):
    """A server whose list of tools is what a test says."""

    listed: ServerListing | None = None

    async def listing(self, server: str) -> ServerListing:
        """As the test says, or what it has."""
        return self.listed or await super().listing(server)


def reader(config: Config, server: ServedThings, model: ScriptedChoices) -> SourceReader:
    return SourceReader(
        agent="crm",
        source=config.operations.sources["crm"],
        server=config.mcp.servers["crm"],
        seconds=30,
        most_calls=20,
        most_items=10,
        chooses="model",
        settings=MODEL,
        breaker=BreakerConfig(faults=1, pause_seconds=1.0, longest_pause_seconds=1.0),
        prompt=read_two_part_prompt(config.operations.prompts_dir, "choose_call.md"),
        completions=model,
        servers=server,
    )


async def read(
    config: Config, server: ServedThings, model: ScriptedChoices, tools: Sequence[AllowedTool] = (SEARCH,)
) -> AgentResult:
    task = ReadingTask(agent="crm", question="Why is INV-2041 late?", tools=tuple(tools))
    result = (await reader(config, server, model).read(task, 1)).value.result
    assert result is not None
    return result


async def test_a_server_that_is_away_before_the_model_has_chosen_is_waited_for(config: Config) -> None:
    server, model = ListedThings("crm", {"id": "a1"}), ScriptedChoices()
    server.away = True
    with pytest.raises(McpServerAway, match="MCP server crm: it can't be reached") as caught:
        await read(config, server, model)
    assert caught.value.facts == {"waits_for": "MCP server crm"}
    assert model.prompts == []


@pytest.mark.parametrize("state", ["refuses", "invalid"])
async def test_a_server_that_can_not_be_used_is_an_error_with_its_reason(config: Config, state: str) -> None:
    server, model = ListedThings("crm", {"id": "a1"}), ScriptedChoices()
    server.listed = ServerListing.model_validate(
        {"server": "crm", "state": state, "reason": "it answers 401"}
    )
    result = await read(config, server, model)
    assert (result.status, result.error) == ("error", "MCP server crm: it answers 401")
    assert model.prompts == []


async def test_a_plan_without_a_tool_is_an_error_and_waits_for_nobody(config: Config) -> None:
    server, model = ListedThings("crm"), ScriptedChoices()
    server.away = True
    result = await read(config, server, model, tools=())
    assert result.status == "error"
    assert "the plan allows it no tool" in (result.error or "")
    assert model.prompts == []


async def test_a_stand_in_without_the_tools_of_the_plan_is_an_error(config: Config) -> None:
    server, model = ListedThings("crm"), ScriptedChoices()
    server.listed = ServerListing(server="crm", state="mock", reason="it can't be reached")
    result = await read(config, server, model)
    assert result.status == "error"
    assert "none of the tools that the plan allows" in (result.error or "")
    assert model.prompts == []


async def test_what_the_model_chooses_is_read_where_the_server_answers(config: Config) -> None:
    model = ScriptedChoices({"tool": "search", "arguments": {"query": ""}})
    result = await read(config, ListedThings("crm", {"id": "a1"}), model)
    assert (result.status, result.error) == ("completed", None)
    assert result.result is not None
    assert [item.data for item in result.result.items] == [{"id": "a1"}]


async def test_a_model_is_not_asked_for_calls_of_a_server_that_is_elsewhere(config: Config) -> None:
    server, model = ListedThings("crm", {"id": "a1"}), ScriptedChoices()
    was = SEARCH.model_copy(update={"address": "https://crm-before.example/mcp"})
    reader_task = ReadingTask(agent="crm", question="Why is INV-2041 late?", tools=(was,))
    outcome = (await reader(config, server, model).read(reader_task, 1)).value
    assert outcome.voids_plan is not None
    assert f"its server is at {server.address} now" in outcome.voids_plan
    assert (model.prompts, server.calls) == ([], [])


def test_records_from_before_addresses_were_told_read_and_are_written_as_they_were() -> None:
    told = {"server": "crm", "tool": "add_note", "digest": "d" * 64, "arguments": {}}
    for record, more in (
        (ServedToolCall, {}),
        (ProposedWrite, {"why": "so"}),
    ):
        assert record.model_validate(told | more).model_dump(mode="json") == told | more
    tool = {"server": "crm", "tool": "search", "description": "", "digest": "d" * 64, "writes": False}
    assert AllowedTool.model_validate(tool).model_dump(mode="json") == tool
    task = ReadingTask(agent="crm", question="Why?", tools=(SEARCH,))
    assert task.digest == "b78250fcc00bfd919e46e2276fd21030e758894396b14cf0b46f3358b5a4ec6c"
    moved = SEARCH.model_copy(update={"address": "https://crm.example/mcp"})
    assert task.model_copy(update={"tools": (moved,)}).digest != task.digest
