"""A system of one's own is a folder and one line in the list of systems: no other file knows of it.

The folder is written here: an agent, a tool, a kind of workflow with a gate, and an endpoint. Only Ray is
left out: its agent lives in this process.
"""

import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from actors.platform import systems
from models.config import Config
from models.errors import ConfigInvalid
from models.store.database import Database
from tests.integration.chat.sites.agents_site import LocalDirectory
from tests.integration.rest import client, served
from tests.integration.workflows import ended, running

FILES = {
    "__init__.py": "",
    "system.py": """
        from actors.platform.system import System
        from models.runtime.gated_kinds import Gate, GatedKind
        from models.runtime.workflow_kinds import WorkflowKind
        from toys.records import Plan

        SYSTEM = System(
            name="toys",
            roles={"toymaker": ("toys.agents:Toymaker", lambda config, directory: {"wood": "beech"})},
            kinds=(
                WorkflowKind(
                    name="build_toy",
                    graph="toys.graph:BUILD_TOY",
                    word="build a toy",
                    gated=GatedKind(role="editor", number="task_id", gates={"toy_plan": Gate(Plan)}),
                ),
            ),
            tools=("toys.tools:build_toy",),
            routers=("toys.endpoints:router",),
        )
        """,
    "records.py": """
        from pydantic import BaseModel


        class Plan(BaseModel):
            toy: str
        """,
    "agents.py": """
        from models.llm import Answer
        from toys.records import Plan


        class Toymaker:
            def __init__(self, *, wood: str) -> None:
                self._wood = wood

            async def plan(self, wish: str) -> Answer[Plan]:
                return Answer(value=Plan(toy=f"{wish} of {self._wood}"))
        """,
    "tools.py": """
        from actors.platform.tools.tool import Input, Output, ToolContext, tool
        from models.runtime.approvals import content_digest
        from models.store.runtime import workflows
        from models.tools import ToolPermission
        from models.runtime.workflows import WorkflowRequest


        class BuildToyRequest(Input):
            wish: str


        class BuildToyResponse(Output):
            task_id: str


        @tool(
            ToolPermission(required_role="editor", topic_scoped=False, requires_hitl=True),
            rest="POST /toys/build",
            effect="asks",
        )
        async def build_toy(context: ToolContext, request: BuildToyRequest) -> BuildToyResponse:
            '''Build a toy, once somebody has agreed to its plan.'''
            asked = {"wish": request.wish}
            workflow = await workflows.create(
                context.connection,
                WorkflowRequest(
                    kind="build_toy",
                    input=asked,
                    input_digest=content_digest(asked),
                    requested_by=context.caller.subject,
                ),
            )
            return BuildToyResponse(task_id=workflow.id)
        """,
    "graph.py": """
        from typing import TypedDict

        from langgraph.graph import END, START, StateGraph
        from langgraph.runtime import Runtime

        from actors.platform.runtime.gate import decide
        from actors.platform.runtime.workflow_graph import WorkflowGraph
        from actors.platform.runtime.run import Run
        from models.runtime.approvals import GateRequest
        from toys.records import Plan


        class State(TypedDict, total=False):
            toy: str
            decision: str


        async def plan(state: State, runtime: Runtime[Run]) -> State:
            run = runtime.context
            toymaker = run.agent("toymaker")
            planned = await run.once("plan", Plan, lambda: toymaker.plan(run.input["wish"]))
            return {"toy": planned.toy}


        async def gate(state: State) -> State:
            request = GateRequest(
                kind="toy_plan",
                title=state["toy"],
                content={"toy": state["toy"]},
                required_scope="global:editor",
                four_eyes=True,
                expires_in_seconds=3600,
            )
            return {"decision": decide("plan", request).status}


        def build_graph():
            graph = StateGraph(State, context_schema=Run)
            graph.add_node("plan", plan)
            graph.add_node("gate", gate)
            graph.add_edge(START, "plan")
            graph.add_edge("plan", "gate")
            graph.add_edge("gate", END)
            return graph


        async def begin(run: Run):
            return {}, run


        BUILD_TOY = WorkflowGraph(build=build_graph, begin=begin, result=dict, gates=frozenset({"plan"}))
        """,
    "endpoints.py": """
        from fastapi import APIRouter

        from serve.auth.caller import Caller

        router = APIRouter(prefix="/api/toys", tags=["toys"])


        @router.get("")
        async def toys_of(caller: Caller) -> list[str]:
            return [f"{caller.subject}'s bear"]
        """,
}


@pytest.fixture
def _toys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The folder, and its line in the list."""
    folder = tmp_path / "packages" / "toys"
    folder.mkdir(parents=True)
    for name, text in FILES.items():
        (folder / name).write_text(textwrap.dedent(text), encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder.parent))
    monkeypatch.setattr(systems, "SYSTEMS", (*systems.SYSTEMS, "toys.system:SYSTEM"))
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "toys"]:
        del sys.modules[name]


@pytest.mark.usefixtures("_toys")
async def test_a_system_is_a_folder_and_a_line(
    configure: Callable[..., Config], database: Database, database_url: str
) -> None:
    config = configure()
    agents = LocalDirectory(config, database_url)
    runner = running(database, config, kinds=systems.graphs(), directory=agents)
    with served(config, database_url) as base:
        async with client(config, base, "ann", "global:editor") as ann, runner:
            assert (await ann.get("/api/toys")).json() == ["ann's bear"]
            [tool] = [each for each in (await ann.get("/api/tools")).json() if each["name"] == "build_toy"]
            assert tool["path"] == "/api/tools/toys/build"
            begun = await ann.post(tool["path"], json={"wish": "a horse"})
            assert begun.status_code == 200, begun.text
            task_id = begun.json()["task_id"]
            await ended(database, task_id, "waiting")
            waiting = (await ann.get(f"/api/tasks/{task_id}")).json()
            assert waiting["workflow_state"]["workflow_type"] == "build a toy"
            assert waiting["workflow_state"]["approval_pending"]
            async with client(config, base, "bob", "global:editor") as bob:
                [approval] = (await bob.get("/api/approvals", params={"kind": "toy_plan"})).json()
                assert approval["title"] == "a horse of beech"
                decision = {"decision": "approve", "digest": approval["digest"]}
                path = f"/api/approvals/{approval['id']}/decision"
                refused = await ann.post(path, json=decision)
                assert refused.status_code == 403, "four eyes"
                assert (await bob.post(path, json=decision)).status_code == 200
            await ended(database, task_id, "succeeded")
            [task] = (await ann.get("/api/tasks")).json()
            assert task["result"] == {"toy": "a horse of beech", "decision": "approved"}
            assert (await ann.get(f"/api/workflows/{task_id}")).json()["kind"] == "build_toy"


@pytest.mark.usefixtures("_toys")
def test_its_agent_needs_no_settings_but_may_have_its_own(configure: Callable[..., Config]) -> None:
    assert configure().agents["toymaker"] == configure().agents["writer"]
    assert configure({"agents.toymaker.num_cpus": 0.5}).agents["toymaker"].num_cpus == 0.5
    with pytest.raises(ConfigInvalid, match=r"agents\.toymakr: is no agent's role: did you mean toymaker\?"):
        configure({"agents.toymakr.num_cpus": 0.5})
