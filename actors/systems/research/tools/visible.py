"""What all tools of researches have in common: who sees one, and where they are kept."""

from typing import Annotated

from pydantic import Field

from actors.platform.gates.kind_tools import KindTools
from actors.systems.research.system import RESEARCH
from models.errors import ResearchNotFound
from models.research.agent_workflows import STATUS_OF, AgentWorkflow
from models.store.research import agent_workflows
from models.tools import Number

RESEARCHES: KindTools[AgentWorkflow] = KindTools(
    kind=RESEARCH,
    noun="research",
    get=agent_workflows.get,
    missing=ResearchNotFound,
    statuses=STATUS_OF,
    where="/api/v1/agent-workflows/{}",
)
WorkflowId = Annotated[Number, Field(description="The research, by its number", examples=[12])]
