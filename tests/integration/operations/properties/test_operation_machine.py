"""Operations under whatever people, servers and deaths do to them, at random, for as long as they last.

After each step all that has happened is held against `laws`: no agent runs before its plan is approved, no
result is lost, none is made again without a reason, and no entry of the history is missing.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from models.errors import ApprovalConflict
from models.operations.items import SourceAgent
from tests.examples import examples
from tests.integration.operations.properties import drawn
from tests.integration.operations.properties.operation_facts import OperationFacts
from tests.integration.operations.properties.played_operation import House, PlayedOperation
from tests.integration.operations.properties.staged_agents import WRITES, PlanShape, behave

F = TypeVar("F", bound=Callable[..., Any])


def at(*kinds: str) -> Callable[[F], F]:
    """Where a person is asked something of these kinds."""
    return precondition(  # type: ignore[no-any-return]
        lambda self: self.facts.pending is not None and self.facts.pending["kind"].endswith(kinds)
    )


# What no words answer.
_NOT_IN_WORDS = ("operation_question", "operation_write")


class OperationMachine(RuleBasedStateMachine):
    """One operation, from its question to whatever end."""

    def __init__(self, house: House) -> None:
        super().__init__()
        self.house = house

    @initialize(
        question=drawn.questions,
        task_type=drawn.task_types,
        shapes=st.lists(drawn.shapes, max_size=3),
        doings=st.dictionaries(drawn.agents, drawn.doings, max_size=2),
        writer=st.none() | drawn.agents,
        deaths=drawn.deaths,
    )
    def start(
        self,
        question: str,
        task_type: str,
        shapes: Sequence[PlanShape],
        doings: dict[SourceAgent, str],
        writer: SourceAgent | None,
        deaths: Sequence[int],
    ) -> None:
        self.play = PlayedOperation(self.house, shapes=shapes)
        if writer is not None:
            self.play.servers[writer].writes = WRITES
        for agent, doing in doings.items():
            behave(self.play.servers[agent], doing)
        self.house.run(self.play.begin(question, task_type))
        self._go_on(deaths)

    @rule(
        agent=drawn.agents,
        doing=st.sampled_from(
            ("fails", "asks", "is slow", "is away", "is declared otherwise", "loses answers", "is well")
        ),
    )
    def a_server_does_something(self, agent: SourceAgent, doing: str) -> None:
        behave(self.play.servers[agent], doing)

    @rule(agent=drawn.agents, partners=drawn.partners)
    def an_agent_finds_other_partners(self, agent: SourceAgent, partners: list[str]) -> None:
        self.play.readers[agent].partners = partners

    @at("plan")
    @rule(data=st.data(), deaths=drawn.deaths)
    def decide_on_the_plan(self, data: st.DataObject, deaths: Sequence[int]) -> None:
        """Yes, no, or with changes; servers may be otherwise before they are called."""
        given: dict[str, Any] = {"approved": True}
        match data.draw(st.sampled_from(("approve", "approve", "edit", "reject")), "answer"):
            case "reject":
                given = {"approved": False, "feedback": data.draw(drawn.wishes, "feedback")}
            case "edit":
                sequence = self.shown["plan"]["agent_sequence"]
                sources = [one for one in sequence if one != "analysis"]
                keep = data.draw(st.lists(st.sampled_from(sources), min_size=1, unique=True), "order")
                given["modified_plan"] = {
                    "agent_sequence": [*keep, *sequence[len(sources) :]],
                    "side_by_side": not self.shown["plan"]["side_by_side"],
                    "instructions": {keep[0]: data.draw(drawn.wishes, "instructions")},
                }
        meanwhile = st.dictionaries(drawn.agents, st.sampled_from(("is declared otherwise", "asks", "fails")))
        for agent, doing in data.draw(meanwhile, "meanwhile").items():
            behave(self.play.servers[agent], doing)
        self._decide("decide_operation_plan", deaths, **given)

    @at("question")
    @rule(answer=st.sampled_from(("skip", "on", "decline")), well=st.booleans(), deaths=drawn.deaths)
    def decide_about_an_agent(self, answer: str, well: bool, deaths: Sequence[int]) -> None:
        given: dict[str, Any] = {"answer": answer}
        if answer != "skip" and self.shown["kind"] != "server_asks":
            given = {"answer": "retry"}
        elif answer == "on":
            given = {"answer": "answer", "given": {"code": "123"}}
        if well:
            behave(self.play.servers[self.shown["agent"]], "is well")
        self._decide("decide_operation_agent", deaths, **given)

    @at("write")
    @rule(
        yes=st.sampled_from((True, True, False)),
        doing=st.none() | st.sampled_from(("is away", "is declared otherwise", "loses answers")),
        deaths=drawn.deaths,
    )
    def decide_on_a_write(self, yes: bool, doing: str | None, deaths: Sequence[int]) -> None:
        """Its server may be otherwise before it is sent."""
        if doing is not None:
            behave(self.play.servers[self.shown["agent"]], doing)
        self._decide("decide_operation_agent", deaths, answer="accept" if yes else "skip")

    @at("review")
    @rule(yes=st.sampled_from((True, True, False)), feedback=drawn.wishes, deaths=drawn.deaths)
    def decide_on_a_result(self, yes: bool, feedback: str, deaths: Sequence[int]) -> None:
        given = {"answer": "accept"} if yes else {"answer": "revise", "feedback": feedback}
        self._decide("decide_operation_agent", deaths, **given)

    @at("results")
    @rule(data=st.data(), feedback=drawn.wishes, deaths=drawn.deaths)
    def decide_on_the_results(self, data: st.DataObject, feedback: str, deaths: Sequence[int]) -> None:
        sequence = self.shown["plan"]["agent_sequence"]
        kinds = ["full_replan", "specific_agents", *(["analysis_only"] if "analysis" in sequence else [])]
        kind = data.draw(st.sampled_from([*kinds, "none"]), "revision")
        given: dict[str, Any] = {"approved": kind == "none", "revision_type": kind, "feedback": feedback}
        if kind == "specific_agents":
            targets = st.lists(st.sampled_from(sequence), min_size=1, unique=True)
            given["target_agents"] = data.draw(targets, "agents")
        self._decide("decide_operation_results", deaths, **given)

    @at("plan", "review", "results")
    @rule(text=drawn.wishes | drawn.yeses, deaths=drawn.deaths)
    def answer_in_words(self, text: str, deaths: Sequence[int]) -> None:
        assert self.facts.pending is not None
        approval_id = self.facts.pending["id"]
        self.house.run(self.play.call("clarify_operation", request_id=approval_id, answer=text))
        self._go_on(deaths)

    @at("plan", "review", "results")
    @rule(times=st.integers(1, 5), deaths=drawn.deaths)
    def say_yes_again_and_again(self, times: int, deaths: Sequence[int]) -> None:
        for _ in range(times):
            if self.facts.pending is None or self.facts.pending["kind"] in _NOT_IN_WORDS:
                break
            asked = {"request_id": self.facts.pending["id"], "answer": "OK"}
            self.house.run(self.play.call("clarify_operation", **asked))
            self._go_on(deaths)

    @precondition(lambda self: self.facts.pending is not None)
    @rule(data=st.data())
    def answer_unclearly(self, data: st.DataObject) -> None:
        assert self.facts.pending is not None
        kind, digest = self.facts.pending["kind"].removeprefix("operation_"), self.facts.pending["digest"]
        if kind == "plan":
            tool, answers = "decide_operation_plan", drawn.malformed_plan_answers(digest)
        elif kind == "results":
            tool, answers = "decide_operation_results", drawn.malformed_results_answers(digest)
        else:
            sort = self.shown["kind"] if kind == "question" else kind
            tool, answers = "decide_operation_agent", drawn.malformed_agent_answers(digest, sort)
        self.house.run(self.play.refuses(tool, **data.draw(answers, "answer")))

    @rule(data=st.data())
    def answer_late_or_without_a_right(self, data: st.DataObject) -> None:
        """To what was shown before, and by people who may not."""
        if settled := [one for one in self.facts.approvals if one["status"] != "pending"]:
            old = data.draw(st.sampled_from(settled), "before")
            self.house.run(self.play.refuses("clarify_operation", request_id=old["id"], answer="OK"))
            for tool in ("decide_operation_plan", "decide_operation_results"):
                self.house.run(self.play.refuses(tool, approved=True, digest=old["digest"]))
        name, scope = data.draw(st.sampled_from((("rita", "macro:reader"), ("stan", "equity:admin"))), "who")
        person = self.house.run(self.house.person(name, scope))
        for tool in ("decide_operation_plan", "decide_operation_results"):
            self.house.run(self.play.refuses(tool, as_=person, approved=True))
        self.house.run(self.play.refuses("cancel_operation", as_=person))

    @at("plan", "results")
    @rule(yes=st.booleans(), deaths=drawn.deaths)
    def decide_twice_at_once(self, yes: bool, deaths: Sequence[int]) -> None:
        """Both say the same, so that whichever wins, the rest of the example is the same."""
        answer = {"approved": True} if yes else _no(self.facts)
        self.house.run(_at_once(self.play, self.facts, [answer, answer]))
        self._go_on(deaths)

    @precondition(lambda self: self.facts.pending is not None and len(self.facts.approvals) > 3)
    @rule(cancelled=st.booleans(), deaths=drawn.deaths)
    def nobody_wants_it_any_more(self, cancelled: bool, deaths: Sequence[int]) -> None:
        self.house.run(self.play.call("cancel_operation") if cancelled else self.play.expire())
        self._go_on(deaths)

    @precondition(lambda self: self.facts.ended)
    @rule()
    def decide_after_the_end(self) -> None:
        self.house.run(self.play.refuses("decide_operation_plan", approved=True, digest="0" * 64))
        self.house.run(self.play.refuses("cancel_operation"))
        length = self.play.ledger.length
        self._go_on(())
        assert self.play.ledger.length == length, "it had ended, and somebody was asked"

    @property
    def shown(self) -> dict[str, Any]:
        """What a person is shown now."""
        assert self.facts.pending is not None
        return dict(self.facts.pending["content"])

    def _decide(self, tool: str, deaths: Sequence[int], **given: Any) -> None:
        self.house.run(self.play.decide(tool, **given))
        self._go_on(deaths)

    def _go_on(self, deaths: Sequence[int]) -> None:
        self.facts: OperationFacts = self.house.run(self.play.carry(deaths))


def _no(facts: OperationFacts) -> dict[str, Any]:
    """A no to the plan or the results that are shown."""
    assert facts.pending is not None
    revision = {"revision_type": "full_replan"} if facts.pending["kind"] == "operation_results" else {}
    return {"approved": False, "feedback": "no"} | revision


async def _at_once(play: PlayedOperation, facts: OperationFacts, answers: Sequence[dict[str, Any]]) -> None:
    """Of answers that come at once to the plan or the results that are shown, one counts."""
    assert facts.pending is not None
    tool, digest = f"decide_{facts.pending['kind']}", facts.pending["digest"]
    outcomes = await asyncio.gather(
        *(play.call(tool, digest=digest, **answer) for answer in answers), return_exceptions=True
    )
    refused = [one for one in outcomes if isinstance(one, BaseException)]
    assert len(refused) == len(answers) - 1, outcomes
    for one in refused:
        assert isinstance(one, ApprovalConflict), one


@examples(50, suppress_health_check=list(HealthCheck))
@given(orders=st.lists(st.booleans(), min_size=2, max_size=2), deaths=drawn.deaths)
def test_of_a_yes_and_a_no_at_once_one_counts(
    house: House, orders: Sequence[bool], deaths: Sequence[int]
) -> None:
    async def work() -> None:
        play = PlayedOperation(house, shapes=[PlanShape(("crm",))])
        await play.begin("what is open")
        facts = await play.carry()
        for yes_first in orders:
            answers = [{"approved": True}, _no(facts)]
            await _at_once(play, facts, answers if yes_first else answers[::-1])
            facts = await play.carry(deaths)
            if facts.ended:
                break

    house.run(work())


@pytest.mark.slow
def test_whatever_happens_to_an_operation_its_laws_hold(house: House) -> None:
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        lambda: OperationMachine(house),
        settings=examples(120, stateful_step_count=16, suppress_health_check=list(HealthCheck)),
    )
