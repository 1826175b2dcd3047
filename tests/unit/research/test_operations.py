"""What a research is said to do: for every step at work, every gate, and every end."""

from typing import get_args

from models.research.agent_workflows import AgentWorkflowStatus, ResearchOutcome, Step
from models.research.operations import operation


def test_there_are_words_for_whatever_it_may_be_at() -> None:
    for status in get_args(AgentWorkflowStatus):
        for step in get_args(Step):
            for outcome in (None, *get_args(ResearchOutcome)):
                said = operation(
                    status,
                    step,
                    outcome=outcome,
                    reason="rejected by bob: thin",
                    waits_for=None,
                    done=1,
                    approved=2,
                )
                assert said.endswith("."), (status, step, outcome)
