"""The gate: where a workflow stops until a human has decided.

`decide` is the first line of a gate node, and the node does nothing before it (LangGraph runs a node
from its top again when it resumes). A gate has a name of its own in its workflow, by which its decision is
found again whatever the graph has become meanwhile. What is decided on happens in later nodes. One that an
earlier run came by, and that asks for the same, is answered without a stop: a replay passes many of them.
"""

from langgraph.config import get_config
from langgraph.types import interrupt

from actors.platform.runtime.replay import Replay
from models.runtime.approvals import GateDecision, GateRequest, GateStop

# Where a graph's configuration names the replay that it is part of.
REPLAY = "replay"


def decide(gate: str, request: GateRequest | None = None) -> GateDecision:
    """Stop at `gate` until `request` is decided; only a decision with status `approved` is a yes.

    Without a request, the approval was written under this gate together with the workflow.
    """
    here = get_config()["configurable"]
    replay: Replay = here[REPLAY]
    replay.reach(gate)
    decision = replay.decision(gate, request, place=here["checkpoint_ns"])
    if decision is not None:
        return decision
    return GateDecision.model_validate(interrupt(GateStop(gate=gate, request=request).model_dump()))
