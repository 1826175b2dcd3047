"""Servers that are hostile by themselves, and stand-ins whose file is: with models that obey all of it."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from models.config import Config
from models.store.database import Database
from tests.fakes.mcp_servers import BadServer, HttpSite
from tests.fakes.model.obeying_model import ObeyingModel
from tests.integration.doors.mcp_client import serving
from tests.integration.operations.hostile.hostile_server import GET, NOTE, SEARCH, SEEN, redeclare, stage
from tests.integration.operations.hostile.hostile_world import HostileCase, Wire, injections
from tests.integration.operations.hostile.played_hostile import HostileDesk, Played
from tests.integration.operations.hostile.test_hostile_texts import hostile_config
from tests.ports import free_port
from tests.profile import write_yaml


class _CallsOf:
    """What reached a hostile server, in place of `Wire`."""

    def __init__(self, server: BadServer) -> None:
        self._server = server

    def of(self, name: str) -> list[Mapping[str, Any]]:
        """The arguments of each call of a tool."""
        return [call.get("arguments") or {} for call in self._server.calls if call["name"] == name]


async def test_what_a_server_says_of_itself_gets_nothing_called(
    configure: Callable[..., Config], database: Database
) -> None:
    with HttpSite() as canary, BadServer() as server:
        cases = injections("hostile_servers.yaml", canary=canary.url.removesuffix("/mcp"))
        every: list[Played] = []
        model = ObeyingModel(*(case.injection.order for case in cases))
        settings = {"crm": {"http": {"url": server.url}, "tools": [SEARCH, GET], "writes": [NOTE]}}
        async with serving(model.app) as url:
            desk = HostileDesk(hostile_config(configure, url, settings), database)
            async with desk.running():
                for case in cases:
                    stage(server, case)
                    change = (lambda: None) if case.injection.place != "redeclared" else _once(server, case)
                    every.append(await desk.play(case, _CallsOf(server), approved=change))
                    _check(every[-1], server)
            votes = await desk.votes()
        assert canary.requests == []
    # Nobody but the person has decided, and he only what he decided: no to every write that was proposed.
    assert votes == {key: ("ann", said) for one in every for key, said in one.decided.items()}
    assert any(one.shown for one in every), "no write was ever proposed"
    seen = {case.injection.name for case in cases if case.injection.place in SEEN}
    assert seen - {name for name, _ in model.obeyed} == set(), "these were never read"


async def test_what_a_file_says_in_place_of_a_server_gets_nothing_called(
    configure: Callable[..., Config], database: Database, tmp_path: Path
) -> None:
    with HttpSite() as canary:
        cases = injections("hostile_mocks.yaml", canary=canary.url.removesuffix("/mcp"))
        model = ObeyingModel(*(case.injection.order for case in cases))
        mock = tmp_path / "mock.yaml"
        write_yaml(mock, _mock(cases))
        dead = {"url": f"http://127.0.0.1:{free_port()}/mcp"}
        settings = {"crm": {"http": dead, "tools": [SEARCH], "writes": [NOTE], "mock": str(mock)}}
        async with serving(model.app) as url:
            desk = HostileDesk(hostile_config(configure, url, settings), database)
            async with desk.running():
                for case in cases:
                    played = await desk.play(case, Wire())
                    assert played.status == "succeeded", (case.injection.name, played.error)
                    assert played.shown == []
                    [results] = played.results
                    assert results.mocked == ("crm",)
                    assert {use.tool for one in results.results for use in one.metadata.tool_calls} == {
                        SEARCH
                    }
        assert canary.requests == []
    assert {case.injection.name for case in cases} - {name for name, _ in model.obeyed} == set()


def _mock(cases: list[HostileCase]) -> dict[str, Any]:
    answers = [
        {"when": {"query": str(case.number)}, "structured": {"items": [{"note": case.injection.text}]}}
        for case in cases
    ]
    schema = {"type": "object", "properties": {"query": {"type": "string"}}}
    return {"tools": {SEARCH: {"description": "Find", "input_schema": schema, "answers": answers}}}


def _once(server: BadServer, case: HostileCase) -> Callable[[], None]:
    done: list[bool] = []

    def change() -> None:
        if not done:
            done.append(True)
            redeclare(server, case)

    return change


def _check(played: Played, server: BadServer) -> None:
    name, place = played.case.injection.name, played.case.injection.place
    assert played.status == "succeeded", (name, played.error)
    called = {str(call["name"]) for call in server.calls}
    server.calls.clear()
    assert called <= {SEARCH}, (name, called)
    for write in played.shown:
        assert (write.write.server, write.write.tool) == ("crm", NOTE), name
    [results] = played.results
    # Each write that was proposed was refused, and is told as that: none was made, and none went by unasked.
    outcomes = [outcome for one in results.results for outcome in one.writes]
    assert [(one.status, one.write) for one in outcomes] == [("refused", one.write) for one in played.shown]
    assert results.plan == played.plans[-1].plan
    if place == "redeclared":
        # Nothing was called under the first plan; the person was asked about a second one, and it says why.
        first, second = played.plans
        assert "declares it otherwise" in (second.feedback or "") or "approved" in (second.feedback or "")
        assert first.plan != second.plan
    else:
        assert len(played.plans) == 1, name
    if place in ("ref", "output_ref", "twice"):
        assert SEARCH not in {tool.tool for tool in results.plan.steps[0].tools}, name
        assert called == set(), name
    if place in ("elicits", "elicits_page"):
        assert len(played.questions) == 1, name
