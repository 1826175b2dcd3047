"""`signoff operations` without a terminal, over a real socket: what is printed, sent, and refused."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cluster.cli.signoff import app
from models.operations.history import HistoryEnd
from models.operations.results import ResultChanges
from models.record import Record
from tests.fakes.heard_api import FileAnswer
from tests.fakes.operations_api import NOW, OperationsApi
from tests.integration.cluster.approval_site import NASTY
from tests.unit.cluster.gated.operations_contents import (
    ASKS,
    FAILED,
    PLAN,
    RESULTS,
    REVIEW,
    UNKNOWN,
    WRITES,
    plan,
)
from tests.unit.cluster.gated.site import STEERS, WAITS, WITHOUT_RESULT, called_with, digest_of, run
from tests.unit.cluster.gated.test_operations_view import EVENTS

BAD = f"{NASTY}\x9b2J\u2066x\u200b"


class TestFollowedWithoutATerminal:
    def test_what_happens_is_printed_and_nobody_is_asked(self, token: Path) -> None:
        with OperationsApi(PLAN) as api:
            for one in EVENTS[:2]:
                api.happens(**one)
            done = run(api, token, "follow", "7", stdin="approve\ny\n")
        assert (done.exit_code, api.of("POST")) == (WAITS, [])
        lines = done.stdout.splitlines()
        assert "10:20:00    iteration 1: the plan was approved by ann, as changed" in lines
        assert (
            "progress    awaiting approval 36 %; iteration 1; Gmail reads; done: Gmail; "
            "to come: accounts payable, analysis; about 2 min left" in lines
        )
        given = shlex.join(called_with(api, token))
        assert lines[-3:] == [
            "waits       for a decision on the plan, approval 19",
            f"read it     signoff operations show 7 {given}",
            f"approve it  signoff operations decide 7 approve --digest {digest_of(PLAN)[:12]} {given}",
        ]

    @pytest.mark.parametrize(
        ("record", "told"),
        [
            (PLAN, ["approve"]),
            (FAILED, ["retry", "skip"]),
            (UNKNOWN, ["retry", "skip"]),
            (ASKS, ["decline", "skip"]),
            (WRITES, ["accept", "skip"]),
            (REVIEW, ["accept"]),
            (RESULTS, ["approve"]),
        ],
    )
    def test_commands_that_are_told_can_be_typed_as_they_are(
        self, token: Path, record: Record, told: list[str]
    ) -> None:
        for number, answer in enumerate(told):
            with OperationsApi(record) as api:
                lines = run(api, token, "follow", "7").stdout.splitlines()
                typed = [line.partition("signoff operations ")[2] for line in lines if " decide 7 " in line]
                assert [shlex.split(line)[2] for line in typed] == told
                done = CliRunner().invoke(app, ["operations", *shlex.split(typed[number])])
            assert (done.exit_code, len(api.answers)) == (0, 1), done.stderr
            sent = api.answers[0].model_dump(exclude_unset=True)
            meant = {"approved": True} if answer == "approve" else {"answer": answer}
            assert sent == {"digest": digest_of(record), **meant}

    @pytest.mark.parametrize(
        ("status", "outcome", "code"),
        [
            ("completed", "completed", 0),
            ("completed", "rejected", WITHOUT_RESULT),
            ("completed", "expired", WITHOUT_RESULT),
            ("completed", "nothing_found", WITHOUT_RESULT),
            ("completed", None, WITHOUT_RESULT),
            ("cancelled", None, WITHOUT_RESULT),
            ("failed", None, 1),
        ],
    )
    def test_how_it_ended_is_the_exit_code(self, token: Path, status: Any, outcome: Any, code: int) -> None:
        with OperationsApi() as api:
            api.status, api.outcome, api.error = status, outcome, "a fault" if code == 1 else None
            done = run(api, token, "follow", "7")
        assert done.exit_code == code
        ended = f"{status}: {outcome}" if outcome not in (None, "completed") else status
        assert f"ended       {ended.replace('_', ' ')}\n" in done.stdout
        assert ("error       a fault" in done.stdout) == (code == 1)
        assert ("export it   signoff operations export 7 --format pdf" in done.stdout) == (code == 0)

    def test_a_site_that_was_there_is_asked_again_and_nothing_is_told_twice(self, token: Path) -> None:
        with OperationsApi() as api:
            api.refusals = [(503, "away")]
            assert run(api, token, "follow", "7").exit_code == 1
            api.status, api.outcome = "running", None
            api.happens(**EVENTS[0])
            original = api.answer

            def answer(asked: Any) -> Any:
                if len(api.of("GET", "/7")) == 3:
                    api.refusals, api.status, api.outcome = [(503, "away")], "completed", "completed"
                    api.happens(**EVENTS[1])
                return original(asked)

            api.answer = answer  # type: ignore[method-assign]
            done = run(api, token, "follow", "7")
        assert done.exit_code == 0
        assert done.stdout.count("away: it is asked again") == 1
        assert done.stdout.count("a plan was made") == 1
        assert done.stdout.count("the plan was approved") == 1

    def test_its_history_is_read_again_only_where_it_stands_otherwise(self, token: Path) -> None:
        with OperationsApi() as api:
            api.status, api.outcome = "running", None
            original = api.answer

            def answer(asked: Any) -> Any:
                if len(api.of("GET", "/7")) == 5:
                    api.status, api.outcome = "completed", "completed"
                return original(asked)

            api.answer = answer  # type: ignore[method-assign]
            assert run(api, token, "follow", "7").exit_code == 0
        assert (len(api.of("GET", "/7")), len(api.of("GET", "/history"))) == (5, 2)


class TestBegunWithoutATerminal:
    def test_start_sends_what_was_given_and_follows(self, token: Path) -> None:
        with OperationsApi() as api:
            options = ("--topic", "macro", "--type", "quick_look", "--request-id", "r")
            done = run(api, token, "start", "Why is Northgate unpaid?", *options)
            assert done.exit_code == 0
            assert "operation   7: The operation has begun.\n" in done.stdout
            assert "ended       completed\n" in done.stdout
            assert api.of("POST")[0].body == {
                "query": "Why is Northgate unpaid?",
                "topic": "macro",
                "task_type": "quick_look",
                "request_id": "r",
            }
            quiet = run(api, token, "start", "Why is Northgate unpaid?", "--topic", "macro", "--no-follow")
        assert quiet.stdout.splitlines()[-1] == (
            f"follow it   signoff operations follow 7 {shlex.join(called_with(api, token))}"
        )
        body = api.of("POST")[1].body
        assert (set(body), len(body["request_id"])) == ({"query", "topic", "request_id"}, 32)

    def test_cancel_sends_the_reason(self, token: Path) -> None:
        with OperationsApi(PLAN) as api:
            done = run(api, token, "cancel", "7", "--reason", "asked twice")
            run(api, token, "cancel", "7")
        assert done.stdout == "operation   7: The operation is cancelled.\n"
        assert [one.body for one in api.of("POST", "/cancel")] == [{"reason": "asked twice"}, {}]


class TestReadWithoutATerminal:
    def test_lists_and_records_are_read_by_people_and_programs(self, token: Path) -> None:
        with OperationsApi(PLAN) as api:
            api.more = {"something_new": 1}
            listed = run(api, token, "list", "--limit", "1", "--status", "awaiting approval", "--mine")
            assert "awaiting approval, decide" in listed.stdout
            older = "list --mine --status 'awaiting approval' --limit 1 --before 7"
            assert f"older ones  signoff operations {older} --config" in listed.stdout
            assert api.asked[-1].query == {"limit": "1", "status": "awaiting_approval", "mine": "true"}
            shown = run(api, token, "show", "7")
            assert "stands      awaiting approval 36 %; iteration 1; Gmail reads" in shown.stdout
            assert "accounts payable: why accounts_payable" in shown.stdout
            told = json.loads(run(api, token, "show", "7", "--json").stdout)
            assert (told["approval"]["kind"], told["something_new"]) == ("operation_plan", 1)

    def test_results_of_an_iteration_are_shown(self, token: Path) -> None:
        with OperationsApi() as api:
            api.results = RESULTS
            shown = run(api, token, "results", "7", "--iteration", "2")
            assert api.asked[-1].query == {"iteration": "2"}
            told = json.loads(run(api, token, "results", "7", "--json").stdout)
            assert api.asked[-1].query == {}
        assert "approved    yes, by ann\n" in shown.stdout
        assert "K1: status of 2041" in shown.stdout
        assert told["results"]["conflicts"][0]["number"] == 1

    def test_history_and_what_is_otherwise_are_shown(self, token: Path) -> None:
        with OperationsApi() as api:
            for one in EVENTS:
                api.happens(**one)
            api.changes = ResultChanges(new_conflicts=("paid twice",))
            assert "the results were rejected by bob" in run(api, token, "history", "7").stdout
            assert len(json.loads(run(api, token, "history", "7", "--json").stdout)["execution_history"]) == 7
            api.reason, api.status = "not needed (ann)", "cancelled"
            api.ended = HistoryEnd(status=api.status, reason=api.reason, timestamp=NOW)
            for verb in ("history", "show", "follow"):
                assert f"why         {api.reason}\n" in run(api, token, verb, "7").stdout
            assert "10:20:00    it is cancelled\n" in run(api, token, "history", "7").stdout
            assert api.reason in run(api, token, "list").stdout
            compared = run(api, token, "compare", "7", "1", "2").stdout
            assert api.asked[-1].query == {"left": "1", "right": "2"}
            assert json.loads(run(api, token, "compare", "7", "1", "2", "--json").stdout)["right"] == 2
        assert compared.splitlines() == [
            "operation   7: iteration 2 beside 1",
            "new         contradicts: paid twice",
        ]

    def test_nothing_from_elsewhere_steers_the_terminal_whatever_is_printed(self, token: Path) -> None:
        shown = plan(description=BAD, leads=(BAD,), notes=(BAD,)).model_copy(update={"question": BAD})
        with OperationsApi(shown, name=BAD) as api:
            api.title = api.error = BAD
            api.results = RESULTS.model_copy(update={"question": BAD, "missing": (BAD,)})
            api.changes = ResultChanges(gone_correlations=(BAD,))
            api.happens(agent="crm", result={"voids_plan": BAD}, user_feedback=BAD, by=BAD)
            for arguments in (
                ("list",),
                ("list", "--json"),
                ("show", "7"),
                ("show", "7", "--json"),
                ("results", "7"),
                ("results", "7", "--json"),
                ("history", "7"),
                ("history", "7", "--json"),
                ("compare", "7", "1", "2"),
                ("compare", "7", "1", "2", "--json"),
                ("follow", "7"),
            ):
                done = run(api, token, *arguments)
                assert done.exit_code in (0, WAITS), done.stderr
                assert not STEERS & set(done.stdout), arguments
            api.refusals = [(422, BAD)]
            assert not STEERS & set(run(api, token, "cancel", "7").stderr)


class TestExported:
    def test_a_file_is_written_byte_for_byte(self, token: Path) -> None:
        file = token.parent / "results.pdf"
        with OperationsApi() as api:
            done = run(api, token, "export", "7", "--format", "pdf", "--output", str(file))
        assert (done.exit_code, api.asked[-1].query) == (0, {"format": "pdf"})
        assert file.read_bytes() == api.file.content
        assert f"written     {file}, {len(api.file.content)} bytes\n" in done.stdout

    @pytest.mark.parametrize(
        ("form", "kind"),
        [
            ("json", "application/json"),
            ("markdown", "text/markdown; charset=utf-8"),
            ("csv", "text/csv; charset=utf-8; header=present"),
        ],
    )
    def test_each_format_is_taken(self, token: Path, form: str, kind: str) -> None:
        file = token.parent / "results"
        with OperationsApi() as api:
            api.file = FileAnswer(kind, b"\xc3\xa4,\r\n")
            done = run(api, token, "export", "7", "--format", form, "--output", str(file))
        assert (done.exit_code, file.read_bytes()) == (0, b"\xc3\xa4,\r\n")

    def test_what_is_there_is_kept_unless_it_is_said_that_it_may_go(self, token: Path) -> None:
        file = token.parent / "results.pdf"
        file.write_text("ours")
        with OperationsApi() as api:
            arguments = ("export", "7", "--format", "pdf", "--output", str(file))
            kept = run(api, token, *arguments)
            assert (kept.exit_code, api.asked, file.read_text()) == (1, [], "ours")
            assert "it is there already, and is kept: give --force, or another name" in kept.stderr
            assert run(api, token, *arguments, "--force").exit_code == 0
        assert file.read_bytes() == api.file.content

    def test_what_is_refused_or_not_such_a_file_writes_nothing(self, token: Path) -> None:
        file = token.parent / "results.pdf"
        arguments = ("export", "7", "--format", "pdf", "--output", str(file))
        with OperationsApi() as api:
            api.refusals = [(409, "operation 7 has no approved results")]
            refused = run(api, token, *arguments)
            api.file = FileAnswer("text/html", b"<html>a gateway</html>")
            other = run(api, token, *arguments)
            unknown = run(api, token, "export", "7", "--format", "pfd", "--output", str(file))
        assert "signoff: operation 7 has no approved results\n" in refused.stderr
        assert "not as Signoff does" in other.stderr
        assert "--format: there is no 'pfd': did you mean pdf?" in unknown.stderr
        assert {one.exit_code for one in (refused, other, unknown)} == {1}
        assert not file.exists()
