"""A kind that this terminal has no words for: a site declares it at `/api/kinds`, and it is shown by that."""

import json
import re
import shlex
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, RootModel, ValidationError
from rich.console import Console

from cluster.cli.approval_view import as_yaml
from cluster.cli.door import Door
from cluster.cli.gated.following import WITHOUT_RESULT
from cluster.cli.gated.gate import WaitingContent
from cluster.cli.gated.kind import AtGate, TerminalKind, Wish
from cluster.cli.gated.schemas import Schema, fields_of, titled, values_given
from cluster.cli.gated.work import Work
from cluster.cli.printing import in_words, put, row
from cluster.cli.records import read
from models.errors import InputInvalid, RequestRefused
from models.near_names import suggestion
from models.record import Record
from models.runtime.approvals import GateShown

_IN_PATH = re.compile(r"\{(\w+)\}")


class DeclaredEndpoint(BaseModel):
    """An endpoint; what stands in its path between braces is a field of its input."""

    method: str
    path: str


class DeclaredAction(DeclaredEndpoint):
    """What can be asked of a kind."""

    name: str
    title: str
    input: dict[str, Any]


class DeclaredGate(BaseModel):
    """What is shown at a gate, and where and how people answer."""

    kind: str
    title: str
    content: dict[str, Any]
    decide: DeclaredEndpoint
    answer: dict[str, Any]


class DeclaredKind(BaseModel):
    """A kind. `number` is the field by which people name one."""

    name: str
    word: str
    title: str
    number: str
    actions: tuple[DeclaredAction, ...]
    gates: tuple[DeclaredGate, ...]

    def action(self, name: str) -> DeclaredAction:
        """What is asked for by that name. Raises InputInvalid."""
        known = {action.name: action for action in self.actions}
        if (found := known.get(name)) is None:
            raise InputInvalid(f"{self.name} has no {name!r}: {suggestion(name, tuple(known))}")
        return found

    def gate(self, kind: str) -> DeclaredGate | None:
        """The gate whose approvals are of that kind."""
        return next((gate for gate in self.gates if gate.kind == kind), None)


class DeclaredKinds(BaseModel):
    """All that this person may see."""

    kinds: tuple[DeclaredKind, ...]

    def kind(self, name: str) -> DeclaredKind:
        """The kind of that name. Raises InputInvalid."""
        known = {kind.name: kind for kind in self.kinds}
        if (found := known.get(name)) is None:
            raise InputInvalid(f"there is no {name!r} here: {suggestion(name, tuple(known))}")
        return found


def declared(door: Door) -> DeclaredKinds:
    """The kinds that a site declares; none where it is of an earlier release."""
    try:
        return read(DeclaredKinds, door.ask(dict[str, Any], "GET", "/api/kinds"))
    except RequestRefused as error:
        if error.facts.get("status") == 404:
            return DeclaredKinds(kinds=())
        raise


def content_schema(door: Door, kind: str) -> Schema:
    """What the contents of an approval of that kind hold; empty where nobody says."""
    gates = (gate for each in declared(door).kinds for gate in each.gates if gate.kind == kind)
    return next((gate.content for gate in gates), {})


def place(endpoint: DeclaredEndpoint, given: dict[str, Any]) -> str:
    """The endpoint's path, with what of `given` stands in it taken out. Raises InputInvalid."""

    def filled(found: re.Match[str]) -> str:
        if (value := given.pop(found[1], None)) is None or not str(value).isascii():
            raise InputInvalid(f"{found[1]} is missing: it says which one")
        return re.sub(r"[^\w.-]", lambda one: f"%{ord(one[0]):02X}", str(value))

    return _IN_PATH.sub(filled, endpoint.path)


class AnyStanding(RootModel[dict[str, Any]]):
    """How one stands, with all that its site tells."""

    @property
    def status(self) -> str:
        """In the site's word."""
        if not isinstance(told := self.root.get("status"), str):
            raise InputInvalid("its site does not tell how one of these stands: it can't be followed")
        return told

    @property
    def approval(self) -> GateShown | None:
        """The gate that waits."""
        try:
            return GateShown.model_validate(self.root.get("approval"))
        except ValidationError:
            return None


def any_kind(told: DeclaredKind) -> TerminalKind[AnyStanding]:
    """A kind as it is declared."""

    def show_content(_: Record | None, gate: WaitingContent, console: Console) -> None:
        found = told.gate(gate.kind)
        put(console, "content", as_yaml(titled(dict(gate.content), found.content if found else {})))

    def show_status(status: AnyStanding, console: Console) -> None:
        rest = {name: value for name, value in status.root.items() if name != "approval" or not value}
        put(console, told.word[:11], as_yaml(rest))

    def ended(_: Work, __: object, status: AnyStanding, console: Console) -> int:
        row(console, "ended", in_words(status.status))
        show_status(status, console)
        return {"completed": 0, "failed": 1}.get(status.status, WITHOUT_RESULT)

    def decision_path(gate: WaitingContent, number: object, _: Any) -> str:
        found = told.gate(gate.kind)
        assert found is not None, "without a declaration there is no answer"
        return place(found.decide, {told.number: number, "approval_id": gate.approval_id})

    return TerminalKind(
        record=AnyStanding,
        contents={},
        words={gate.kind: gate.title for gate in told.gates},
        show_content=show_content,
        show_status=show_status,
        progress=lambda status: in_words(status.status),
        news=lambda *_: (),
        show_news=lambda *_: None,
        ended=ended,
        at=lambda gate, _: AtAnyGate(gate, told.gate(gate.kind)),
        decision_path=decision_path,
        status_path=lambda number: place(told.action("get"), {told.number: number}),
    )


class AtAnyGate(AtGate):
    """A gate that is answered by naming fields: which there are its declaration says."""

    def __init__(self, gate: WaitingContent, told: DeclaredGate | None) -> None:
        self._digest = gate.digest
        self._schema: Schema = told.answer if told is not None else {}
        self._apart = {"digest", *(_IN_PATH.findall(told.decide.path) if told is not None else ())}
        fields = ", ".join(name for name in fields_of(self._schema) if name not in self._apart)
        self.answers = {"answer NAME=VALUE ...": f"it takes {fields}"} if fields else {}

    @property
    def ways(self) -> Mapping[str, str]:
        """It is answered by naming fields."""
        return {"answer it": "NAME=VALUE"} if self.answers else {}

    def wish(self, word: str, rest: str) -> Wish:
        """What was typed."""
        if not rest:
            raise self.unclear(word, rest)
        try:
            return Wish(word, given=shlex.split(rest))
        except ValueError as error:
            raise InputInvalid(f"nothing was decided: a quotation mark is open: {error}") from error

    def reply(self, wish: Wish, changes: None) -> dict[str, Any]:
        """The decision, on what is shown."""
        if not self.answers:
            raise InputInvalid("it is decided elsewhere (`signoff approvals`)")
        given = values_given(wish.given, self._schema)
        if apart := self._apart.intersection(given):
            raise InputInvalid(f"{min(apart)} goes with what is shown: leave it out")
        for name in self._schema.get("required", ()):
            if name not in given and name not in self._apart:
                raise InputInvalid(f"{name} is missing, and nothing was decided: {self._takes}")
        return {**given, "digest": self._digest}

    def explain(self, reply: Any, console: Console) -> None:
        """Print all that is sent with the digest."""
        for name, value in reply.items():
            if name != "digest":
                row(console, "you answer", f"{name}: {json.dumps(value, ensure_ascii=False)}")

    def question(self, wish: Wish, *, changed: bool) -> str:
        """Whether it is meant."""
        return "answer that?"

    @property
    def _takes(self) -> str:
        return next(iter(self.answers.values()))
