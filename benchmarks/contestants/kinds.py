"""The kinds of workflow that benchmarks run: five empty steps, and a march that keeps a journal.

Loaded by runners as `benchmarks.contestants.kinds:NAME`; the engine's LangGraph peers run the same five
steps, which their own saver keeps.
"""

import asyncio
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from pydantic import BaseModel

from actors.platform.runtime.run import Run
from actors.platform.runtime.workflow_graph import WorkflowGraph
from models.llm import Answer

STEPS = 5
KINDS = {"empty": "benchmarks.contestants.kinds:EMPTY", "march": "benchmarks.contestants.kinds:MARCH"}


class Count(TypedDict):
    """How many steps are done."""

    done: int


class Done(BaseModel):
    """A step's outcome: which it was."""

    step: int


def _plain_step(number: int) -> Any:
    async def step(state: Count) -> Count:
        return {"done": number}

    return step


def _kept_step(number: int) -> Any:
    async def step(state: Count, runtime: Runtime[Run]) -> Count:  # type: ignore[type-var]  # no base class there
        async def make() -> Answer[Done]:
            return Answer(value=Done(step=number))

        return {"done": (await runtime.context.once(f"step/{number}", Done, make)).step}

    return step


def build_plain() -> StateGraph[Any, Any, Any, Any]:
    """Five steps in a row that do nothing but say which they are, so that there is something to save."""
    return _five(_plain_step, StateGraph(Count))


def build_empty() -> StateGraph[Any, Any, Any, Any]:
    """The same five steps, each of them kept."""
    return _five(_kept_step, StateGraph(Count, context_schema=Run))


def _five(
    step: Callable[[int], Any], graph: StateGraph[Any, Any, Any, Any]
) -> StateGraph[Any, Any, Any, Any]:
    previous = START
    for number in range(1, STEPS + 1):
        graph.add_node(f"step {number}", step(number))
        graph.add_edge(previous, f"step {number}")
        previous = f"step {number}"
    graph.add_edge(previous, END)
    return graph


async def _begin_empty(run: Run) -> tuple[dict[str, Any], Run]:
    return {"done": 0}, run


@dataclass(frozen=True)
class Entry:
    """One begun step in the journal; `at` is `time.monotonic()` seconds, one clock for all processes."""

    workflow: str
    step: int
    pid: int
    at: float


@dataclass(frozen=True)
class Journal:
    """A file that steps append a line to when they begin. A line written stays, whoever is killed next."""

    path: Path

    def append(self, workflow: str, step: int) -> None:
        """Note that a step begins in this process now; one write, so lines never mix."""
        with open(self.path, "ab", buffering=0) as file:
            file.write(f"{workflow} {step} {os.getpid()} {time.monotonic()}\n".encode())

    def read(self) -> list[Entry]:
        """All that has begun so far, in order."""
        if not self.path.exists():
            return []
        lines = (line.split() for line in self.path.read_text(encoding="utf-8").splitlines())
        return [Entry(workflow, int(step), int(pid), float(at)) for workflow, step, pid, at in lines]


@dataclass(frozen=True)
class March:
    """What the march's nodes get, from the workflow's input."""

    run: Run
    journal: Journal
    steps: int
    step_seconds: float


async def _march_step(state: Count, runtime: Runtime[March]) -> Count:
    march, number = runtime.context, state["done"] + 1

    async def make() -> Answer[Done]:
        march.journal.append(march.run.workflow_id, number)
        await asyncio.sleep(march.step_seconds)
        return Answer(value=Done(step=number))

    return {"done": (await march.run.once(f"step/{number}", Done, make)).step}


def _after_step(state: Count, runtime: Runtime[March]) -> Literal["step", "__end__"]:
    return "step" if state["done"] < runtime.context.steps else "__end__"


def build_march() -> StateGraph[Any, Any, Any, Any]:
    """One step after another, as many and as long as the input says."""
    graph = StateGraph(Count, context_schema=March)
    graph.add_node("step", _march_step)
    graph.add_edge(START, "step")
    graph.add_conditional_edges("step", _after_step)
    return graph


async def _begin_march(run: Run) -> tuple[dict[str, Any], March]:
    return {"done": 0}, March(
        run=run,
        journal=Journal(Path(run.input["journal"])),
        steps=run.input["steps"],
        step_seconds=run.input["step_seconds"],
    )


def _result(state: dict[str, Any]) -> dict[str, Any]:
    return {"done": state["done"]}


EMPTY = WorkflowGraph(build=build_empty, begin=_begin_empty, result=_result)
MARCH = WorkflowGraph(build=build_march, begin=_begin_march, result=_result)
