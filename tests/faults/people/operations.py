"""Operations in the campaign: what is asked for, and what people make of the gates of one.

Pure: what is drawn follows from what is shown and the chances that are given.
"""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.faults.people.gates import GateAnswer
from tests.faults.site.books import ASKED_AT, code_of
from tests.faults.site.chooser import WANTS_A_NOTE

AT = "/api/operations"
# Where each kind of gate is decided.
DOORS = {
    "operation_plan": "plan",
    "operation_results": "results",
    "operation_question": "agent",
    "operation_write": "agent",
    "operation_review": "agent",
}
# Nobody wants anything else any more then.
_LAST_ITERATION = 4
_TYPES = ("comprehensive", "comprehensive", "reviewed")


@dataclass(frozen=True)
class BegunOperation:
    """An operation that was begun: its number, its workflow, and the word by which its calls are known."""

    number: int
    workflow_id: str
    code: str


def asked(
    run: int, number: int, rng: random.Random, *, notes: bool = False, asks: bool = False
) -> dict[str, Any]:
    """The request: one of all systems, with the operation's own invoice to look for.

    Args:
        notes: whether something is surely to be written; else in one of two.
        asks: whether a server surely asks something before it answers; else in one of ten.
    """
    code = code_of(run, number)
    invoice = str(rng.randrange(10**4, 10**5))
    invoice = f"{invoice[:-1]}{ASKED_AT}" if asks else invoice
    query = f"why is invoice {code}-{invoice} late? compare what is known of it"
    return {
        "query": f"{query}, and {WANTS_A_NOTE}" if notes or rng.random() < 0.5 else query,
        "topic": "macro",
        "task_type": rng.choice(_TYPES),
        "request_id": f"run-{run}-{number}",
    }


def answer(
    kind: str, shown: Mapping[str, Any], rng: random.Random, *, careless: bool = False, yes: bool = False
) -> GateAnswer:
    """What somebody makes of a gate of an operation.

    Args:
        careless: it may be what can't be done, or what contradicts itself.
        yes: somebody wants it to get on: to a plan and a write he says yes, and to most that is asked.
    """
    if kind == "operation_question" and shown["kind"] == "server_asks":
        return _given(rng, careless=careless, yes=yes)
    if yes:
        often = kind == "operation_question" and rng.random() < 0.25
        return GateAnswer("reject" if often else "approve")
    if careless and rng.random() < 0.2:
        return _nonsense(kind, shown, rng)
    late = shown["iteration"] >= _LAST_ITERATION
    match kind:
        case "operation_plan":
            if not late and shown.get("feedback") is None and rng.random() < 0.2:
                return GateAnswer("reject")
            return _edit(shown["plan"], rng) if rng.random() < 0.5 else GateAnswer("approve")
        case "operation_results":
            if late or rng.random() < 0.45:
                return GateAnswer("approve")
            return _revision(shown["plan"], rng)
        case "operation_question":
            return GateAnswer(rng.choice(("approve", "reject")))
        case "operation_write":
            return GateAnswer(rng.choice(("approve", "approve", "approve", "reject")))
        case _:
            return GateAnswer("reject" if not late and rng.random() < 0.15 else "approve")


def body(kind: str, said: GateAnswer, digest: str, feedback: str) -> dict[str, Any]:
    """What is sent to the gate's door."""
    asks: dict[str, Any] = {"digest": digest, "feedback": feedback}
    yes = said.how != "reject"
    match kind:
        case "operation_plan":
            return asks | {"approved": yes} | ({"modified_plan": said.changes} if said.changes else {})
        case "operation_results":
            return asks | {"approved": yes} | said.changes
        case "operation_question":
            return asks | {"answer": "retry" if yes else "skip"} | said.changes
        case "operation_write":
            return asks | {"answer": "accept" if yes else "skip"} | said.changes
        case _:
            return asks | {"answer": "accept" if yes else "revise"} | said.changes


def feedback(code: str, rng: random.Random) -> str:
    """What somebody says with an answer: one more number to look for, that nobody else says."""
    return f"look at {code}-{rng.randrange(10**9, 10**10)} as well"


def _given(rng: random.Random, *, careless: bool, yes: bool) -> GateAnswer:
    """What a server asks for, or that nobody gives it, or that one goes on without that server."""
    given = {"answer": "answer", "given": {"code": str(rng.randrange(10**9, 10**10))}}
    match "given" if yes else rng.choice(("given", "given", "declined", "without")):
        case "given" if careless and rng.random() < 0.2:
            return GateAnswer("modify", given | {"given": {"number": "7"}}, possible=False)
        case "given":
            return GateAnswer("modify", given)
        case "declined":
            return GateAnswer("modify", {"answer": "decline"})
        case _:
            return GateAnswer("reject")


def _edit(plan: Mapping[str, Any], rng: random.Random) -> GateAnswer:
    """Another order, one agent less, side by side, or a word to one of them."""
    agents = list(plan["agent_sequence"])
    sources = [agent for agent in agents if agent != "analysis"]
    last = agents[len(sources) :]
    match rng.choice(("reorder", "skip", "side", "instructions")):
        case "reorder" if len(sources) > 1:
            turned = [*sources[1:], sources[0]]
            return GateAnswer("modify", {"agent_sequence": [*turned, *last]})
        case "skip" if len(sources) > 1:
            return GateAnswer("modify", {"skip_agents": [rng.choice(sources)]})
        case "side":
            return GateAnswer("modify", {"side_by_side": not plan["side_by_side"]})
        case _:
            words = f"be thorough in {rng.choice(('spring', 'summer', 'autumn'))}, {rng.choice('abcdefgh')}"
            return GateAnswer("modify", {"instructions": {rng.choice(sources): words}})


def _revision(plan: Mapping[str, Any], rng: random.Random) -> GateAnswer:
    agents = list(plan["agent_sequence"])
    sources = [agent for agent in agents if agent != "analysis"]
    match rng.choice(("full_replan", "specific_agents", "specific_agents", "analysis_only")):
        case "analysis_only" if "analysis" in agents:
            return GateAnswer("reject", {"revision_type": "analysis_only"})
        case "full_replan":
            return GateAnswer("reject", {"revision_type": "full_replan"})
        case _:
            some = rng.sample(sources, rng.randint(1, len(sources)))
            return GateAnswer("reject", {"revision_type": "specific_agents", "target_agents": some})


def _nonsense(kind: str, shown: Mapping[str, Any], rng: random.Random) -> GateAnswer:
    """What is refused, and changes nothing."""
    if kind == "operation_plan":
        agents = shown["plan"]["agent_sequence"]
        nothing = [agent for agent in agents if agent != "analysis"]
        first = {"agent_sequence": ["analysis", *nothing]}
        twice = {"agent_sequence": [agents[0], agents[0]]}
        edits: list[dict[str, Any]] = [{"skip_agents": nothing}, first, twice, {"agent_sequence": []}]
        return GateAnswer("modify", rng.choice(edits), possible=False)
    if kind == "operation_results":
        revisions: list[dict[str, Any]] = [
            {"revision_type": "specific_agents"},
            {"revision_type": "none"},
            {"revision_type": "full_replan", "target_agents": ["crm"]},
        ]
        return GateAnswer("reject", rng.choice(revisions), possible=False)
    return GateAnswer("approve", {"answer": "answer"}, possible=False)
