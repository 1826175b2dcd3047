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

from actors.platform import systems
from actors.platform.runtime.gate import decide
from actors.platform.runtime.run import Run
from actors.platform.runtime.workflow_graph import WorkflowGraph
from models.config import Config
from models.errors import InputInvalid
from models.llm import Answer
from models.runtime.approvals import GateRequest
from models.runtime.workflows import Workflow
from models.store import events
from models.store.database import Connection

ACTED = "campaign.acted"
GATE = "plan"
BROKEN = "step/4"


def kinds(release: int) -> dict[str, str]:
    """Where the kinds of a release are."""
    return {**systems.graphs(), "march": f"tests.faults.site.kinds:MARCH_{release}"}


class Done(BaseModel):
    """A step's outcome: which it was, and what no other making of it would say."""

    step: str
    by: int
    epoch: int
    at: float


@dataclass(frozen=True)
class Begun:
    """A step that began in a process, in a run of this epoch; `at` is `time.time()`."""

    workflow: str
    step: str
    pid: int
    epoch: int
    at: float


@dataclass(frozen=True)
class Wrote:
    """The file of a march that was about to be written, and the status that it says."""

    workflow: str
    status: str
    at: float


@dataclass(frozen=True)
class Trace:
    """A file that steps append a line to when they begin, and whoever writes a march's file too.

    A line written stays, whoever is killed next.
    """

    path: Path

    def begin(self, workflow: str, step: str, epoch: int) -> None:
        """Note that a step begins in this process now."""
        self._append("begun", workflow, step, epoch)

    def act(self, workflow: str) -> None:
        """Note that a march acts now, and takes its time."""
        with open(self._acting, "ab", buffering=0) as file:
            file.write(f"{workflow}\n".encode())

    def acting(self) -> set[str]:
        """The marches that have begun to act, of those that take their time."""
        return set(self._acting.read_text(encoding="utf-8").split()) if self._acting.exists() else set()

    @property
    def _acting(self) -> Path:
        return self.path.with_suffix(".acting")

    def write(self, workflow: str, status: str) -> None:
        """Note that a march's file is being written now, saying this status."""
        self._append("wrote", workflow, status, 0)

    def _append(self, what: str, workflow: str, word: str, epoch: int) -> None:
        # One write, so that lines never mix.
        with open(self.path, "ab", buffering=0) as file:
            file.write(f"{what} {workflow} {word} {os.getpid()} {epoch} {time.time()}\n".encode())

    def read(self) -> tuple[list[Begun], list[Wrote]]:
        """All that has begun and was written so far, in order."""
        begun: list[Begun] = []
        wrote: list[Wrote] = []
        if not self.path.exists():
            return begun, wrote
        for line in self.path.read_text(encoding="utf-8").splitlines():
            what, workflow, word, pid, epoch, at = line.split()
            if what == "begun":
                begun.append(Begun(workflow, word, int(pid), int(epoch), float(at)))
            else:
                wrote.append(Wrote(workflow, word, float(at)))
        return begun, wrote


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
        """The input: trace, folder, steps, their seconds, those of what comes after, gated, quorum and words.

        `asks`: whether its steps ask the model; `readers`: how many read the database all the while; `asked`:
        whether its approval was written together with it; `fails_until`: a file without which the step
        `BROKEN` fails.
        """
        return self.run.input

    @property
    def _epoch(self) -> int:
        return self.run._claim.epoch

    def _done(self, key: str) -> Done:
        return Done(step=key, by=os.getpid(), epoch=self._epoch, at=time.time())

    async def step(self, key: str, seconds: float) -> None:
        """Do a step once, leaving its trace."""

        async def make() -> Answer[Done]:
            Trace(Path(self.given["trace"])).begin(self.run.workflow_id, key, self._epoch)
            until = self.given["fails_until"]
            if until and key == BROKEN and not Path(until).exists():
                raise InputInvalid(f"{key}: its input is broken: mend it")
            if self.given["asks"]:
                await self.run.agent("oracle").answer(f"{self.run.workflow_id} {key}")
            await asyncio.gather(
                asyncio.sleep(seconds), *map(self._read_for, [seconds] * self.given["readers"])
            )
            return Answer(value=self._done(key))

        await self.run.once(key, Done, make)

    async def _read_for(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            await self.run.database.steadily(self._read)

    async def _read(self) -> None:
        async with self.run.database.connection():
            # As little as can be: who is stopped is mostly stopped while he takes it or gives it back.
            await asyncio.sleep(0)

    async def act(self) -> None:
        """An effect, in one transaction with its step."""

        async def act(connection: Connection) -> Done:
            # What it acts on: it is compared with what was shown.
            await events.append(connection, ACTED, self.run.workflow_id, plan(self.given).content)
            if seconds := self.given["act_seconds"]:
                Trace(Path(self.given["trace"])).act(self.run.workflow_id)
                await asyncio.sleep(seconds)
            return self._done("act")

        await self.run.effect("act", Done, act)


def plan(given: dict[str, Any]) -> GateRequest:
    """What is to be decided of a gated march."""
    return GateRequest(
        kind="plan",
        content={"plan": [given["name"]]},
        required_scope="global:editor",
        four_eyes=True,
        quorum=given["quorum"],
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


async def _project(config: Config, workflow: Workflow, kept: dict[str, Any]) -> dict[Path, str]:
    Trace(Path(workflow.input["trace"])).write(workflow.id, workflow.status)
    return {file_of(workflow.input, workflow.id): told(workflow, kept)}


def _first() -> StateGraph[Any, Any, Any, Any]:
    return _build({"step": "step", "gate": "gate", "act": "act"}, closing=False)


def _second() -> StateGraph[Any, Any, Any, Any]:
    return _build({"step": "stride", "gate": "decision", "act": "deed"}, closing=True)


MARCH_1 = WorkflowGraph(
    build=_first,
    begin=_begin,
    result=_result,
    gates=frozenset({"plan"}),
    project=_project,
    # Of the second release, whose runners may have gone away again.
    forgotten=frozenset({"closing"}),
)
MARCH_2 = WorkflowGraph(
    build=_second, begin=_begin, result=_result, gates=frozenset({"plan"}), project=_project
)
