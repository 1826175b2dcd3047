"""The agent `planner`: which agents run, why, and which tools each may call. Seed 003 (Planner Agent).

Called by the first step of an operation, and again when a person wants another plan. A model chooses agents
and says why, or code takes all; which tools there are is never its say: they come from the servers, and
from the site's settings.
"""

import asyncio
from collections.abc import Mapping
from typing import Literal, get_args

from actors.llm.client import Completions, ModelClient, RejectedReply
from actors.llm.prompts import TwoPartPrompt
from actors.operations.leads import leads_of
from actors.text.links import links
from models.config import BreakerConfig, ModelSettings
from models.config.operations import SourceConfig
from models.llm import Answer
from models.mcp.served_tools import ServerListing
from models.operations.items import SourceAgent
from models.operations.plans import (
    ANALYSIS,
    LONGEST_DESCRIPTION,
    SOURCE_AGENTS,
    AgentStep,
    AllowedTool,
    OperationAgent,
    OperationPlan,
    PlanComplexity,
    sequence_fault,
)
from models.operations.tasks import PlanRequest
from models.record import Record
from models.text import how_many, one_line, shortened

PLANNING_PROMPT = "plan.md"
_NAME = "planner"
_LONGEST_WHY, _LONGEST_DESCRIPTION = 240, 400
_SECONDS: Mapping[str, float] = {"analysis": 20.0}
_USUAL_SECONDS = 10.0
_WHY: Mapping[OperationAgent, str] = {
    "gmail": "Mail tells what was asked, promised and complained about{subject}.",
    "accounts_payable": "Bills and payments tell what is owed and what was paid{subject}.",
    "crm": "Accounts and cases tell who the partner is and what is open{subject}.",
    "analysis": "What they found is compared: what belongs together, and what contradicts each other.",
}


class StepReply(Record):
    """An agent that the model wants to run, and why."""

    agent: OperationAgent
    why: str


class PlanReply(Record):
    """A model's plan."""

    description: str
    steps: tuple[StepReply, ...]
    complexity: PlanComplexity


class Planner:
    """Plans with the model of `operations.planner_llm` where `plans` is `model`.

    Args:
        prompt: shown QUESTION, FEEDBACK and LIMITS, the agents whose system can be read.
    """

    def __init__(
        self,
        *,
        plans: Literal["model", "code"],
        settings: ModelSettings,
        breaker: BreakerConfig,
        prompt: str,
        sources: Mapping[SourceAgent, SourceConfig],
        completions: Completions | None = None,
    ) -> None:
        self._plans = plans
        self._sources = sources
        self._agents: list[OperationAgent] = [agent for agent in SOURCE_AGENTS if agent in sources]
        self._agents.append(ANALYSIS)
        self._prompt = TwoPartPrompt(source=prompt, name=PLANNING_PROMPT)
        self._model = ModelClient(agent=_NAME, settings=settings, completions=completions, breaker=breaker)

    async def plan(self, request: PlanRequest) -> Answer[OperationPlan]:
        """A plan for a question.

        Raises:
            ModelUnavailable: the model is away.
            ModelReplyInvalid, ModelRefused, ModelTimedOut, PromptTooLong: of this plan alone.
        """
        readable = [agent for agent, listing in request.listings.items() if listing.tools]
        if self._plans == "code":
            return Answer(value=self._whole(request, self._usual(request, readable)))
        system, user = await asyncio.to_thread(
            self._prompt.render,
            QUESTION=request.question,
            FEEDBACK=request.feedback or "",
            LIMITS=", ".join(readable) if len(readable) < len(SOURCE_AGENTS) else "",
        )
        answer = await self._model.ask_record(
            system=system, user=user, reply=PlanReply, accept=self._checked, schema=_schema(self._agents)
        )
        return Answer(value=self._whole(request, answer.value), calls=answer.calls)

    def _usual(self, request: PlanRequest, readable: list[SourceAgent]) -> PlanReply:
        """All that can be read, in the seed's order; what more is left out, a person leaves out.

        A plan that a tool's change has voided is made again with the agents that it had.
        """
        leads = leads_of(request.question)
        subject = f" about {', '.join(leads[:3])}" if leads else ""
        agents: list[OperationAgent] = [agent for agent in SOURCE_AGENTS if agent in self._sources]
        if request.previous is not None and request.feedback is None:
            agents = [agent for agent in request.previous.agent_sequence if agent != ANALYSIS]
        # Where nothing can be read, a person is asked at each: there is no plan without an agent.
        agents = [agent for agent in agents if agent in readable] or agents
        return PlanReply(
            description=shortened(
                one_line(f"Read {how_many(len(agents), 'system')} and compare: {request.question}"),
                _LONGEST_DESCRIPTION,
            ),
            steps=tuple(
                StepReply(agent=agent, why=_WHY[agent].format(subject=subject))
                for agent in (*agents, ANALYSIS)
            ),
            complexity="low" if len(leads) == 1 else "medium" if leads else "high",
        )

    def _checked(self, reply: PlanReply) -> PlanReply:
        for step in reply.steps:
            if step.agent not in self._agents:
                raise RejectedReply(f"steps: {step.agent} has no system here: choose among {self._agents}")
        return _checked(reply)

    def _whole(self, request: PlanRequest, reply: PlanReply) -> OperationPlan:
        """The plan with what only code may say: tools, sources, how long it takes, what is not to be had."""
        sequence = tuple(step.agent for step in reply.steps)
        instructions = (
            {step.agent: step.instructions for step in request.previous.steps}
            if request.previous is not None
            else {}
        )
        read: list[SourceAgent] = [agent for agent in sequence if agent != "analysis"]
        return OperationPlan(
            description=reply.description,
            agent_sequence=sequence,
            estimated_duration=round(
                sum(request.seconds.get(agent, _SECONDS.get(agent, _USUAL_SECONDS)) for agent in sequence), 1
            ),
            data_sources=tuple(self._sources[agent].source for agent in read),
            complexity=reply.complexity,
            steps=tuple(
                AgentStep(
                    agent=step.agent,
                    why=step.why,
                    tools=() if step.agent == "analysis" else _allowed(request.listings.get(step.agent)),
                    instructions=instructions.get(step.agent, ""),
                )
                for step in reply.steps
            ),
            leads=leads_of(request.question),
            notes=(*self._unread(request), *_notes(request.listings)),
        )

    def _unread(self, request: PlanRequest) -> tuple[str, ...]:
        """Code can't follow what a person said in words: he is told so, and how to say it."""
        if self._plans == "model" or not request.feedback:
            return ()
        return (
            "No model plans here (operations.plans), so what you said could not be followed: edit the plan "
            f"instead. You said: {shortened(one_line(request.feedback), _LONGEST_WHY)}",
        )


def _allowed(listing: ServerListing | None) -> tuple[AllowedTool, ...]:
    if listing is None:
        return ()
    return tuple(
        AllowedTool(
            server=tool.server,
            tool=tool.name,
            description=shortened(one_line(tool.description), LONGEST_DESCRIPTION),
            digest=tool.digest,
            writes=tool.writes,
        )
        for tool in listing.tools
    )


def _notes(listings: Mapping[SourceAgent, ServerListing]) -> list[str]:
    """What is not to be had, in words."""
    told = []
    for agent, listing in listings.items():
        if listing.state == "mock":
            told.append(f"{agent}: {listing.server} is away: stand-ins (mock) answer for it, and are marked")
        elif listing.state != "answers":
            told.append(f"{agent}: {listing.server} can't be used now: {listing.reason or listing.state}")
        told += [f"{agent}: {tool.name} is not to be had: {tool.reason}" for tool in listing.withheld]
    return told


def _checked(reply: PlanReply) -> PlanReply:
    if fault := sequence_fault([step.agent for step in reply.steps]):
        raise RejectedReply(f"steps: {fault}")
    texts = {"description": reply.description} | {step.agent: step.why for step in reply.steps}
    for name, text in texts.items():
        if not text.strip():
            raise RejectedReply(f"{name} says nothing: write one sentence")
        if links(text):
            raise RejectedReply(f"{name} holds an address: leave it out")
    return reply.model_copy(
        update={
            "description": shortened(one_line(reply.description), _LONGEST_DESCRIPTION),
            "steps": tuple(
                step.model_copy(update={"why": shortened(one_line(step.why), _LONGEST_WHY)})
                for step in reply.steps
            ),
        }
    )


def _schema(agents: list[OperationAgent]) -> dict[str, object]:
    step = {
        "type": "object",
        "properties": {
            "agent": {"type": "string", "enum": agents},
            "why": {"type": "string", "minLength": 1, "maxLength": _LONGEST_WHY},
        },
        "required": ["agent", "why"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {
            "description": {"type": "string", "minLength": 1, "maxLength": _LONGEST_DESCRIPTION},
            "steps": {"type": "array", "items": step, "minItems": 1, "maxItems": len(agents)},
            "complexity": {"type": "string", "enum": list(get_args(PlanComplexity))},
        },
        "required": ["description", "steps", "complexity"],
        "additionalProperties": False,
    }
