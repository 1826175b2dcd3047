"""How operations look on a terminal: lists, how far one is, and what happened in it.

`signoff operations` prints with it, as `cluster.cli.printing` says.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError
from rich.console import Console

from cluster.cli.approval_view import as_yaml
from cluster.cli.operations.plan_view import in_order
from cluster.cli.operations.words import agent_words, all_agents, lasts, stage_words, standing
from cluster.cli.printing import in_words, listing, put, row, why
from cluster.plain_text import one_line
from models.operations.following import OperationList
from models.operations.history import ExecutionContext, HistoryEntry
from models.operations.operations import OperationStatusResponse
from models.operations.plans import OperationPlan
from models.operations.results import MOCK_SERVICE


def table(page: OperationList, console: Console) -> None:
    """Print a list of operations."""
    names = ("id", "status", "type", "topic", "by", "asked for")
    rows = []
    for one in page.operations:
        status = standing(one.status, one.outcome) + (", decide" if one.waits_for_decision else "")
        asked, kind = f"{one.created_at:%Y-%m-%d %H:%M}", in_words(one.task_type)
        cells = (one.operation_id, status, kind, one.topic, one.requested_by, asked)
        rows.append((cells, one.name, one.reason))
    listing(console, names, rows)


def progress_line(status: OperationStatusResponse) -> str:
    """How far it is, on one line."""
    done = status.progress
    parts = [
        f"{in_words(status.status)} {done.progress_percentage:.0f} %",
        f"iteration {status.iteration}",
        stage_words(done.current_stage),
    ]
    if done.completed_agents:
        parts.append(f"done: {all_agents(done.completed_agents)}")
    if done.pending_agents:
        parts.append(f"to come: {all_agents(done.pending_agents)}")
    if done.estimated_remaining:
        parts.append(f"{lasts(done.estimated_remaining)} left")
    if status.waits_for:
        parts.append(f"waits for {status.waits_for}")
    return one_line("; ".join(parts))


def show_status(status: OperationStatusResponse, console: Console) -> None:
    """Print where an operation stands."""
    kind = in_words(status.task_type)
    row(console, "operation", f"{status.operation_id}, {kind}, {status.topic}; for {status.requested_by}")
    put(console, "question", status.query)
    row(console, "stands", progress_line(status))
    if status.outcome:
        row(console, "ended", standing(status.status, status.outcome))
    why(console, status.reason, status.error)


def show_history(found: ExecutionContext, console: Console) -> None:
    """Print what was asked for, and all that happened."""
    put(console, "question", found.original_task)
    row(console, "type", in_words(found.workflow_type))
    day = None
    for entry in found.execution_history:
        if (today := f"{entry.timestamp:%Y-%m-%d}") != day:
            row(console, "day", today)
        day = today
        show_entry(entry, console)
    if found.ended is not None:
        told = f"it is {in_words(found.ended.status)}"
        put(console, f"{found.ended.timestamp:%H:%M:%S}", told)
        if found.ended.reason:
            row(console, "why", found.ended.reason)


def show_entry(entry: HistoryEntry, console: Console) -> None:
    """Print one thing that happened, and what a person said to it."""
    put(console, f"{entry.timestamp:%H:%M:%S}", f"iteration {entry.iteration}: {_told(entry)}")
    if entry.user_feedback:
        put(console, "", f"{f'{entry.by} said' if entry.by else 'by what was said'}: {entry.user_feedback}")


def _told(entry: HistoryEntry) -> str:
    """What happened, in words; what is of another shape as it is."""
    result = entry.result
    match entry.stage:
        case "plan_creation":
            try:
                return f"a plan was made: {in_order(OperationPlan.model_validate(result))}"
            except ValidationError:
                return f"a plan was made\n{as_yaml(dict(result))}"
        case "plan_approval":
            changed = ", as changed" if result.get("modified") else ""
            return f"the plan was {_decided(entry)}{changed}"
        case "agent_execution":
            return _of_agent(agent_words(entry.agent or "an agent"), result)
        case "results_compilation":
            conflicts = [str(one) for one in _listed(result, "conflicts")]
            summary = [str(one) for one in _listed(result, "executive_summary")]
            told = "\n".join((*summary, *(f"contradicts: {one}" for one in conflicts)))
            return f"the results were put together\n{told}".rstrip("\n")
        case "final_approval":
            agents = [str(one) for one in _listed(result, "target_agents")]
            again = str(result.get("revision_type", "none"))
            asked = "" if again == "none" else f"; asked for: {in_words(again)}"
            return f"the results were {_decided(entry)}{asked}{f' ({all_agents(agents)})' if agents else ''}"


def _decided(entry: HistoryEntry) -> str:
    status = in_words(str(entry.result.get("status", "decided on")))
    return f"{status} by {entry.by}" if entry.by else status


def _of_agent(agent: str, result: Mapping[str, Any]) -> str:
    if (why := result.get("voids_plan")) is not None:
        return f"{agent}: the plan does not hold any more: {why}"
    if isinstance(asked := result.get("server_question"), Mapping):
        return f"{agent} is asked something by {asked.get('server')}: {asked.get('message')}"
    if (asked := result.get("asked")) is not None:
        return f"{agent}: what was asked about it was answered: {in_words(str(result.get('status')))}"
    if isinstance(sending := result.get("sending"), Mapping):
        return f"{agent}, a call that changes something is sent\n{as_yaml(dict(sending))}"
    if isinstance(wrote := result.get("write"), Mapping):
        return f"{agent}, a call that changes something: {wrote.get('status')}\n{as_yaml(dict(wrote))}"
    how = result.get("metadata")
    facts = how if isinstance(how, Mapping) else {}
    mock = ", mock" if facts.get("service_used") == MOCK_SERVICE else ""
    told = f"{agent}: {result.get('status', 'done')}, found {result.get('items', 0)}"
    told += f", quality {facts.get('data_quality', 'unknown')}{mock}"
    found = result.get("result")
    more = result.get("error") or (found.get("summary") if isinstance(found, Mapping) else None)
    return f"{told}\n{more}" if more else told


def _listed(result: Mapping[str, Any], name: str) -> Iterable[Any]:
    found = result.get(name)
    return found if isinstance(found, list | tuple) else ()
