"""What a person can answer at each gate of an operation, and the decision that is made of it. Pure.

`signoff operations follow` reads answers as they are typed, and `decide` has them as options: both are a
`Wish` here, and what a wish means goes by what the gate shows. What has no clear meaning there is refused.
"""

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cluster.cli.asking import told_of_form
from cluster.cli.operations.gate_view import gate_content
from cluster.cli.operations.plan_changes import CHANGES
from cluster.cli.operations.words import (
    AGENTS,
    REVISION_WORDS,
    agent_words,
    all_agents,
    listed_agents,
)
from cluster.cli.records import checked
from models.errors import InputInvalid
from models.near_names import suggestion
from models.operations.decisions import AgentDecision, PlanDecision, ResultsDecision
from models.operations.operations import GateShown
from models.operations.plans import PlanShown
from models.operations.questions import AgentQuestion
from models.operations.results import ComprehensiveResults
from models.operations.revisions import PlanEdit

GateReply = PlanDecision | ResultsDecision | AgentDecision
ALWAYS: Mapping[str, str] = {
    "show": "what it is about, with your changes",
    "later": "decide nothing now",
    "help": "these words",
}
_PLAN: Mapping[str, str] = {
    "approve": "what is shown, with your changes: that runs then",
    "reject WHY": "have another plan made, by what you say",
}
_FAILED: Mapping[str, str] = {"retry": "the agent tries again", "skip": "go on without it"}
_ASKED: Mapping[str, str] = {
    "answer NAME=VALUE ...": "give its server what it asks for; it goes there and nowhere else",
    "decline": "tell its server that it is given nothing; the agent goes on",
    "skip": "go on without the agent",
}
_UNKNOWN: Mapping[str, str] = {
    "retry": "send it once more: it may be done twice then",
    "skip": "don't send it again, and go on",
}
_WRITE: Mapping[str, str] = {
    "accept": "send exactly this, once",
    "skip": "send nothing, and go on without it",
}
_REVIEW: Mapping[str, str] = {
    "accept": "take what it found, and go on",
    "revise WHY": "the agent does it again, by what you say",
}
_RESULTS: Mapping[str, str] = {
    "approve": "exactly these results",
    "revise full WHY": "have another plan made, and shown before it runs",
    "revise AGENT,... WHY": "have these agents read again, as gmail,crm, and what depends on them",
    "revise analysis WHY": "have what was found compared again",
}
_UNDO = {"undo": "take back the last of your changes"}
# What decides where, by its first word, for commands that a person is told to type.
WAYS: Mapping[str, str] = {
    "approve": "approve it",
    "accept": "accept it",
    "retry": "try again",
    "decline": "decline it",
    "skip": "go on",
}
_INTEGER = re.compile(r"-?[0-9]+")
_DECIMAL = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")


@dataclass(frozen=True)
class Wish:
    """What a person wants, before it is known what that means at the gate.

    `again` is what is to be done again, as it was typed: `full`, `analysis`, or agents between commas.
    `given` are `NAME=VALUE`.
    """

    answer: str
    feedback: str | None = None
    again: str | None = None
    given: Sequence[str] = ()


def answers_at(gate: GateShown) -> Mapping[str, str]:
    """How each answer that decides at the gate is written, and what it does; none where it is unknown."""
    match gate.kind, gate_content(gate):
        case "operation_plan", _:
            return _PLAN
        case "operation_question", AgentQuestion(kind="server_asks"):
            return _ASKED
        case "operation_question", AgentQuestion(kind="write_unknown" | "write_not_sent"):
            return _UNKNOWN
        case "operation_question", _:
            return _FAILED
        case "operation_write", _:
            return _WRITE
        case "operation_review", _:
            return _REVIEW
        case "operation_results", _:
            return _RESULTS
    return {}


def forms_at(gate: GateShown) -> Mapping[str, str]:
    """All that can be typed at the gate, and what it does."""
    changes = {**CHANGES, **_UNDO} if isinstance(gate_content(gate), PlanShown) else {}
    return {**answers_at(gate), **changes, **ALWAYS}


def is_answer(gate: GateShown, word: str) -> bool:
    """Whether what begins with this word decides at the gate."""
    return word in [form.split()[0] for form in answers_at(gate)]


def unclear_here(gate: GateShown, word: str, rest: str) -> InputInvalid:
    """Why what was typed is no answer: it is none here, or something is missing, or is too much."""
    forms = [form for form in forms_at(gate) if form.split()[0] == word]
    if not forms:
        return InputInvalid(f"{word!r} is no answer here, and nothing was decided: help lists them")
    if len(forms) > 1:
        return InputInvalid(f"nothing was decided: {word}: write {'; '.join(forms)}")
    return told_of_form(forms[0], word, rest)


def wish_typed(gate: GateShown, word: str, rest: str) -> Wish:
    """What was typed at the gate; `word` is one that decides there. Raises InputInvalid."""
    match word, gate.kind:
        case ("approve" | "accept" | "retry" | "decline" | "skip", _) if not rest:
            return Wish(word)
        case ("reject", _) | ("revise", "operation_review") if rest:
            return Wish(word, feedback=rest)
        case "revise", "operation_results":
            again, why = _again_and_why(rest)
            if again and why:
                return Wish(word, feedback=why, again=again)
        case "answer", _:
            return Wish(word, given=_words(rest))
    raise unclear_here(gate, word, rest)


def check_answer(gate: GateShown, word: str) -> None:
    """InputInvalid, with all that the gate takes, where a word is no answer there."""
    if not is_answer(gate, word):
        forms = "; ".join(answers_at(gate)) or "nothing: it is decided elsewhere (`signoff approvals`)"
        raise InputInvalid(f"{word!r} is no answer here, and nothing was decided: it takes {forms}")


def reply_of(gate: GateShown, wish: Wish, changes: PlanEdit | None = None) -> GateReply:
    """The decision that is sent, on exactly what the gate shows.

    Raises:
        InputInvalid: the wish has no clear meaning at this gate.
    """
    check_answer(gate, wish.answer)
    if wish.again is not None and gate.kind != "operation_results":
        raise InputInvalid("--agents says which results are to be made again, and they are not what waits")
    shown = gate_content(gate)
    said: dict[str, Any] = {"digest": gate.digest}
    if wish.feedback is not None:
        said["feedback"] = wish.feedback
    match gate.kind:
        case "operation_plan":
            edit = {} if changes in (None, PlanEdit()) else {"modified_plan": changes}
            return checked(PlanDecision, {**said, "approved": wish.answer == "approve", **edit})
        case "operation_results":
            revision = {} if wish.answer == "approve" else _revision(shown, wish.again or "")
            return checked(ResultsDecision, {**said, "approved": wish.answer == "approve", **revision})
    given = {"given": given_to(shown, wish.given)} if wish.answer == "answer" else {}
    return checked(AgentDecision, {**said, "answer": wish.answer, **given})


def meant_by(reply: GateReply) -> list[tuple[str, str]]:
    """What is about to be decided, as labels and words, where the answer says more than its name."""
    told: list[tuple[str, str]] = []
    match reply:
        case ResultsDecision(approved=False, revision_type="specific_agents"):
            told.append(("again", f"{all_agents(reply.target_agents)}, and what depends on what they find"))
        case ResultsDecision(approved=False):
            told.append(("again", REVISION_WORDS[reply.revision_type]))
        case AgentDecision(given=given) if given is not None:
            values = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in given.items()]
            told += [("you give", value) for value in values or ["nothing besides your yes"]]
    return told + ([("because", reply.feedback)] if reply.feedback else [])


def given_to(shown: object, pairs: Sequence[str]) -> dict[str, Any]:
    """What a person gives a server, each value as the server asks for it. Raises InputInvalid."""
    asked = shown.server_question if isinstance(shown, AgentQuestion) else None
    fields = (asked.requested or {}).get("properties") if asked is not None else None
    known = fields if isinstance(fields, Mapping) else {}
    if not pairs and isinstance(shown, AgentQuestion) and shown.given is not None:
        # Somebody has given it already, and it takes more people: this one's yes to that.
        return dict(shown.given)
    found: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not name or not equals:
            raise InputInvalid(f"{pair!r} gives nothing: write NAME=VALUE, such as amount=4300")
        if known and name not in known:
            raise InputInvalid(f"{name!r} is not asked for: {suggestion(name, tuple(known))}")
        if name in found:
            raise InputInvalid(f"{name} is given twice: give it once")
        found[name] = _value(name, value, known.get(name))
    return found


def _value(name: str, value: str, field: Any) -> Any:
    kind = field.get("type") if isinstance(field, Mapping) else None
    if isinstance(kind, list):
        kind = next((one for one in kind if one != "null"), None)
    match kind:
        case "integer" if _INTEGER.fullmatch(value):
            return int(value)
        case "number" if _DECIMAL.fullmatch(value):
            return json.loads(value) if _INTEGER.fullmatch(value) is None else int(value)
        case "boolean" if value in ("true", "false"):
            return value == "true"
        case "array":
            return [part.strip() for part in value.split(",")]
        case "integer" | "number" | "boolean":
            such = {"integer": "a whole number", "number": "a number", "boolean": "true or false"}[kind]
            raise InputInvalid(f"{name}: {value!r} is not {such}, and nothing was decided")
    return value


def _revision(shown: object, again: str) -> dict[str, Any]:
    text = again.strip()
    if text == "full":
        return {"revision_type": "full_replan"}
    agents, rest = listed_agents(text)
    if not agents or rest:
        raise InputInvalid(
            f"--agents {text!r}: say what is to be done again: full, analysis, or agents between commas, as "
            f"gmail,crm (there are {all_agents(AGENTS)})"
        )
    ran = shown.plan.agent_sequence if isinstance(shown, ComprehensiveResults) else agents
    for agent in agents:
        if agent not in ran:
            raise InputInvalid(
                f"{agent_words(agent)} is not in the plan that ran ({all_agents(ran)}): `full` has another "
                "one made, say there that it is to run as well"
            )
        if agents.count(agent) > 1:
            raise InputInvalid(f"{agent_words(agent)} is there twice: name each agent once")
    if agents == ("analysis",):
        return {"revision_type": "analysis_only"}
    return {"revision_type": "specific_agents", "target_agents": agents}


def _again_and_why(text: str) -> tuple[str, str]:
    """What is to be done again, as it was typed, and why."""
    if text.split(maxsplit=1)[:1] == ["full"]:
        return "full", text.removeprefix("full").strip()
    agents, why = listed_agents(text)
    return ",".join(agents), why.strip()


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise InputInvalid(f"nothing was decided: a quotation mark is open: {error}") from error
