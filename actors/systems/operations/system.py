"""Operations: agents read mail, bills and accounts over MCP by an approved plan, and compare. Seed 003."""

from typing import Any, get_args

from actors.platform.llm.prompts import read_two_part_prompt
from actors.platform.system import AgentDirectory, AgentRole, System
from models.config import Config
from models.operations.events import ComprehensiveResultsReady, WorkflowProgressUpdate
from models.operations.exports import ExportFormat
from models.operations.gates import CONTENT_OF_OPERATION_GATE
from models.operations.items import SourceAgent
from models.operations.operations import CurrentStage, OperationTask
from models.operations.results import OperationResult
from models.runtime.gated_kinds import Gate, GatedKind
from models.runtime.workflow_kinds import Ending, WorkflowKind
from models.store.operations.operations import KIND


def _planner(config: Config, directory: AgentDirectory) -> dict[str, Any]:
    settings = config.operations
    return {
        "plans": settings.plans,
        "settings": settings.planner_llm,
        "breaker": config.outages.breaker,
        "prompt": read_two_part_prompt(settings.prompts_dir, "plan.md"),
        "sources": settings.sources,
    }


def _reader(agent: SourceAgent) -> AgentRole:
    def arguments(config: Config, directory: AgentDirectory) -> dict[str, Any]:
        settings = config.operations
        source = settings.sources.get(agent)
        return {
            "agent": agent,
            "chooses": settings.chooses,
            "settings": settings.agents_llm,
            "breaker": config.outages.breaker,
            "prompt": read_two_part_prompt(settings.prompts_dir, "choose_call.md"),
            "source": source,
            "server": None if source is None else config.mcp.servers[source.server],
            "seconds": settings.step_seconds,
            "most_calls": settings.most_calls,
            "most_items": settings.most_items,
        }

    return "actors.systems.operations.agents.source_reader:SourceReader", arguments


def _analyst(config: Config, directory: AgentDirectory) -> dict[str, Any]:
    settings = config.operations
    return {
        "writes": settings.writes,
        "settings": settings.analysis_llm,
        "breaker": config.outages.breaker,
        "prompt": read_two_part_prompt(settings.prompts_dir, "write_summary.md"),
    }


_DECIDED_BY = {"operation_plan": "decide_operation_plan", "operation_results": "decide_operation_results"}
OPERATION = GatedKind(
    role="analyst",
    number="operation_id",
    actions={
        "start": "start_operation",
        "list": "list_operations",
        "get": "get_operation",
        "results": "read_operation_results",
        "history": "read_operation_history",
        "compare": "compare_operation",
        "clarify": "clarify_operation",
        "export": "export_operation",
        "cancel": "cancel_operation",
    },
    gates={
        kind: Gate(content, _DECIDED_BY.get(kind, "decide_operation_agent"))
        for kind, content in CONTENT_OF_OPERATION_GATE.items()
    },
    stages=get_args(CurrentStage),
    exports=get_args(ExportFormat),
)
SYSTEM = System(
    name="operations",
    roles={
        "planner": ("actors.systems.operations.agents.planner:Planner", _planner),
        "gmail": _reader("gmail"),
        "accounts_payable": _reader("accounts_payable"),
        "crm": _reader("crm"),
        "analysis": ("actors.systems.operations.agents.analyst:OperationAnalyst", _analyst),
    },
    kinds=(
        WorkflowKind(
            name=KIND,
            graph="actors.systems.operations.graph:OPERATION",
            word="operation",
            input=OperationTask,
            result=OperationResult,
            gated=OPERATION,
            ending=Ending("outcome", reached="completed"),
            complex=True,
        ),
    ),
    tools=(
        "actors.systems.operations.tools.starting:start_operation",
        "actors.systems.operations.tools.starting:cancel_operation",
        "actors.systems.operations.tools.following:get_operation",
        "actors.systems.operations.tools.following:list_operations",
        "actors.systems.operations.tools.following:read_operation_history",
        "actors.systems.operations.tools.following:read_operation_results",
        "actors.systems.operations.tools.following:compare_operation",
        "actors.systems.operations.tools.exporting:export_operation",
        "actors.systems.operations.tools.deciding:decide_operation_plan",
        "actors.systems.operations.tools.deciding:decide_operation_results",
        "actors.systems.operations.tools.deciding:decide_operation_agent",
        "actors.systems.operations.tools.deciding:clarify_operation",
    ),
    routers=("serve.routes.operations:router", "serve.routes.operation_messages:router"),
    events=(WorkflowProgressUpdate, ComprehensiveResultsReady),
)
