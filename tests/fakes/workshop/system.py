"""What the workshop brings: a kind, its gate, what may be changed there, and a tool."""

from actors.platform.system import System
from models.runtime.gated_kinds import Gate, made_kind
from models.runtime.workflow_kinds import Ending, WorkflowKind
from tests.fakes.workshop.records import Toy, ToyChange, ToyOrder, ToyPlan

SYSTEM = System(
    name="workshop",
    kinds=(
        WorkflowKind(
            name="order_toy",
            graph="tests.fakes.workshop.graph:ORDER_TOY",
            word="toy",
            input=ToyOrder,
            result=Toy,
            ending=Ending("decision", reached="approved"),
            gated=made_kind(
                "order_toy",
                role="editor",
                asks=ToyOrder,
                gates={
                    "toy_plan": Gate(ToyPlan, change=ToyChange, changed="tests.fakes.workshop.graph:changed")
                },
                stages=("planning", "building"),
            ),
        ),
    ),
    tools=("tests.fakes.workshop.tools:paint_toy",),
)
