"""The agent `planner`: which agents run, why, and which tools each may call. Seed 003 (Planner Agent).

Called by the first step of an operation, and again when a person wants another plan. A model chooses agents
and says why, or code takes all; which tools there are is never its say: they come from the servers, and
from the site's settings.
"""

import asyncio
from collections.abc import Mapping
from typing import Literal, get_args

from actors.platform.llm.client import Completions, ModelClient, RejectedReply
from actors.platform.llm.prompts import TwoPartPrompt
from actors.platform.text.links import links
from actors.systems.operations.search_terms import search_terms_in
from models.config import BreakerConfig, ModelSettings
from models.config.operations import SourceConfig
from models.errors import ModelRefused, ModelReplyInvalid, ModelTimedOut, PromptTooLong
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
    "gmail": "Mail tells what was asked, promised and claimed{subject}.",
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
        prompt: shown QUESTION, PREVIOUS (the plan before), FEEDBACK (what a person said to it) and LIMITS,
            the agents whose system can be read.
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

        Where a tool's change voided the one before, nobody wants other agents: no model is asked. Where a
        model makes none that can be used there is the usual one, which says so.

        Raises:
            ModelUnavailable: the model is away.
        """
        readable = [agent for agent, listing in request.listings.items() if listing.tools]
        if self._plans == "code":
            return Answer(value=self._whole(request, self._usual(request, readable), _unread(request)))
        if request.previous is not None and request.feedback is None:
            return Answer(value=self._whole(request, self._usual(request, readable)))
        try:
            answer = await self._by_model(request, readable)
        except (ModelReplyInvalid, ModelRefused, ModelTimedOut, PromptTooLong) as failed:
            calls = failed.calls if isinstance(failed, ModelReplyInvalid) else ()
            told = f"No model planned: {shortened(one_line(str(failed)), _LONGEST_WHY)}"
            usual = self._usual(request, readable)
            return Answer(value=self._whole(request, usual, (told, *_unheard(request))), calls=calls)
        return Answer(value=self._whole(request, answer.value), calls=answer.calls)

    async def _by_model(self, request: PlanRequest, readable: list[SourceAgent]) -> Answer[PlanReply]:
        system, user = await asyncio.to_thread(
            self._prompt.render,
            QUESTION=request.question,
            PREVIOUS=_in_words(request.previous),
            FEEDBACK=request.feedback or "",
            LIMITS=", ".join(readable) if len(readable) < len(SOURCE_AGENTS) else "",
        )
        return await self._model.ask_record(
            system=system, user=user, reply=PlanReply, accept=self._checked, schema=_schema(self._agents)
        )

    def _usual(self, request: PlanRequest, readable: list[SourceAgent]) -> PlanReply:
        """All that can be read, in the seed's order; what more is left out, a person leaves out.

        A plan that a tool's change has voided is made again with the agents that it had, and why.
        """
        leads = search_terms_in(request.question)
        subject = f" about {', '.join(leads[:3])}" if leads else ""
        whys = {agent: why.format(subject=subject) for agent, why in _WHY.items()}
        agents: list[OperationAgent] = [agent for agent in SOURCE_AGENTS if agent in self._sources]
        compares = [ANALYSIS]
        if request.previous is not None and request.feedback is None:
            whys |= {step.agent: step.why for step in request.previous.steps}
            agents = [*request.previous.sources]
            compares = [agent for agent in request.previous.agent_sequence if agent == ANALYSIS]
        # Where nothing can be read, a person is asked at each: there is no plan without an agent.
        agents = [agent for agent in agents if agent in readable] or agents
        return PlanReply(
            description=shortened(
                one_line(f"Read {how_many(len(agents), 'system')} and compare: {request.question}"),
                _LONGEST_DESCRIPTION,
            ),
            steps=tuple(StepReply(agent=agent, why=whys[agent]) for agent in (*agents, *compares)),
            complexity="low" if len(leads) == 1 else "medium" if leads else "high",
        )

    def _checked(self, reply: PlanReply) -> PlanReply:
        for step in reply.steps:
            if step.agent not in self._agents:
                raise RejectedReply(f"steps: {step.agent} has no system here: choose among {self._agents}")
        return _checked(reply)

    def _whole(self, request: PlanRequest, reply: PlanReply, notes: tuple[str, ...] = ()) -> OperationPlan:
        """The plan with what only code may say: tools, sources, how long it takes, what is not to be had.

        What people had set in the plan before stands: what they told an agent, and, where no agent is new,
        whether all run side by side.
        """
        sequence = tuple(step.agent for step in reply.steps)
        previous = request.previous
        instructions = {step.agent: step.instructions for step in previous.steps} if previous else {}
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
            side_by_side=previous is not None
            and previous.side_by_side
            and set(sequence) <= set(previous.agent_sequence),
            leads=search_terms_in(request.question),
            notes=(*notes, *_notes(request.listings)),
        )


def _unread(request: PlanRequest) -> tuple[str, ...]:
    """Code can't follow what a person said in words: he is told so, and how to say it."""
    if not request.feedback:
        return ()
    return (
        "No model plans here (operations.plans), so what you said could not be followed: edit the plan "
        f"instead. You said: {shortened(one_line(request.feedback), _LONGEST_WHY)}",
    )


def _unheard(request: PlanRequest) -> tuple[str, ...]:
    """The same where a model plans, and made no plan."""
    if not request.feedback:
        return ()
    said = shortened(one_line(request.feedback), _LONGEST_WHY)
    return (f"What you said could not be followed: edit the plan, or say it again. You said: {said}",)


def _in_words(plan: OperationPlan | None) -> str:
    """A plan as the model is shown it: its agents, why, and what a person told them; "" without one."""
    if plan is None:
        return ""
    lines = [plan.description]
    for number, step in enumerate(plan.steps, 1):
        said = f" A person said: {one_line(step.instructions)}" if step.instructions else ""
        lines.append(f"{number}. {step.agent}: {step.why}{said}")
    if plan.side_by_side:
        lines.append("Those that read a system run side by side.")
    return "\n".join(lines)


def _allowed(listing: ServerListing | None) -> tuple[AllowedTool, ...]:
    if listing is None:
        return ()
    return tuple(
        AllowedTool(
            server=tool.server,
            tool=tool.name,
            description=shortened(one_line(tool.description), LONGEST_DESCRIPTION),
            digest=tool.digest,
            address=tool.address,
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
