"""The gated kinds over HTTP: what each may be asked, what people decide on, and where; from its declaration.

A client that knows no kind shows any of them by this: schemas say what a content holds, with hints.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Header, Request

from actors.platform.gates.titles import language_wanted, title
from actors.platform.text.lexicon import Language
from actors.platform.tools.registry import Registry
from actors.platform.tools.tool import Tool
from models.record import Record
from models.runtime.gated_kinds import GatedKind, shown_schema
from models.runtime.workflow_kinds import Kinds, WorkflowKind
from serve.auth.caller import Caller
from serve.problems import problem_responses
from serve.routes.tools import place_of

router = APIRouter(prefix="/api/kinds", tags=["kinds"])


class KindEndpoint(Record):
    """An endpoint. The path's parameters are fields of the input, by their names."""

    method: str
    path: str


class KindAction(KindEndpoint):
    """What can be asked of a kind: the tool, where it is, and what it takes."""

    name: str
    tool: str
    title: str
    input: Mapping[str, Any]


class KindGate(Record):
    """Where people decide: what they are shown, where they answer, and what an answer may be."""

    kind: str
    title: str
    content: Mapping[str, Any]
    decide: KindEndpoint
    answer: Mapping[str, Any]


class KindStage(Record):
    """A stage of the work."""

    name: str
    title: str


class KindExport(Record):
    """A form in which results are handed over."""

    format: str
    path: str


class Kind(Record):
    """A gated kind. `number` is the field by which people name one; `word` what they call it."""

    name: str
    word: str
    title: str
    number: str
    actions: tuple[KindAction, ...]
    gates: tuple[KindGate, ...]
    stages: tuple[KindStage, ...]
    exports: tuple[KindExport, ...]


class KindList(Record):
    """The kinds that the caller has to do with."""

    kinds: tuple[Kind, ...]


@router.get("", responses=problem_responses(401, 422, 503))
async def list_kinds(
    request: Request,
    caller: Caller,
    accept_language: Annotated[str | None, Header(max_length=200)] = None,
) -> KindList:
    """The gated kinds that the caller may see on any topic; titles are in the language that is accepted."""
    registry: Registry = request.app.state.registry
    kinds: Kinds = request.app.state.kinds
    tools = {tool.name: tool for tool in registry.permitted(caller.scopes, door="rest")}
    language = language_wanted(accept_language)
    return KindList(
        kinds=tuple(
            _kind(kind, kind.gated, tools, language)
            for kind in kinds.values()
            if kind.gated is not None and caller.has(kind.gated.role)
        )
    )


def _kind(kind: WorkflowKind, gated: GatedKind, tools: Mapping[str, Tool], language: Language) -> Kind:
    actions = tuple(
        KindAction(
            name=name,
            tool=tool,
            title=title(language, "action", kind.name, name),
            input=shown_schema(tools[tool].input),
            **_place(tools[tool]),
        )
        for name, tool in gated.actions.items()
        if tool in tools
    )
    export = next((action.path for action in actions if action.name == "export"), None)
    return Kind(
        name=kind.name,
        word=kind.word or kind.name,
        title=title(language, "kind", kind.name),
        number=gated.number,
        actions=actions,
        gates=tuple(
            KindGate(
                kind=name,
                title=title(language, "gate", name),
                content=shown_schema(gate.content),
                decide=KindEndpoint(**_place(tools[gate.decide])),
                answer=shown_schema(tools[gate.decide].input),
            )
            for name, gate in gated.gates.items()
            if gate.decide in tools
        ),
        stages=tuple(KindStage(name=name, title=title(language, "stage", name)) for name in gated.stages),
        exports=tuple(
            KindExport(format=name, path=f"{export}?format={name}") for name in gated.exports if export
        ),
    )


def _place(tool: Tool) -> dict[str, str]:
    """Where a tool is, with its input's own names in the path."""
    method, path, in_path = place_of(tool)
    return {
        "method": method,
        "path": re.sub(r"\{(\w+)\}", lambda found: f"{{{in_path.get(found[1], found[1])}}}", path),
    }
