"""The gate: where a workflow stops until a human has decided.

`decide` is the first line of a gate node, and the node does nothing before it (LangGraph runs a node
from its top again when it resumes). What is decided on happens in later nodes.
"""

from langgraph.types import interrupt

from models.approvals import Asked, GateDecision, GateRequest


def decide(request: GateRequest | Asked) -> GateDecision:
    """Stop here until `request` is decided; only a decision with status `approved` is a yes.

    `Asked` names an approval that was written together with the workflow.
    """
    return GateDecision.model_validate(interrupt(request.model_dump()))
