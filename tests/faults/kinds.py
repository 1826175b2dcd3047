"""The campaign's own kinds of workflow: a march of steps that leaves a trace of every step it begins.

There are two releases of it, as an upgrade has them: the second has other nodes and one step more, and goes
on with what the first began. The product's own kinds run beside it.
"""

import asyncio
import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from pydantic import BaseModel

from actors.runtime.files import write_atomically
from actors.runtime.gate import decide
from actors.runtime.kind import Kind
from actors.runtime.run import Run
from actors.workflows import KINDS as PRODUCT_KINDS
from models.approvals import GateRequest
from models.config import Config
from models.errors import InputInvalid
from models.llm import Answer
from models.store import events
from models.store.database import Connection
from models.workflows import Workflow

ACTED = "campaign.acted"
GATE = "plan"
BROKEN = "step/4"


def kinds(release: int) -> dict[str, str]:
    """Where the kinds of a release are."""
    return {**PRODUCT_KINDS, "march": f"tests.faults.kinds:MARCH_{release}"}


class Done(BaseModel):
    """A step's outcome: which it was, and what no other making of it would say."""

    step: str
    by: int
    at: float


@dataclass(frozen=True)
class Begun:
    """A step that began in a process; `at` is `time.monotonic()`, one clock for all processes."""

    workflow: str
    step: str
    pid: int
    at: float


@dataclass(frozen=True)
class Trace:
    """A file that steps append a line to when they begin. A line written stays, whoever is killed next."""

    path: Path

    def append(self, workflow: str, step: str) -> None:
        """Note that a step begins in this process now; one write, so lines never mix."""
        with open(self.path, "ab", buffering=0) as file:
            file.write(f"{workflow} {step} {os.getpid()} {time.monotonic()}\n".encode())

    def read(self) -> list[Begun]:
        """All that has begun so far, in order."""
        if not self.path.exists():
            return []
        lines = (line.split() for line in self.path.read_text(encoding="utf-8").splitlines())
        return [Begun(workflow, step, int(pid), float(at)) for workflow, step, pid, at in lines]


class State(TypedDict, total=False):
    """How many steps are done, and what was decided."""

    done: int
    decision: str


@dataclass(frozen=True)
class March:
    """What the nodes get, from the workflow's input."""

    run: Run

    @property
    def given(self) -> dict[str, Any]:
        """The input: trace, folder, steps, step_seconds, after_seconds, gated, and three words.

        `asks`: whether its steps ask the model; `asked`: whether its approval was written together with it;
        `fails_until`: a file without which the step `BROKEN` fails.
        """
        return self.run.input

    async def step(self, key: str, seconds: float) -> None:
        """Do a step once, leaving its trace."""

        async def make() -> Answer[Done]:
            Trace(Path(self.given["trace"])).append(self.run.workflow_id, key)
            until = self.given["fails_until"]
            if until and key == BROKEN and not Path(until).exists():
                raise InputInvalid(f"{key}: its input is broken: mend it")
            if self.given["asks"]:
                await self.run.directory.agent("oracle").answer(f"{self.run.workflow_id} {key}")
            await asyncio.sleep(seconds)
            return Answer(value=Done(step=key, by=os.getpid(), at=time.time()))

        await self.run.once(key, Done, make)

    async def act(self) -> None:
        """An effect, in one transaction with its step."""

        async def act(connection: Connection) -> Done:
            await events.append(connection, ACTED, self.run.workflow_id, {})
            return Done(step="act", by=os.getpid(), at=time.time())

        await self.run.effect("act", Done, act)


def plan(given: dict[str, Any]) -> GateRequest:
    """What is to be decided of a gated march."""
    return GateRequest(
        kind="plan",
        content={"plan": [given["name"]]},
        required_scope="global:editor",
        four_eyes=True,
        expires_in_seconds=3600,
    )


async def _step(state: State, runtime: Runtime[March]) -> State:
    number = state["done"] + 1
    await runtime.context.step(f"step/{number}", runtime.context.given["step_seconds"])
    return {"done": number}


async def _gate(state: State, runtime: Runtime[March]) -> State:
    given = runtime.context.given
    return {"decision": decide(GATE, None if given["asked"] else plan(given)).status}


async def _act(state: State, runtime: Runtime[March]) -> State:
    await runtime.context.act()
    await runtime.context.step("after", runtime.context.given["after_seconds"])
    return {}


async def _closing(state: State, runtime: Runtime[March]) -> State:
    await runtime.context.step("closing", 0)
    return {}


def _after_step(state: State, runtime: Runtime[March]) -> Literal["step", "gate", "act"]:
    if state["done"] < runtime.context.given["steps"]:
        return "step"
    return "gate" if runtime.context.given["gated"] else "act"


def _after_gate(state: State) -> Literal["act", "last"]:
    return "act" if state["decision"] == "approved" else "last"


def _build(names: dict[str, str], *, closing: bool) -> StateGraph[Any, Any, Any, Any]:
    graph = StateGraph(State, context_schema=March)
    graph.add_node(names["step"], _step)
    graph.add_node(names["gate"], _gate)
    graph.add_node(names["act"], _act)
    last = END
    if closing:
        graph.add_node("closing", _closing)
        graph.add_edge("closing", END)
        last = "closing"
    graph.add_edge(START, names["step"])
    graph.add_conditional_edges(names["step"], _after_step, names)
    graph.add_conditional_edges(names["gate"], _after_gate, {"act": names["act"], "last": last})
    graph.add_edge(names["act"], last)
    return graph


async def _begin(run: Run) -> tuple[dict[str, Any], March]:
    return {"done": 0}, March(run=run)


def _result(state: dict[str, Any]) -> dict[str, Any]:
    return {"done": state["done"], "decision": state.get("decision")}


def told(workflow: Workflow, kept: dict[str, Any]) -> str:
    """What the file of an ended march says: all that is settled."""
    steps = {key: kept[key] for key in sorted(kept)}
    return json.dumps({"status": workflow.status, "error": workflow.error, "steps": steps}, indent=1)


def file_of(given: dict[str, Any], workflow_id: str) -> Path:
    """Where that file is."""
    return Path(given["folder"]) / f"{workflow_id}.json"


async def _project(config: Config, workflow: Workflow, kept: dict[str, Any]) -> None:
    await asyncio.to_thread(write_atomically, file_of(workflow.input, workflow.id), told(workflow, kept))


def _first() -> StateGraph[Any, Any, Any, Any]:
    return _build({"step": "step", "gate": "gate", "act": "act"}, closing=False)


def _second() -> StateGraph[Any, Any, Any, Any]:
    return _build({"step": "stride", "gate": "decision", "act": "deed"}, closing=True)


MARCH_1 = Kind(
    build_graph=_first,
    begin=_begin,
    result=_result,
    gates=frozenset({"plan"}),
    project=_project,
    # Of the second release, whose runners may have gone away again.
    forgotten=frozenset({"closing"}),
)
MARCH_2 = Kind(build_graph=_second, begin=_begin, result=_result, gates=frozenset({"plan"}), project=_project)
