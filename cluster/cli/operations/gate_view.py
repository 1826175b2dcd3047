"""How the gates of an operation look on a terminal: all that is decided on, whatever it is.

`signoff operations` prints with it, as `cluster.cli.printing` says.
"""

import json
from collections.abc import Mapping
from typing import Any

from rich.console import Console

from cluster.cli.approval_view import as_yaml
from cluster.cli.gated.gate import WaitingContent
from cluster.cli.operations.plan_view import show_plan
from cluster.cli.operations.results_view import show_agent_result, show_results, show_write
from cluster.cli.operations.words import agent_words, call_of
from cluster.cli.printing import put, row
from models.mcp.tool_answers import ServerQuestion
from models.operations.plans import PlanShown
from models.operations.questions import AgentQuestion, AgentReview, WriteShown
from models.operations.results import ComprehensiveResults
from models.record import Record

_ASKED: Mapping[str, str] = {
    "failed": "could not do its part",
    "server_asks": "is asked something by its server",
    "write_not_sent": "could not send a call that changes something: nothing was changed",
    "write_unknown": "sent a call that changes something, and nobody knows whether it was done",
}


def show_content(found: Record | None, gate: WaitingContent, console: Console) -> None:
    """Print a gate's content; what is of another kind or shape, as it is."""
    match found:
        case PlanShown():
            _head(found.plan_id, found.iteration, found.question, console)
            if found.feedback:
                put(console, "made anew", f"by what was said: {found.feedback}")
            show_plan(found.plan, console)
        case AgentQuestion():
            _head(found.plan_id, found.iteration, found.question, console)
            _show_question(found, console)
        case WriteShown():
            _head(found.plan_id, found.iteration, found.question, console)
            row(console, "agent", f"{agent_words(found.agent)} wants this call made", style="bold")
            show_write(found.write, console)
            for outcome in found.sent_before:
                row(console, "before", f"the same call was approved already: {outcome.became}", style="bold")
        case AgentReview():
            _head(found.plan_id, found.iteration, found.question, console)
            show_agent_result(found.agent_result, console, shown_in=found.iteration)
        case ComprehensiveResults():
            show_results(found, console)
        case _:
            put(console, "content", as_yaml(dict(gate.content)))


def _head(plan_id: str, iteration: int, question: str, console: Console) -> None:
    row(console, "plan id", f"{plan_id}, iteration {iteration}")
    put(console, "question", question)


def _show_question(found: AgentQuestion, console: Console) -> None:
    row(console, "agent", f"{agent_words(found.agent)} {_ASKED[found.kind]}", style="bold")
    put(console, "because", found.what)
    if (call := found.call) is not None:
        row(console, "call", call_of(call))
        put(console, "with", as_yaml(dict(call.arguments)))
    if found.server_question is not None:
        _show_asked(found.server_question, console)
    for name, value in (found.given or {}).items():
        row(console, "given", f"{name}: {_json(value)}")
    if found.declined:
        row(console, "given", "nothing: its server is told so")


def _show_asked(asked: ServerQuestion, console: Console) -> None:
    row(console, "asked by", f"{asked.server}, before {asked.tool} answers; what you give goes there")
    put(console, "message", asked.message)
    if asked.said is not None:
        put(console, "said", f"by the tool, which was told that nobody answered yet: {asked.said}")
    if asked.url is not None:
        row(console, "address", f"it asks you to open this yourself; nothing here does: {asked.url}")
    if asked.requested is not None:
        _show_form(asked.requested, console)
    state = "" if asked.state is None else f", with its own note {asked.state}"
    row(console, "goes back", f"under {asked.key}{state}")


def _show_form(requested: Mapping[str, Any], console: Console) -> None:
    """What is to be given, by name; what is no plain form is shown as it is."""
    fields, needed = requested.get("properties"), requested.get("required")
    if not isinstance(fields, Mapping) or not all(isinstance(one, Mapping) for one in fields.values()):
        put(console, "wanted", as_yaml(dict(requested)))
        return
    for name, field in fields.items():
        must = ", needed" if isinstance(needed, list) and name in needed else ""
        rest = {key: value for key, value in field.items() if key != "type"}
        kind = field.get("type", "anything")
        row(console, "wanted", f"{name} ({kind}{must})" + (f" {_json(rest)}" if rest else ""))
    rest = {key: value for key, value in requested.items() if key not in ("properties", "type")}
    if rest:
        row(console, "", _json(rest), style="dim")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
