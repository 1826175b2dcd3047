"""What a person makes of a plan before it is approved. Pure.

Called by the tool that decides on plans. What comes out is checked as a plan is, and is what runs: its words
are true of it, too.
"""

import re
from collections.abc import Collection

from models.errors import InputInvalid
from models.operations.plans import ANALYSIS, OperationAgent, OperationPlan, sequence_fault
from models.operations.revisions import PlanEdit
from models.text import how_many, shortened

_LONGEST_DESCRIPTION = 400
# As code describes a plan. What a model wrote is not taken apart: what is left out is said before it.
_BY_CODE = re.compile(r"Read \d+ systems?(?: and compare)?: ")


def edited(plan: OperationPlan, edit: PlanEdit) -> OperationPlan:
    """The plan as a person changed it: another order, fewer agents, instructions.

    Raises:
        InputInvalid: nothing is changed, or an agent is not in the plan, or nothing would be read.
    """
    steps = {step.agent: step for step in plan.steps}
    sequence = edit.agent_sequence if edit.reorders else plan.agent_sequence
    for name, agents in (
        ("agent_sequence", sequence),
        ("skip_agents", edit.skip_agents),
        ("instructions", tuple(edit.instructions)),
    ):
        for agent in agents:
            if agent not in steps:
                raise InputInvalid(
                    f"modified_plan.{name}: {agent} is not in this plan: reject it, and say in feedback that "
                    f"{agent} is to run as well"
                )
    kept = tuple(agent for agent in sequence if agent not in edit.skip_agents)
    if fault := sequence_fault(kept):
        raise InputInvalid(f"modified_plan.agent_sequence: {fault}")
    if unheard := [agent for agent in edit.instructions if agent not in kept]:
        raise InputInvalid(
            f"modified_plan.instructions: {unheard[0]} does not run: leave it in, or say nothing"
        )
    share = len(kept) / len(plan.agent_sequence)
    gone = [agent for agent in plan.agent_sequence if agent not in kept]
    sources = dict(zip(plan.sources, plan.data_sources, strict=True))
    changed = OperationPlan(
        description=_description(plan, kept, gone),
        agent_sequence=kept,
        estimated_duration=round(plan.estimated_duration * share, 1),
        data_sources=tuple(sources[agent] for agent in kept if agent in sources),
        complexity=plan.complexity,
        steps=tuple(
            steps[agent].model_copy(
                update={"instructions": edit.instructions.get(agent, steps[agent].instructions)}
            )
            for agent in kept
        ),
        side_by_side=plan.side_by_side if edit.side_by_side is None else edit.side_by_side,
        leads=plan.leads,
        notes=_notes(plan, gone),
    )
    if changed == plan:
        raise InputInvalid("modified_plan: it changes nothing: approve the plan without it")
    return changed


def _description(
    plan: OperationPlan, kept: Collection[OperationAgent], gone: Collection[OperationAgent]
) -> str:
    """What is done where some agents are left out: code's own is counted anew, a model's is put right."""
    if not gone:
        return plan.description
    if (begun := _BY_CODE.match(plan.description)) is None:
        return shortened(f"Without {', '.join(gone)}: {plan.description}", _LONGEST_DESCRIPTION)
    count = how_many(sum(agent != ANALYSIS for agent in kept), "system")
    compared = " and compare" if ANALYSIS in kept else ""
    return f"Read {count}{compared}: {plan.description[begun.end() :]}"


def _notes(plan: OperationPlan, gone: Collection[OperationAgent]) -> tuple[str, ...]:
    """Those that are not of an agent which is left out."""
    return tuple(note for note in plan.notes if note.partition(":")[0] not in gone)
