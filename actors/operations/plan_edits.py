"""What a person makes of a plan before it is approved. Pure.

Called by the tool that decides on plans. What comes out is checked as a plan is, and is what runs.
"""

from models.errors import InputInvalid
from models.operations.plans import OperationPlan, sequence_fault
from models.operations.revisions import PlanEdit


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
    share = sum(1 for _ in kept) / len(plan.agent_sequence)
    sources = dict(zip(plan.sources, plan.data_sources, strict=True))
    changed = OperationPlan(
        description=plan.description,
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
        notes=plan.notes,
    )
    if changed == plan:
        raise InputInvalid("modified_plan: it changes nothing: approve the plan without it")
    return changed
