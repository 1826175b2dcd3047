"""How operations are printed: all of it, in plain text, and nothing that looks like the command itself."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.cli.operations.kind import OPERATIONS
from cluster.cli.operations.results_view import show_comparison, show_iteration
from cluster.cli.operations.view import show_history, show_status
from models.operations.following import IterationComparison, IterationResults
from models.operations.history import ExecutionContext
from models.operations.operations import OperationStatusResponse
from models.operations.results import ResultChanges
from models.record import Record
from models.runtime.approvals import GateShown, content_digest
from tests.fakes.operations_api import GATE_KINDS
from tests.unit.cluster.gated.operations_contents import (
    ASKS,
    EVERY_GATE,
    FAILED,
    MAIL,
    PLAN,
    RESULTS,
    REVIEW,
    UNKNOWN,
    WRITE,
    WRITES,
    plan,
    result,
    step,
)
from tests.unit.cluster.gated.site import STEERS, gate_of, printed

NOW = datetime(2026, 3, 3, 10, 20, tzinfo=UTC)
LABELS = {
    *("decide on", "title", "plan id", "question", "made anew", "plan", "order", "takes", "reads"),
    *("looks for", "note", "agent", "because", "asked by", "message", "said", "address", "wanted"),
    *("goes back", "given", "call", "with", "proposed", "written", "error", "found", "left out"),
    *("match", "conflict", "figures", "analysis", "summary", "recommended", "changed", "new", "gone"),
    *("reused", "missing", "mock", "content", "digest", "operation", "approved", "stands", "ended"),
    *("type", "day", "10:20:00", "why"),
}
anything = st.text(st.characters(codec=None))
# Of a gate's content, what says nothing to a person: what the same task is known by, and kinds of records.
UNSAID = {"task_digest", "given", "server_asks", "write_unknown", "failed", "160.0", "object", "answered"}


def gate(record: Record, **changes: Any) -> GateShown:
    return gate_of(record.model_dump(mode="json"), GATE_KINDS[type(record).__name__], **changes)


def said(record: Record, **changes: Any) -> str:
    return "\n".join(printed(OPERATIONS.show_gate, gate(record, **changes)))


def hostile(value: Any, text: str) -> Any:
    """A content in which somebody else's words stand wherever there are any."""
    if isinstance(value, dict):
        kept = ("agent", "status", "kind", "complexity", "data_quality", "agent_sequence", "steps_of")
        return {
            name: one if name in (*kept, "reused", "mocked", "agents") else hostile(one, text)
            for name, one in value.items()
        }
    if isinstance(value, list):
        return [hostile(one, text) for one in value]
    return text if isinstance(value, str) else value


def leaves(value: Any) -> Iterator[str]:
    """Every text and number of a content, as far as it is for people."""
    if isinstance(value, dict):
        for name, one in value.items():
            if name not in UNSAID:
                yield from leaves(one)
    elif isinstance(value, list):
        for one in value:
            yield from leaves(one)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def status(text: str) -> OperationStatusResponse:
    """One that stands still, whose every word is somebody else's."""
    progress = {
        "plan_id": text, "current_stage": "gmail_execution", "progress_percentage": 1, "current_agent": None,
        "estimated_remaining": None, "completed_agents": (), "pending_agents": (),
    }  # fmt: skip
    return OperationStatusResponse.model_validate(
        {
            "operation_id": 7,
            "plan_id": text,
            "name": text,
            "topic": text,
            "task_type": text,
            "query": text,
            "requested_by": text,
            "status": "parked",
            "iteration": 1,
            "progress": progress,
            "created_at": NOW,
            "updated_at": NOW,
            "waits_for": text,
            "error": text or None,
            "outcome": None,
            "approval": None,
        }
    )


def history(*entries: dict[str, Any], text: str = "Why?") -> ExecutionContext:
    given = [
        {"id": number, "iteration": 1, "timestamp": NOW, **entry} for number, entry in enumerate(entries, 1)
    ]
    return ExecutionContext.model_validate(
        {
            "original_task": text,
            "workflow_type": text,
            "execution_history": given,
            "plan_approvals": (),
            "final_approvals": (),
        }
    )


EVENTS: tuple[dict[str, Any], ...] = (
    {"stage": "plan_creation", "agent": "planner", "result": PLAN.plan.model_dump(mode="json")},
    {
        "stage": "plan_approval",
        "result": {"status": "approved", "modified": True},
        "by": "ann",
        "user_feedback": "fine",
    },
    {
        "stage": "agent_execution",
        "agent": "accounts_payable",
        "result": {"status": "error", "items": 0, "error": "away", "metadata": {"service_used": "mock"}},
    },
    {"stage": "agent_execution", "agent": "crm", "result": {"voids_plan": "a tool has gone"}},
    {
        "stage": "agent_execution",
        "agent": "crm",
        "result": {"server_question": {"server": "crm_srv", "message": "Which?"}},
    },
    {
        "stage": "results_compilation",
        "agent": "analysis",
        "result": {"executive_summary": ["It is unpaid."], "conflicts": ["paid and not paid"]},
    },
    {
        "stage": "final_approval",
        "result": {"status": "rejected", "revision_type": "specific_agents", "target_agents": ["crm"]},
        "by": "bob",
        "user_feedback": "look again",
    },
)


IN_ORDER = "Gmail, accounts payable, CRM, analysis; one after the other, each with what those before it found"


class TestOperationsView:
    @given(anything, st.booleans(), st.integers(30, 90))
    @pytest.mark.heavy
    def test_nothing_that_others_wrote_looks_like_the_command(
        self, text: str, terminal: bool, width: int
    ) -> None:
        contents = [(hostile(one.model_dump(mode="json"), text), type(one).__name__) for one in EVERY_GATE]
        gates = [gate_of(content, GATE_KINDS[name], title=text) for content, name in contents]
        assert all(OPERATIONS.shown_at(one) is not None for one in gates)
        results = OPERATIONS.shown_at(gates[-1])
        iteration = IterationResults.model_validate(
            {"operation_id": 7, "iteration": 2, "approved": True, "approved_by": text, "results": results}
        )
        changes = ResultChanges(new_conflicts=(text,), gone_correlations=(text,))
        events = [hostile(one, text) | {"stage": one["stage"]} for one in EVENTS]
        for show, shown in (
            *((OPERATIONS.show_gate, one) for one in gates),
            (OPERATIONS.show_gate, gate_of({"plan": text, text: "x"}, "operation_plan")),
            (show_iteration, iteration),
            (show_comparison, IterationComparison(operation_id=7, left=1, right=2, changes=changes)),
            (show_history, history(*events, text=text)),
            (show_status, status(text)),
        ):
            lines = printed(show, shown, terminal=terminal, width=width)
            labels = {line[:12].strip() for line in lines if not line[:12].strip().isdigit()}
            assert labels - {""} <= LABELS
            assert not STEERS & set("".join(lines))

    @pytest.mark.parametrize("record", EVERY_GATE, ids=lambda record: type(record).__name__)
    def test_each_gate_is_shown_whole(self, record: Record) -> None:
        told = said(record)
        assert OPERATIONS.shown_at(gate(record)) == record
        human = {"accounts_payable": "accounts payable", "gmail": "Gmail", "crm": "CRM"}
        flat = " ".join(told.split())
        for leaf in leaves(record.model_dump(mode="json")):
            word = " ".join(leaf.split())
            ways = (
                word,
                human.get(word, word),
                word[:12] if set(word) == {"d"} else word,
                word.replace("_", " "),
            )
            assert any(way in flat for way in ways) or word in UNSAID, word
        assert told.split("\n")[-1] == f"digest      {content_digest(record.model_dump(mode='json'))}"

    def test_a_plan_says_who_runs_in_which_order_and_with_what(self) -> None:
        lines = said(PLAN).split("\n")
        for line in (
            f"order       {IN_ORDER}",
            "takes       about 2 min, as estimated; complexity: medium",
            "         2  accounts payable: why accounts_payable",
            f"            may call search of accounts_payable_srv ({'d' * 12})",
        ):
            assert line in lines
        writes = step("gmail").tools[0].model_copy(update={"writes": True})
        shown = plan(
            "gmail",
            "crm",
            steps=(step("gmail", tools=(writes,), instructions="Look at June.\nAnd July."), step("crm")),
            side_by_side=True,
        ).model_copy(update={"feedback": "leave out analysis"})
        told = said(shown)
        assert "it writes: each call is shown to a person first" in told
        assert "those that read run side by side, and none is told what another found" in told
        assert "            is told:\n              Look at June.\n              And July." in told
        assert "made anew   by what was said: leave out analysis" in told

    def test_results_mark_what_is_made_up_and_show_both_sides(self) -> None:
        told = said(RESULTS)
        for line in (
            "agent       accounts payable: completed; quality low; by mock; 0.1 s; MOCK, or some of it",
            "agent       Gmail: completed; quality high; by gmail_mcp; 2.1 s; of iteration 1",
            "found       accounts_payable/1: call 1, search of accounts_payable_srv, at /items/1; "
            "mock: not from the server",
            "written     done; decided by bob, approval 17",
            "conflict    K1: status of 2041",
            "            one side: “never paid” (gmail/1, /body)",
            "            other side: “paid” (accounts_payable/1, /status)",
            "match       C1: gmail/1 and accounts_payable/1; score 0.97",
            "summary     Invoice 2041 is said to be unpaid. [K1, gmail/1]",
            "recommended Ask the bank. [C1]",
            "mock        what accounts payable found, or some of it, is made up: it is not from the server",
            "missing     CRM was left out of the plan: nothing of it is compared",
            "reused      Gmail: as an earlier iteration found it",
        ):
            assert line in told.split("\n"), line

    def test_one_item_of_a_mock_marks_its_agent(self) -> None:
        made_up = MAIL.model_copy(update={"mock": True})
        found = RESULTS.model_copy(update={"results": (result("gmail", made_up),), "mocked": ()})
        assert "mock        what Gmail found, or some of it, is made up: it is not from the server" in said(
            found
        )
        real = RESULTS.model_copy(update={"results": (result("gmail", MAIL),), "mocked": ()})
        assert "made up" not in said(real)

    def test_what_is_not_known_of_is_shown_too(self) -> None:
        for record in EVERY_GATE:
            content = {**record.model_dump(mode="json"), "small_print": "and the house"}
            shown = gate_of(content, GATE_KINDS[type(record).__name__])
            assert OPERATIONS.shown_at(shown) is None
            assert "small_print: and the house" in "\n".join(printed(OPERATIONS.show_gate, shown))

    def test_who_changed_it_under_four_eyes_is_shown(self) -> None:
        content = {**PLAN.model_dump(mode="json"), "involved": ["ann", "bob"]}
        shown = gate_of(content, "operation_plan", may_decide=False, amended_by="bob")
        lines = printed(OPERATIONS.show_gate, shown)
        changed = "by bob: this is the changed content; involved: ann, bob; another person must approve it"
        assert f"changed     {changed}" in lines
        assert "            approving it is not open to you" in lines

    def test_what_a_server_asks_is_shown_with_where_the_answer_goes(self) -> None:
        told = said(ASKS)
        for line in (
            "agent       CRM is asked something by its server",
            "asked by    crm_srv, before search answers; what you give goes there",
            "message     Which account, and how much?",
            'wanted      account (string, needed) {"title": "The account", "enum": ["0042", "0043"]}',
            "wanted      amount (number)",
            "goes back   under k1, with its own note s1",
        ):
            assert line in told.split("\n"), line
        assert ASKS.server_question is not None
        page = ASKS.server_question.model_copy(
            update={"requested": {"oneOf": ["x"]}, "url": "https://e.vil/"}
        )
        other = said(ASKS.model_copy(update={"server_question": page, "given": {"account": "0042"}}))
        assert "wanted      oneOf:" in other
        assert "nothing here does: https://e.vil/" in other
        assert 'given       account: "0042"' in other
        declined = said(ASKS.model_copy(update={"declined": True}))
        assert "given       nothing: its server is told so" in declined
        assert "its server is told so" not in other

    def test_a_write_is_shown_with_all_that_it_would_send(self) -> None:
        call = f"call        add_note of crm_srv ({'d' * 12})\nwith        note: Call them."
        assert f"CRM wants this call made\n{call}\nbecause     nobody called" in said(WRITES)
        told = said(UNKNOWN)
        assert "CRM sent a call that changes something, and nobody knows whether it was done" in told
        assert call in told
        assert REVIEW.agent_result.result is not None
        found = REVIEW.agent_result.result.model_copy(update={"proposed": (WRITE,)})
        waits = REVIEW.agent_result.model_copy(update={"result": found})
        told = said(REVIEW.model_copy(update={"agent_result": waits}))
        assert f"proposed    a call that changes something; nobody has decided on it\n{call}" in told

    def test_an_agent_that_failed_says_why(self) -> None:
        assert "agent       accounts payable could not do its part\nbecause     it took 300 s" in said(FAILED)
        assert "agent       Gmail: completed; quality high" in said(REVIEW)

    def test_the_history_tells_what_happened_in_words(self) -> None:
        lines = printed(show_history, history(*EVENTS))
        assert lines[2:] == [
            "day         2026-03-03",
            f"10:20:00    iteration 1: a plan was made: {IN_ORDER}",
            "10:20:00    iteration 1: the plan was approved by ann, as changed",
            "            ann said: fine",
            "10:20:00    iteration 1: accounts payable: error, found 0, quality unknown, mock",
            "            away",
            "10:20:00    iteration 1: CRM: the plan does not hold any more: a tool has gone",
            "10:20:00    iteration 1: CRM is asked something by crm_srv: Which?",
            "10:20:00    iteration 1: the results were put together",
            "            It is unpaid.",
            "            contradicts: paid and not paid",
            "10:20:00    iteration 1: the results were rejected by bob; asked for: specific agents (CRM)",
            "            bob said: look again",
        ]

    def test_a_comparison_tells_what_is_otherwise(self) -> None:
        assert RESULTS.changes is not None
        found = IterationComparison(operation_id=7, left=1, right=2, changes=RESULTS.changes)
        assert printed(show_comparison, found) == [
            "operation   7: iteration 2 beside 1",
            "changed     what accounts payable found",
            "new         contradicts: A bill is new.",
            "gone        contradicts: A bill has gone.",
            "new         belongs together: invoice: 2041 = 2041",
            "gone        belongs together: amount: 1 = 1",
        ]
        same = found.model_copy(update={"changes": ResultChanges()})
        assert printed(show_comparison, same)[1:] == ["changed     nothing"]
