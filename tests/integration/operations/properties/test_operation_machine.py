"""Operations under whatever people, servers and deaths do to them, at random, for as long as they last.

After each step all that has happened is held against `laws`: no agent runs before its plan is approved, no
result is lost, none is made again without a reason, and no entry of the history is missing.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from models.errors import SignoffError
from models.operations.items import SourceAgent
from tests.integration.operations.properties import drawn
from tests.integration.operations.properties.operation_facts import OperationFacts
from tests.integration.operations.properties.played_operation import REFUSALS, House, PlayedOperation
from tests.integration.operations.properties.staged_agents import PlanShape, behave


def at(*kinds: str) -> Any:
    """Where a person is asked something of these kinds."""
    return precondition(
        lambda self: self.facts.pending is not None and self.facts.pending["kind"].endswith(kinds)
    )


class OperationMachine(RuleBasedStateMachine):
    """One operation, from its question to whatever end."""

    def __init__(self, house: House) -> None:
        super().__init__()
        self.house = house

    @initialize(
        question=drawn.questions,
        task_type=drawn.task_types,
        shapes=st.lists(drawn.shapes, max_size=3),
        doings=st.dictionaries(drawn.agents, drawn.doings, max_size=1),
        deaths=drawn.deaths,
    )
    def start(
        self,
        question: str,
        task_type: str,
        shapes: Sequence[PlanShape],
        doings: dict[SourceAgent, str],
        deaths: Sequence[int],
    ) -> None:
        self.play = PlayedOperation(self.house, shapes=shapes)
        for agent, doing in doings.items():
            behave(self.play.servers[agent], doing)
        self.house.run(self.play.begin(question, task_type))
        self._go_on(deaths)

    @rule(
        agent=drawn.agents,
        doing=st.sampled_from(("fails", "asks", "is slow", "is away", "is declared otherwise", "is well")),
    )
    def a_server_does_something(self, agent: SourceAgent, doing: str) -> None:
        behave(self.play.servers[agent], doing)

    @rule(agent=drawn.agents, partners=drawn.partners)
    def an_agent_finds_other_partners(self, agent: SourceAgent, partners: list[str]) -> None:
        self.play.readers[agent].partners = partners

    @at("plan")
    @rule(deaths=drawn.deaths)
    def approve_the_plan(self, deaths: Sequence[int]) -> None:
        self._decide("decide_operation_plan", deaths, approved=True)

    @at("plan")
    @rule(feedback=drawn.wishes, deaths=drawn.deaths)
    def reject_the_plan(self, feedback: str, deaths: Sequence[int]) -> None:
        self._decide("decide_operation_plan", deaths, approved=False, feedback=feedback)

    @at("plan")
    @rule(data=st.data(), deaths=drawn.deaths)
    def edit_the_plan(self, data: st.DataObject, deaths: Sequence[int]) -> None:
        sources = [one for one in self.shown["plan"]["agent_sequence"] if one != "analysis"]
        keep = data.draw(st.lists(st.sampled_from(sources), min_size=1, unique=True), "order")
        edit = {
            "agent_sequence": [*keep, *self.shown["plan"]["agent_sequence"][len(sources) :]],
            "side_by_side": data.draw(st.booleans(), "side by side"),
            "instructions": {keep[0]: data.draw(drawn.wishes | st.just("Look at 3077"), "instructions")},
        }
        self._decide("decide_operation_plan", deaths, approved=True, modified_plan=edit)

    @at("question")
    @rule(answer=st.sampled_from(("skip", "on", "decline")), deaths=drawn.deaths)
    def answer_about_an_agent(self, answer: str, deaths: Sequence[int]) -> None:
        given: dict[str, Any] = {"answer": answer}
        if answer != "skip" and self.shown["kind"] == "failed":
            given = {"answer": "retry"}
        elif answer == "on":
            given = {"answer": "answer", "given": {"code": "123"}}
        self._decide("decide_operation_agent", deaths, **given)

    @at("review")
    @rule(yes=st.booleans(), feedback=drawn.wishes, deaths=drawn.deaths)
    def answer_about_a_result(self, yes: bool, feedback: str, deaths: Sequence[int]) -> None:
        given = {"answer": "accept"} if yes else {"answer": "revise", "feedback": feedback}
        self._decide("decide_operation_agent", deaths, **given)

    @at("results")
    @rule(deaths=drawn.deaths)
    def approve_the_results(self, deaths: Sequence[int]) -> None:
        self._decide("decide_operation_results", deaths, approved=True)

    @at("results")
    @rule(data=st.data(), feedback=drawn.wishes, deaths=drawn.deaths)
    def have_it_revised(self, data: st.DataObject, feedback: str, deaths: Sequence[int]) -> None:
        sequence = self.shown["plan"]["agent_sequence"]
        kinds = ["full_replan", "specific_agents", *(["analysis_only"] if "analysis" in sequence else [])]
        kind = data.draw(st.sampled_from(kinds), "revision")
        targets = data.draw(st.lists(st.sampled_from(sequence), min_size=1, unique=True), "agents")
        given = {"target_agents": targets} if kind == "specific_agents" else {}
        self._decide(
            "decide_operation_results", deaths, approved=False, revision_type=kind, feedback=feedback, **given
        )

    @at("plan", "review", "results")
    @rule(text=drawn.wishes | drawn.yeses, deaths=drawn.deaths)
    def answer_in_words(self, text: str, deaths: Sequence[int]) -> None:
        assert self.facts.pending is not None
        approval_id = self.facts.pending["id"]
        self.house.run(self.play.call("clarify_operation", request_id=approval_id, answer=text))
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
            sort = "review" if kind == "review" else self.shown["kind"]
            tool, answers = "decide_operation_agent", drawn.malformed_agent_answers(digest, sort)
        self.house.run(self.play.refuses(tool, **data.draw(answers, "answer")))

    @precondition(lambda self: len(self.facts.approvals) > (self.facts.pending is not None))
    @rule(data=st.data())
    def answer_to_what_was_shown_before(self, data: st.DataObject) -> None:
        old = data.draw(st.sampled_from([one for one in self.facts.approvals if one["status"] != "pending"]))
        self.house.run(self.play.refuses("clarify_operation", request_id=old["id"], answer="OK"))
        if all(old["digest"] != one["digest"] for one in self.facts.approvals if one is not old):
            for tool in ("decide_operation_plan", "decide_operation_results"):
                self.house.run(self.play.refuses(tool, approved=True, digest=old["digest"]))

    @at("plan", "results")
    @rule(yes=st.booleans(), deaths=drawn.deaths)
    def decide_twice_at_once(self, yes: bool, deaths: Sequence[int]) -> None:
        assert self.facts.pending is not None
        kind, digest = self.facts.pending["kind"], self.facts.pending["digest"]
        revision = {"revision_type": "full_replan"} if kind == "operation_results" else {}
        answers: list[dict[str, Any]] = [{"approved": True}, {"approved": False, "feedback": "no"} | revision]
        outcomes = self.house.run(self._at_once(f"decide_{kind}", answers if yes else answers[::-1], digest))
        assert sorted(isinstance(one, SignoffError) for one in outcomes) == [False, True], outcomes
        self._go_on(deaths)

    @precondition(lambda self: not self.facts.ended)
    @rule()
    def a_reader_or_a_stranger_decides(self) -> None:
        for name, scope in (("rita", "macro:reader"), ("stan", "equity:admin")):
            person = self.house.run(self.house.person(name, scope))
            for tool in ("decide_operation_plan", "decide_operation_results"):
                self.house.run(self.play.refuses(tool, as_=person, approved=True))
            self.house.run(self.play.refuses("cancel_operation", as_=person))

    @at("plan", "question", "review", "results")
    @rule(deaths=drawn.deaths)
    def nobody_answers(self, deaths: Sequence[int]) -> None:
        self.house.run(self.play.expire())
        self._go_on(deaths)

    @precondition(lambda self: not self.facts.ended and len(self.facts.approvals) > 2)
    @rule()
    def cancel(self) -> None:
        self.house.run(self.play.call("cancel_operation"))
        self._go_on(())

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

    async def _at_once(self, tool: str, answers: Sequence[dict[str, Any]], digest: str) -> list[Any]:
        outcomes = await asyncio.gather(
            *(self.play.call(tool, digest=digest, **answer) for answer in answers), return_exceptions=True
        )
        for one in outcomes:
            if isinstance(one, BaseException):
                assert isinstance(one, SignoffError), one
                assert one.http_status in REFUSALS, one
        return outcomes


def test_whatever_happens_to_an_operation_its_laws_hold(house: House) -> None:
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        lambda: OperationMachine(house),
        settings=settings(
            max_examples=100,
            stateful_step_count=12,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
