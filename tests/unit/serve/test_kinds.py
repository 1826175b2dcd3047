"""`GET /api/kinds` reads declarations: tools that they name are there, and gates show all that they have."""

from collections.abc import Iterator
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Annotated, Any

import pytest

from actors.platform import systems
from actors.platform.gates.made_tools import tools_of
from actors.platform.gates.titles import language_wanted, title
from actors.platform.text.lexicon import Language, languages, lexicon
from cluster.cli.gated.any_kind import AnyStanding
from models.people.scopes import parse_scope
from models.record import Record
from models.runtime.approvals import Approval
from models.runtime.gated_kinds import GatedKind, Shown, shown_schema
from models.runtime.workflow_kinds import WorkflowKind
from models.runtime.workflows import Workflow
from models.store import approval_inbox
from models.store.runtime import workflows
from serve.routes.tools import place_of
from tests.fakes.workshop.system import SYSTEM as WORKSHOP

GATED = [(kind, kind.gated) for kind in systems.kinds().values() if kind.gated is not None]


def _names(kind: WorkflowKind, gated: GatedKind) -> Iterator[tuple[str, ...]]:
    yield "kind", kind.name
    yield from (("action", kind.name, action) for action in gated.actions)
    yield from (("gate", gate) for gate in gated.gates)
    yield from (("stage", stage) for stage in gated.stages)


@pytest.mark.parametrize(("kind", "gated"), GATED, ids=[kind.name for kind, _ in GATED])
def test_a_kind_names_tools_that_there_are_and_a_place_that_they_have(
    kind: WorkflowKind, gated: GatedKind
) -> None:
    tools = {tool.name: tool for tool in systems.tools()}
    for name in (*gated.actions.values(), *(gate.decide for gate in gated.gates.values())):
        method, path, in_path = place_of(tools[name])
        assert method in ("GET", "POST")
        assert path.startswith("/api/")
        assert set(in_path.values()) <= tools[name].input.model_fields.keys()
    assert bool(gated.exports) == ("export" in gated.actions)


@pytest.mark.parametrize("language", languages())
def test_every_name_of_a_kind_has_words_in_each_language(language: Language) -> None:
    named = {"/".join(path) for kind, gated in GATED for path in _names(kind, gated)}
    assert lexicon(language, "kinds").keys() == named


def test_what_has_no_words_is_called_by_its_name() -> None:
    assert title("pl", "gate", "operation_plan") == "Plan"
    assert title("pl", "gate", "toy_plan") == "toy plan"


@pytest.mark.parametrize(
    ("accepted", "language"),
    [("pl-PL,pl;q=0.9,en;q=0.8", "pl"), ("fr, DE;q=0.5", "de"), ("", "en"), (None, "en"), ("*", "en")],
)
def test_the_language_is_the_first_of_ours_that_is_accepted(accepted: str | None, language: str) -> None:
    assert language_wanted(accepted) == language


@pytest.mark.parametrize(("kind", "gated"), GATED, ids=[kind.name for kind, _ in GATED])
def test_a_hint_changes_nothing_of_what_is_shown(kind: WorkflowKind, gated: GatedKind) -> None:
    for gate in gated.gates.values():
        assert _without_hints(dict(shown_schema(gate.content))) == gate.content.model_json_schema()


def test_a_hint_stands_beside_the_field_that_it_is_about() -> None:
    class Bill(Record):
        amount: int

    class Bills(Record):
        bills: Annotated[tuple[Bill, ...], Shown("table", columns=("amount",))]
        bill: Annotated[Bill, Shown("first")]

    shown = shown_schema(Bills)["properties"]
    assert (shown["bills"]["x-show"], shown["bills"]["x-columns"]) == ("table", ["amount"])
    assert shown["bill"] == {"$ref": "#/$defs/Bill", "x-show": "first"}
    assert "x-show" not in str(Bills.model_json_schema())


def _without_hints(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_without_hints(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {name: _without_hints(value) for name, value in schema.items() if not name.startswith("x-")}


async def test_a_terminal_reads_how_one_of_a_made_kind_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    [kind] = WORKSHOP.kinds
    assert kind.gated is not None
    get = next(tool for tool in tools_of(kind, kind.gated) if tool.name == "get_order_toy")
    now = datetime.now(UTC)
    asked = {"id": "5f0c", "kind": "order_toy", "requested_by": "ann", "status": "waiting"}
    asked |= {"permission": {"role": "editor", "topic": "macro"}, "input": {}, "created_at": now}
    asked |= {"key": None, "input_digest": "", "epoch": 1, "runner_id": None, "result": None, "error": None}
    asked |= dict.fromkeys(("parked_for", "parked_since", "started_at", "finished_at"))
    workflow = Workflow.model_validate(asked | {"projection_due": False, "updated_at": now})
    waiting = Approval.model_validate(
        dict.fromkeys(Approval.model_fields)
        | {"id": "3", "workflow_id": "5f0c", "gate": "plan", "kind": "toy_plan", "title": "A toy"}
        | {"content": {"wood": "pine"}, "digest": "0" * 64, "requested_by": "ann", "votes": ()}
        | {"required_scope": "macro:editor", "four_eyes": False, "quorum": 1, "status": "pending"}
        | {"created_at": now, "expires_at": now}
    )

    async def found(*_: object) -> Workflow:
        return workflow

    async def pending(*_: object) -> list[Approval]:
        return [waiting]

    monkeypatch.setattr(workflows, "get", found)
    monkeypatch.setattr(approval_inbox, "pending_of_workflow", pending)
    caller = SimpleNamespace(subject="ed", scopes=(parse_scope("macro:editor"),), has=lambda *_: True)
    context: Any = SimpleNamespace(connection=None, caller=caller)
    told = await get.run(context, get.input(task_id="5f0c"))
    read = AnyStanding.model_validate(told.model_dump(mode="json"))
    assert read.status == "awaiting_approval"
    assert read.approval is not None
    assert (read.approval.approval_id, read.approval.content["wood"]) == ("3", "pine")
    assert read.approval.may_decide
