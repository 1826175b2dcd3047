"""What agents, gates and stages of operations are called on a terminal, and how agents are typed there.

People read "accounts payable" and may type it so, or as `accounts_payable`; code has one name for each agent.
"""

import re
from collections.abc import Iterable, Mapping
from typing import get_args

from cluster.cli.approval_view import span
from cluster.cli.gated.gate import SHORT_DIGEST
from cluster.cli.printing import in_words
from models.errors import InputInvalid
from models.mcp.tool_answers import ServedToolCall
from models.operations.plans import AllowedTool, OperationAgent
from models.operations.results import ProposedWrite

AGENTS: tuple[OperationAgent, ...] = get_args(OperationAgent)
_AGENT_WORDS: Mapping[str, str] = {
    "gmail": "Gmail",
    "accounts_payable": "accounts payable",
    "crm": "CRM",
    "analysis": "analysis",
}
GATE_WORDS: Mapping[str, str] = {
    "operation_plan": "the plan",
    "operation_question": "an agent that can't go on",
    "operation_review": "what an agent found",
    "operation_write": "a call that changes something",
    "operation_results": "the results",
}
_STAGE_WORDS: Mapping[str, str] = {
    "plan_creation": "a plan is made",
    "plan_approval": "the plan is decided on",
    "gmail_execution": "Gmail reads",
    "ap_execution": "accounts payable reads",
    "crm_execution": "CRM reads",
    "analysis_execution": "what was found is compared",
    "results_compilation": "the results are put together",
    "final_approval": "the results are decided on",
    "completed": "done",
}
REVISION_WORDS: Mapping[str, str] = {
    "full_replan": "another plan is made, and shown before it runs",
    "analysis_only": "what was found is compared again; nothing is read anew",
}
_TYPED = re.compile(r"(gmail|accounts[ _-]payable|crm|analysis)(?![\w-])[ \t]*", re.IGNORECASE)


def agent_words(agent: str) -> str:
    """What an agent is called."""
    return _AGENT_WORDS.get(agent, in_words(agent))


def call_of(called: AllowedTool | ServedToolCall | ProposedWrite) -> str:
    """A server's tool: its name and digest, and where that server is."""
    where = f" at {called.address}" if called.address else ""
    return f"{called.tool} of {called.server}{where} ({called.digest[:SHORT_DIGEST]})"


def all_agents(agents: Iterable[str]) -> str:
    """Several, in their order."""
    return ", ".join(map(agent_words, agents)) or "none"


def stage_words(stage: str) -> str:
    """What goes on in a stage."""
    return _STAGE_WORDS.get(stage, in_words(stage))


def standing(status: str, outcome: str | None) -> str:
    """Where an operation stands; of one that is over without results, how it ended."""
    told = status if outcome in (None, "completed") else f"{status}: {outcome}"
    return in_words(told)


def lasts(seconds: float) -> str:
    """About how long something takes."""
    return f"about {span(seconds)}"


def next_agent(text: str) -> tuple[OperationAgent, str] | None:
    """The agent that a text begins with, and what comes after it; None where it is none."""
    found = _TYPED.match(text)
    if found is None:
        return None
    name = re.sub("[ -]", "_", found[1].lower())
    return next(agent for agent in AGENTS if agent == name), text[found.end() :]


def listed_agents(text: str) -> tuple[tuple[OperationAgent, ...], str]:
    """The agents that a text begins with, between commas, and what comes after them."""
    agents: list[OperationAgent] = []
    while (found := next_agent(text)) is not None:
        agents.append(found[0])
        text = found[1]
        if not text.startswith(","):
            break
        text = text[1:].lstrip()
    return tuple(agents), text


def only_agents(text: str) -> tuple[OperationAgent, ...]:
    """The agents that are all of a text, between commas or spaces. Raises InputInvalid."""
    agents: list[OperationAgent] = []
    rest = text.strip()
    while rest:
        found = next_agent(rest)
        if found is None:
            raise no_agent(rest)
        agents.append(found[0])
        rest = found[1].removeprefix(",").lstrip()
    return tuple(agents)


def no_agent(text: str) -> InputInvalid:
    """That a text begins with none."""
    word = text.split()[0] if text.split() else text
    return InputInvalid(f"{word!r} is no agent, and nothing was decided: there are {all_agents(AGENTS)}")
