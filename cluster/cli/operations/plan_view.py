"""How the plan of an operation looks on a terminal: which agents run, why, and what each may call.

`signoff operations` prints with it, as `cluster.cli.printing` says.
"""

from rich.console import Console

from cluster.cli.operations.words import agent_words, all_agents, call_of, lasts
from cluster.cli.printing import LABEL, put, row, rows
from models.operations.plans import AgentStep, OperationPlan


def show_plan(plan: OperationPlan, console: Console) -> None:
    """Print a plan, whole."""
    put(console, "plan", plan.description)
    row(console, "order", in_order(plan))
    row(console, "takes", f"{lasts(plan.estimated_duration)}, as estimated; complexity: {plan.complexity}")
    row(console, "reads", ", ".join(plan.data_sources) or "nothing")
    rows(console, "looks for", plan.leads or ("nothing in particular: all is read",))
    for number, step in enumerate(plan.steps, 1):
        _show_step(number, step, console)
    rows(console, "note", plan.notes)


def in_order(plan: OperationPlan) -> str:
    """Which agents run, and whether after each other."""
    told = all_agents(plan.agent_sequence)
    if len(plan.agent_sequence) == 1:
        return told
    if plan.side_by_side:
        return f"{told}; those that read run side by side, and none is told what another found"
    return f"{told}; one after the other, each with what those before it found"


def _show_step(number: int, step: AgentStep, console: Console) -> None:
    put(console, f"{number:>10}", f"{agent_words(step.agent)}: {step.why}", style="bold")
    for tool in step.tools:
        writes = "; it writes: each call is shown to a person first" if tool.writes else ""
        row(console, "", f"may call {call_of(tool)}{writes}")
        if tool.description:
            row(console, "", f"its server says: {tool.description}", style="dim")
    if step.instructions:
        put(console, "", "is told:")
        put(console, "", step.instructions, indent=LABEL + 2)
