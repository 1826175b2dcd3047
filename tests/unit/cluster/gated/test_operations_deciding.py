"""`signoff operations decide` without a terminal: what was read is decided, and nothing unclear is."""

from pathlib import Path
from typing import Any

import pytest

from models.record import Record
from tests.fakes.operations_api import GATE_KINDS, OperationsApi
from tests.unit.cluster.gated.operations_contents import (
    ASKS,
    EVERY_GATE,
    FAILED,
    PLAN,
    RESULTS,
    REVIEW,
    WRITES,
    plan,
)
from tests.unit.cluster.gated.site import digest_of, run


class TestDecidedWithoutATerminal:
    @pytest.mark.parametrize(
        ("record", "arguments", "path", "sent"),
        [
            (PLAN, ("approve", "--feedback", "fine"), "/plan", {"approved": True, "feedback": "fine"}),
            (
                PLAN,
                ("reject", "--feedback", "look at June"),
                "/plan",
                {"approved": False, "feedback": "look at June"},
            ),
            (
                PLAN,
                ("approve", "--change", "skip crm", "--change", "tell accounts payable look at June"),
                "/plan",
                {
                    "approved": True,
                    "modified_plan": {
                        "skip_agents": ["crm"],
                        "instructions": {"accounts_payable": "look at June"},
                    },
                },
            ),
            (FAILED, ("retry",), "/agent", {"answer": "retry"}),
            (
                FAILED,
                ("skip", "--feedback", "it is down"),
                "/agent",
                {"answer": "skip", "feedback": "it is down"},
            ),
            (
                ASKS,
                ("answer", "--given", "account=0042", "--given", "amount=12"),
                "/agent",
                {"answer": "answer", "given": {"account": "0042", "amount": 12}},
            ),
            (REVIEW, ("accept",), "/agent", {"answer": "accept"}),
            (REVIEW, ("revise", "--feedback", "more"), "/agent", {"answer": "revise", "feedback": "more"}),
            (WRITES, ("accept",), "/agent", {"answer": "accept"}),
            (RESULTS, ("approve",), "/results", {"approved": True}),
            (
                RESULTS,
                ("revise", "--agents", "gmail,accounts payable", "--feedback", "more"),
                "/results",
                {
                    "approved": False,
                    "revision_type": "specific_agents",
                    "target_agents": ["gmail", "accounts_payable"],
                    "feedback": "more",
                },
            ),
            (
                RESULTS,
                ("revise", "--agents", "full", "--feedback", "more"),
                "/results",
                {"approved": False, "revision_type": "full_replan", "feedback": "more"},
            ),
            (
                RESULTS,
                ("revise", "--agents", "analysis", "--feedback", "more"),
                "/results",
                {"approved": False, "revision_type": "analysis_only", "feedback": "more"},
            ),
        ],
    )
    def test_scripts_decide_by_the_digest_of_what_they_read(
        self, token: Path, record: Record, arguments: tuple[str, ...], path: str, sent: dict[str, Any]
    ) -> None:
        with OperationsApi(record) as api:
            done = run(api, token, "decide", "7", *arguments, "--digest", digest_of(record)[:12])
            gone = run(api, token, "decide", "7", *arguments, "--digest", digest_of(record))
        assert (done.exit_code, done.stderr) == (0, "")
        assert "decided     Decided: it goes on.\n" in done.stdout
        assert (gone.exit_code, "waits for no decision that you may see" in gone.stderr) == (1, True)
        [posted] = api.of("POST")
        assert (posted.path.removeprefix("/api/operations/7"), posted.body) == (
            path,
            {"digest": digest_of(record), **sent},
        )

    @pytest.mark.parametrize(
        ("record", "arguments", "told"),
        [
            (PLAN, ("approve",), "there is no terminal to ask on: to decide on what is shown above"),
            (PLAN, ("approve", "--digest", "abc"), "is too short: give 12 characters or more"),
            (PLAN, ("approve", "--digest", "0" * 64), "--digest names other content"),
            (PLAN, ("reject",), "--feedback is empty"),
            (PLAN, ("reject", "--feedback", " "), "--feedback is empty"),
            (PLAN, ("ok",), "'ok' is no answer here, and nothing was decided: it takes approve; reject WHY"),
            (PLAN, ("retry",), "'retry' is no answer here"),
            (PLAN, ("approve", "--agents", "gmail"), "--agents goes with revise, and with nothing else"),
            (PLAN, ("approve", "--given", "a=1"), "--given goes with answer, and with nothing else"),
            (PLAN, ("reject", "--feedback", "x", "--change", "skip crm"), "--change goes with approve"),
            (
                PLAN,
                ("approve", "--change", "drop crm"),
                "--change 'drop crm': 'drop' changes no plan",
            ),
            (PLAN, ("approve", "--change", "skip eve"), "--change 'skip eve': 'eve' is no agent"),
            (PLAN, ("approve", "--change", "order crm crm"), "--change 'order crm crm': CRM is there twice"),
            (PLAN, ("approve", "--change", "approve"), "'approve' changes no plan"),
            (RESULTS, ("approve", "--change", "skip crm"), "--change is for a plan, which is not what waits"),
            (
                RESULTS,
                ("revise", "--feedback", "x"),
                "say what is to be done again: full, analysis, or",
            ),
            (RESULTS, ("revise", "--feedback", "x", "--agents", "eve"), "say what is to be done again"),
            (RESULTS, ("revise", "--feedback", "x", "--agents", "gmail eve"), "say what is to be done again"),
            (RESULTS, ("revise", "--feedback", "x", "--agents", "crm"), "CRM is not in the plan that ran"),
            (RESULTS, ("revise", "--agents", "gmail"), "--feedback is empty"),
            (
                RESULTS,
                ("reject",),
                "'reject' is no answer here, and nothing was decided: it takes approve; r",
            ),
            (REVIEW, ("revise", "--feedback", "x", "--agents", "gmail"), "--agents says which results are"),
            (ASKS, ("answer", "--given", "b=1"), "'b' is not asked for"),
            (FAILED, ("answer", "--given", "b=1"), "'answer' is no answer here"),
        ],
    )
    def test_what_is_wrong_is_one_line_and_decides_nothing(
        self, token: Path, record: Record, arguments: tuple[str, ...], told: str
    ) -> None:
        with OperationsApi(record) as api:
            named = (
                ()
                if "--digest" in arguments or arguments == ("approve",)
                else ("--digest", digest_of(record))
            )
            done = run(api, token, "decide", "7", *arguments, *named, stdin="y\n")
        assert (done.exit_code, done.stderr.count("\n"), api.of("POST")) == (1, 1, [])
        assert told in done.stderr

    def test_which_answers_it_takes_is_told_before_anything_is_shown(self, token: Path) -> None:
        with OperationsApi(RESULTS) as api:
            done = run(api, token, "decide", "7", "reject", "--feedback", "they contradict")
        assert (done.exit_code, done.stdout) == (1, "")
        assert "it takes approve; revise full WHY; revise AGENT,... WHY" in done.stderr

    @pytest.mark.parametrize("record", EVERY_GATE, ids=lambda record: type(record).__name__)
    def test_what_the_site_shows_must_have_the_digest_that_it_says(self, token: Path, record: Record) -> None:
        answer = "accept" if record in (REVIEW, WRITES) else "skip"
        with OperationsApi(record) as api:
            api.digest = "0" * 64
            word = "approve" if record in (PLAN, RESULTS) else answer
            done = run(api, token, "decide", "7", word, "--digest", "0" * 64)
        assert (done.exit_code, api.of("POST")) == (1, [])
        assert "nothing was sent; tell whoever runs it" in done.stderr

    def test_what_changed_since_it_was_read_is_refused(self, token: Path) -> None:
        with OperationsApi(PLAN) as api:
            original = api.answer

            def answer(asked: Any) -> Any:
                if asked.method == "POST":
                    api.gates = [plan("gmail")]
                return original(asked)

            api.answer = answer  # type: ignore[method-assign]
            done = run(api, token, "decide", "7", "approve", "--digest", digest_of(PLAN))
        assert (done.exit_code, api.answers) == (1, [])
        assert "shows other content than was shown to you" in done.stderr


def test_every_kind_of_gate_is_tried_here() -> None:
    assert {GATE_KINDS[type(record).__name__] for record in EVERY_GATE} == set(GATE_KINDS.values())
