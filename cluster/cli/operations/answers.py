"""What a person can answer at each gate of an operation, and the decision that is made of it.

`signoff operations follow` reads answers as they are typed, and `decide` has them as options: both are a
`Wish`, and what a wish means goes by what the gate shows. What has no clear meaning there is refused.
"""

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from cluster.cli.gated.gate import WaitingContent
from cluster.cli.gated.kind import AtGate, Wish
from cluster.cli.gated.schemas import values_given
from cluster.cli.operations.plan_changes import CHANGES, show_edited, with_change
from cluster.cli.operations.words import (
    AGENTS,
    REVISION_WORDS,
    agent_words,
    all_agents,
    listed_agents,
)
from cluster.cli.printing import put
from cluster.cli.records import checked
from models.errors import DecisionInvalid, InputInvalid
from models.operations.decisions import AgentDecision, PlanDecision, ResultsDecision
from models.operations.plans import PlanShown
from models.operations.questions import AgentQuestion
from models.operations.results import ComprehensiveResults
from models.operations.revisions import PlanEdit
from models.record import Record

GateReply = PlanDecision | ResultsDecision | AgentDecision
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
_ANSWERS: Mapping[str, Mapping[str, str]] = {
    "operation_plan": _PLAN,
    "operation_question": _FAILED,
    "operation_write": _WRITE,
    "operation_review": _REVIEW,
    "operation_results": _RESULTS,
}
_QUESTIONS: Mapping[str, str] = {
    "revise": "have that done again, for that reason?",
    "retry": "have that tried again?",
    "skip": "go on without it?",
    "decline": "tell its server that it is given nothing?",
    "answer": "give that to its server?",
}


class AtOperationGate(AtGate):
    """A gate of an operation; `shown` is its content, None where that is of another shape."""

    nothing = PlanEdit()

    def __init__(self, gate: WaitingContent, shown: Record | None) -> None:
        self._gate = gate
        self._shown = shown
        self.plan = shown.plan if isinstance(shown, PlanShown) else None
        self.answers = _answers_at(gate.kind, shown)
        self.changes = CHANGES if self.plan is not None else {}

    def changed(self, before: PlanEdit, word: str, rest: str) -> PlanEdit:
        """The changes with one more."""
        assert self.plan is not None, "a plan is what can be changed"
        return with_change(self.plan, before, word, rest)

    def show_changed(self, changes: PlanEdit, console: Console) -> None:
        """Print what is otherwise in what is approved."""
        if self.plan is not None:
            show_edited(self.plan, changes, console)

    def wish(self, word: str, rest: str) -> Wish:
        """What was typed."""
        match word, self._gate.kind:
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
        raise self.unclear(word, rest)

    def check(self, word: str) -> None:
        """InputInvalid, with all that the gate takes, where a word is no answer there."""
        if not self.decides(word):
            forms = "; ".join(self.answers) or "nothing: it is decided elsewhere (`signoff approvals`)"
            raise InputInvalid(f"{word!r} is no answer here, and nothing was decided: it takes {forms}")

    def reply(self, wish: Wish, changes: PlanEdit) -> GateReply:
        """The decision."""
        self.check(wish.answer)
        if wish.again is not None and self._gate.kind != "operation_results":
            raise InputInvalid(
                "--agents says which results are to be made again, and they are not what waits"
            )
        said: dict[str, Any] = {"digest": self._gate.digest}
        if wish.feedback is not None:
            said["feedback"] = wish.feedback
        match self._gate.kind:
            case "operation_plan":
                edit = {} if changes == self.nothing else {"modified_plan": changes}
                return checked(PlanDecision, {**said, "approved": wish.answer == "approve", **edit})
            case "operation_results":
                revision = {} if wish.answer == "approve" else _revision(self._shown, wish.again or "")
                return checked(ResultsDecision, {**said, "approved": wish.answer == "approve", **revision})
        given = {"given": given_to(self._shown, wish.given)} if wish.answer == "answer" else {}
        return checked(AgentDecision, {**said, "answer": wish.answer, **given})

    def explain(self, reply: Any, console: Console) -> None:
        """Print what is to be done again, given, and why."""
        for label, value in _meant_by(reply):
            put(console, label, value)

    def question(self, wish: Wish, *, changed: bool) -> str:
        """Whether it is meant."""
        return _QUESTIONS.get(wish.answer) or super().question(wish, changed=changed)


def _answers_at(kind: str, shown: Record | None) -> Mapping[str, str]:
    """How each answer that decides at a gate is written, and what it does; none where it is unknown."""
    match kind, shown:
        case "operation_question", AgentQuestion(kind="server_asks"):
            return _ASKED
        case "operation_question", AgentQuestion(kind="write_unknown" | "write_not_sent"):
            return _UNKNOWN
    return _ANSWERS.get(kind, {})


def check_wish(at: AtOperationGate, wish: Wish, changes: Sequence[str]) -> None:
    """Look at what is wanted, before anything is shown: which answers there are, and what goes with which.

    Raises:
        InputInvalid: it is no answer here. DecisionInvalid: something is missing, or goes with another one.
    """
    at.check(wish.answer)
    if wish.answer in ("reject", "revise") and not (wish.feedback or "").strip():
        raise DecisionInvalid("--feedback is empty: say what should be different")
    for option, given, answer in (
        ("--agents", wish.again, "revise"),
        ("--given", wish.given, "answer"),
        ("--change", changes, "approve"),
    ):
        if given and wish.answer != answer:
            raise DecisionInvalid(f"{option} goes with {answer}, and with nothing else")


def with_changes(at: AtOperationGate, lines: Sequence[str]) -> PlanEdit:
    """All of them in their order, as `decide --change` is given them.

    Raises:
        DecisionInvalid: what waits is no plan. InputInvalid: one is none, or can't be made.
    """
    if at.plan is None:
        raise DecisionInvalid("--change is for a plan, which is not what waits")
    edit = at.nothing
    for line in lines:
        word, _, rest = line.strip().partition(" ")
        try:
            edit = at.changed(edit, word, rest.strip())
        except InputInvalid as error:
            raise InputInvalid(f"--change {line!r}: {error}") from error
    return edit


def _meant_by(reply: GateReply) -> list[tuple[str, str]]:
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
    if not isinstance(shown, AgentQuestion):
        return values_given(pairs, {})
    if not pairs and shown.given is not None:
        # Somebody has given it already, and it takes more people: this one's yes to that.
        return dict(shown.given)
    asked = shown.server_question
    return values_given(pairs, (asked.requested if asked is not None else None) or {})


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
