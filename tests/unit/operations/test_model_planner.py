"""Plans that a model makes: what it is shown of the plan before, and what there is where it makes none."""

from typing import Any

import pytest

from actors.platform.llm.prompts import read_two_part_prompt
from actors.systems.operations.agents.planner import Planner
from models.config import BreakerConfig, Config
from models.config.operations import SourceConfig
from models.errors import (
    ModelRefused,
    ModelTimedOut,
    ModelUnavailable,
    PromptTooLong,
    SignoffError,
)
from models.llm import Answer
from models.operations.plans import SOURCE_AGENTS, OperationPlan
from models.operations.tasks import PlanRequest
from tests.fakes.model.scripted import ScriptedCompletions
from tests.unit.operations.test_planner import LISTING, MODEL

BEFORE = ("gmail", "crm", "analysis")


def reply(*agents: str) -> dict[str, Any]:
    steps = [{"agent": agent, "why": f"What {agent} knows."} for agent in agents]
    return {"description": "Read what bears on it.", "steps": steps, "complexity": "low"}


async def asked(config: Config, model: ScriptedCompletions, **request: Any) -> Answer[OperationPlan]:
    """What the planner makes of it, where all systems can be read."""
    planner = Planner(
        plans="model",
        settings=MODEL.model_copy(update={"context_window": 32768}),
        breaker=BreakerConfig(faults=1, pause_seconds=1.0, longest_pause_seconds=1.0),
        prompt=read_two_part_prompt(config.operations.prompts_dir, "plan.md"),
        sources={
            agent: SourceConfig(server="mail", service="s", source=f"of {agent}") for agent in SOURCE_AGENTS
        },
        completions=model,
    )
    given = {"question": "Why is INV-2041 late?", "listings": dict.fromkeys(SOURCE_AGENTS, LISTING)}
    return await planner.plan(PlanRequest.model_validate(given | request))


async def approved(config: Config, *agents: str) -> OperationPlan:
    """A model's plan, with what a person set in it: how, and side by side."""
    made = (await asked(config, ScriptedCompletions(reply(*agents)))).value
    steps = tuple(
        step.model_copy(update={"instructions": "Look at May."}) if step.agent == "crm" else step
        for step in made.steps
    )
    return made.model_copy(update={"steps": steps, "side_by_side": True})


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("no JSON at all", "no usable reply"),
        (reply("analysis"), "nothing would be read"),
        (ModelRefused("the endpoint\nrefuses it"), "the endpoint refuses it"),
        (ModelTimedOut("too slow"), "too slow"),
        (PromptTooLong("too long"), "too long"),
    ],
)
async def test_where_the_model_makes_no_plan_there_is_the_usual_one_which_says_so(
    config: Config, said: str | dict[str, Any] | Exception, told: str
) -> None:
    answer = await asked(config, ScriptedCompletions(said))
    assert answer.value.agent_sequence == (*SOURCE_AGENTS, "analysis")
    [note] = answer.value.notes
    assert note.startswith("No model planned: ")
    assert told in note
    assert len(answer.calls) == (0 if isinstance(said, SignoffError) else 1)


async def test_where_the_model_makes_no_plan_of_what_a_person_said_he_is_told(config: Config) -> None:
    before = await approved(config, *BEFORE)
    model = ScriptedCompletions("no JSON at all")
    plan = (await asked(config, model, previous=before, feedback="only the mail")).value
    assert [note.partition(":")[0] for note in plan.notes] == [
        *("No model planned", "What you said could not be followed"),
    ]
    assert "only the mail" in plan.notes[1]


@pytest.mark.heavy
async def test_a_model_that_is_away_is_waited_for(config: Config) -> None:
    with pytest.raises(ModelUnavailable):
        await asked(config, ScriptedCompletions(ModelUnavailable("away", waits_for="m")))


async def test_the_model_sees_the_plan_that_a_person_wants_changed_between_marks(config: Config) -> None:
    before = await approved(config, *BEFORE)
    model = ScriptedCompletions(reply(*BEFORE))
    await asked(config, model, previous=before, feedback="say more of the mail")
    [prompt] = (one.user for one in model.asked)
    _, _, shown = prompt.partition('<data name="plan"')
    shown, _, _ = shown.partition("</data")
    assert "1. gmail: What gmail knows." in shown
    assert "2. crm: What crm knows. A person said: Look at May." in shown
    assert "side by side" in shown
    first = ScriptedCompletions(reply(*BEFORE))
    await asked(config, first)
    assert '<data name="plan"' not in first.asked[0].user


@pytest.mark.parametrize("agents", [("gmail", "crm", "analysis"), ("crm", "gmail")])
async def test_a_plan_that_a_tool_s_change_voided_is_made_again_as_people_had_set_it(
    config: Config, agents: tuple[str, ...]
) -> None:
    before = await approved(config, *agents)
    again = (await asked(config, ScriptedCompletions(), previous=before)).value
    assert again.agent_sequence == before.agent_sequence
    assert again.side_by_side
    assert [(step.agent, step.why, step.instructions) for step in again.steps] == [
        (step.agent, step.why, step.instructions) for step in before.steps
    ]


async def test_what_people_set_stands_where_the_agents_are_the_same(config: Config) -> None:
    before = await approved(config, *BEFORE)
    for agents, side_by_side in ((("crm", "gmail", "analysis"), True), ((*SOURCE_AGENTS, "analysis"), False)):
        model = ScriptedCompletions(reply(*agents))
        plan = (await asked(config, model, previous=before, feedback="another order")).value
        assert plan.side_by_side is side_by_side
        assert plan.step("crm").instructions == "Look at May."
