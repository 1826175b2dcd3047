"""What a person changes of a plan before approving it, in words that are typed: read, made, and printed.

`signoff operations follow` takes them line by line, and `decide --change` all at once.
"""

from collections.abc import Mapping
from typing import Any

from rich.console import Console

from actors.systems.operations.plan_edits import edited
from cluster.cli.asking import told_of_form
from cluster.cli.operations.plan_view import in_order
from cluster.cli.operations.words import agent_words, all_agents, lasts, next_agent, no_agent, only_agents
from cluster.cli.printing import put, row
from cluster.cli.records import checked
from models.errors import InputInvalid
from models.operations.plans import OperationAgent, OperationPlan
from models.operations.revisions import PlanEdit

CHANGES: Mapping[str, str] = {
    "skip AGENT ...": "leave these out",
    "order AGENT ...": "these alone, in this order",
    "tell AGENT WORDS": "how it is to do its part",
    "side-by-side on|off": "those that read at once, or one after the other",
}
_NONE = PlanEdit()


def with_change(plan: OperationPlan, before: PlanEdit, word: str, rest: str) -> PlanEdit:
    """The changes with one more, as it was typed.

    Raises:
        InputInvalid: it is none, or the plan can't be changed so.
    """
    form = next((form for form in CHANGES if form.split()[0] == word), None)
    if form is None:
        raise InputInvalid(f"{word!r} changes no plan: write {'; '.join(CHANGES)}")
    if not rest:
        raise told_of_form(form, word, rest)
    more: dict[str, Any]
    match word, rest:
        case "skip", _:
            agents = _of(plan, only_agents(rest))
            more = {"skip_agents": tuple(dict.fromkeys((*before.skip_agents, *agents)))}
        case "order", _:
            order = _of(plan, only_agents(rest))
            # The last word holds: what is named in the order runs.
            left = tuple(agent for agent in before.skip_agents if agent not in order)
            more = {"agent_sequence": order, "skip_agents": left}
        case "tell", _:
            more = {"instructions": {**before.instructions, **_said(plan, form, rest)}}
        case "side-by-side", "on" | "off":
            more = {"side_by_side": rest == "on"}
        case _:
            raise InputInvalid(f"nothing was decided: {word}: write {form}")
    given = {name: getattr(before, name) for name in before.model_fields_set}
    made = checked(PlanEdit, {**given, **more})
    as_edited(plan, made)
    return made


def as_edited(plan: OperationPlan, edit: PlanEdit) -> OperationPlan:
    """What is approved in place of the plan: the site makes the same of it. Raises InputInvalid."""
    if edit == _NONE:
        return plan
    try:
        return edited(plan, edit)
    except InputInvalid as error:
        raise InputInvalid(_plainly(str(error))) from error


def show_edited(plan: OperationPlan, edit: PlanEdit, console: Console) -> None:
    """Print what is otherwise in what is approved in place of the plan. Raises InputInvalid."""
    if edit == _NONE:
        row(console, "", "you have changed nothing")
        return
    made = as_edited(plan, edit)
    if made.description != plan.description:
        put(console, "plan", made.description)
    row(console, "order", in_order(made))
    if gone := [agent for agent in plan.agent_sequence if agent not in made.agent_sequence]:
        row(console, "without", all_agents(gone))
    for step in made.steps:
        if step.instructions != plan.step(step.agent).instructions:
            put(console, "is told", f"{agent_words(step.agent)}: {step.instructions}")
    row(console, "takes", f"{lasts(made.estimated_duration)}, as estimated")


def _of(plan: OperationPlan, agents: tuple[OperationAgent, ...]) -> tuple[OperationAgent, ...]:
    for agent in agents:
        if agent not in plan.agent_sequence:
            raise InputInvalid(
                f"{agent_words(agent)} is not in this plan, and nothing was decided: reject it, and say that "
                f"{agent_words(agent)} is to run as well"
            )
    return agents


def _said(plan: OperationPlan, form: str, rest: str) -> dict[OperationAgent, str]:
    found = next_agent(rest)
    if found is None:
        raise no_agent(rest)
    agent, words = found
    if not words.strip():
        raise told_of_form(form, "tell", "AGENT")
    _of(plan, (agent,))
    return {agent: words.strip()}


def _plainly(told: str) -> str:
    """What is wrong, without the names of the API's fields."""
    field, colon, why = told.partition(": ")
    plainly = why if colon and field.startswith("modified_plan") else told
    for agent in ("accounts_payable", "gmail", "crm"):
        plainly = plainly.replace(agent, agent_words(agent))
    return plainly
