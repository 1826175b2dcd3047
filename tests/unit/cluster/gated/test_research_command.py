"""`signoff research` without a terminal, over a real socket: what is printed, sent, and refused."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cluster.cli.gated import following
from cluster.cli.signoff import app
from models.research.results import ResearchResult
from models.runtime.approvals import content_digest
from tests.fakes.research_api import ResearchApi
from tests.integration.cluster.approval_site import NASTY
from tests.unit.cluster.gated.research_contents import TREE, UNREADABLE, urls
from tests.unit.cluster.gated.site import STEERS, WAITS, WITHOUT_RESULT, called_with, digest_of, run
from tests.unit.cluster.gated.test_research_view import lineage, sentence


class TestWithoutATerminal:
    def test_lines_are_printed_and_nobody_is_asked(self, token: Path) -> None:
        with ResearchApi(urls()) as api:
            api.say("one", "two", "three")
            done = run(api, token, "follow", "7", stdin="approve\ny\n")
        assert (done.exit_code, api.of("POST")) == (WAITS, [])
        lines = done.stdout.splitlines()
        assert [line for line in lines if "scraper: " in line] == [
            f"10:20:00    scraper: {word}" for word in ("one", "two", "three")
        ]
        short = digest_of(urls())[:12]
        given = shlex.join(called_with(api, token))
        assert lines[-3:] == [
            "waits       for a decision on the addresses, approval 19",
            f"read it     signoff research show 7 {given}",
            f"approve it  signoff research decide 7 approve --digest {short} {given}",
        ]
        progress = "awaiting approval 36 %, step 4 of 11 by the scraper, 1 of 2 pages, about 3 min left."
        assert f"progress    {progress} reading pages" in lines

    def test_a_command_that_is_told_can_be_typed_as_it_is(self, token: Path) -> None:
        with ResearchApi(urls()) as api:
            told = run(api, token, "follow", "7").stdout.splitlines()[-1].partition("signoff research ")[2]
            done = CliRunner().invoke(app, ["research", *shlex.split(told)])
        assert (done.exit_code, [one.decision for one in api.answers]) == (0, ["approve"])

    @pytest.mark.parametrize(
        ("status", "outcome", "code"),
        [
            ("completed", "done", 0),
            ("completed", "rejected", WITHOUT_RESULT),
            ("completed", "nothing_found", WITHOUT_RESULT),
            ("completed", None, WITHOUT_RESULT),
            ("stopped", None, WITHOUT_RESULT),
            ("failed", None, 1),
        ],
    )
    def test_how_it_ended_is_the_exit_code(self, token: Path, status: Any, outcome: Any, code: int) -> None:
        with ResearchApi() as api:
            api.status = status
            api.result = outcome and ResearchResult(outcome=outcome, pages=0, points=0)
            done = run(api, token, "follow", "7")
        assert done.exit_code == code
        ended = f"{status}: {outcome}" if outcome else status
        assert f"ended       {ended.replace('_', ' ')}\n" in done.stdout

    @pytest.mark.parametrize("verb", ["follow", "show", "result"])
    @pytest.mark.parametrize("status", ["completed", "stopped", "failed"])
    def test_why_it_ended_is_told_wherever_it_is_shown(self, token: Path, verb: str, status: Any) -> None:
        with ResearchApi() as api:
            api.status, api.reason = status, "rejected by bob: only tourist pages"
            api.result = ResearchResult(outcome="rejected", pages=0, points=0)
            done = run(api, token, verb, "7")
        assert done.stdout.count("why         rejected by bob: only tourist pages\n") == 1

    def test_a_gate_out_of_sight_is_waited_for_a_while(
        self, token: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(following, "_UNSEEN_SECONDS", 0.05)
        with ResearchApi() as api:
            api.status = "awaiting_approval"
            done = run(api, token, "follow", "7")
        assert (done.exit_code, len(api.of("GET", "/7")) > 1) == (WAITS, True)

    def test_start_sends_what_was_given_and_follows(self, token: Path) -> None:
        options = ("--topic", "macro", "--task-type", "research", "--max-urls", "5", "--language", "en")
        more = ("--date-range", "month", "--no-approval", "--page", "https://a.example/", "--request-id", "r")
        with ResearchApi() as api:
            done = run(api, token, "start", "How do rates move?", *options, *more)
            assert done.exit_code == 0
            assert "result      done" in done.stdout
            assert api.of("POST")[0].body == {
                "user_query": "How do rates move?",
                "topic": "macro",
                "task_type": "research",
                "urls": ["https://a.example/"],
                "config": {"max_urls": 5, "language": "en", "date_range": "month", "require_approval": False},
                "request_id": "r",
            }
            quiet = run(api, token, "start", "How do rates move?", "--project", "4", "--no-follow")
            assert (quiet.exit_code, quiet.stdout.splitlines()[-1].strip()) == (
                0,
                f"follow it   signoff research follow 7 {shlex.join(called_with(api, token))}",
            )
            body = api.of("POST")[1].body
            assert {**body, "request_id": ""} == {
                "user_query": "How do rates move?",
                "project_id": 4,
                "request_id": "",
            }
            assert len(body["request_id"]) == 32
            assert "It takes about 12 min, without the time that people take." in quiet.stdout
            api.estimate_is_learnt = False
            guessed = run(api, token, "start", "How do rates move?", "--project", "4", "--no-follow")
        assert "How long it takes is not learnt yet: 12 min is a guess" in guessed.stdout

    @pytest.mark.parametrize(
        ("arguments", "told"),
        [
            (("start", "short"), "user_query: "),
            (("start", "How do rates move?", "--language", "english"), "config.language: "),
            (("decide", "7", "agree"), "decision: Input should be 'approve', 'reject' or 'modify'"),
            (("decide", "7", "reject"), "--notes is empty"),
            (("decide", "7", "reject", "--notes", " "), "--notes is empty"),
            (("decide", "7", "approve"), "there is no terminal to ask on: to decide on what is shown above"),
            (("decide", "7", "approve", "--remove", "1"), "what modify takes, and nothing else does"),
            (("decide", "7", "modify"), "what modify takes, and nothing else does"),
            (("decide", "7", "modify"), "`signoff research follow 7 --config"),
            (("decide", "7", "approve", "--change", "remove 1"), "what modify takes, and nothing else does"),
            (
                ("decide", "7", "modify", "--change", "drop n1"),
                "--change 'drop n1': here it takes remove NUMBER",
            ),
            (("decide", "7", "modify", "--change", "approve"), "--change 'approve': here it takes remove"),
            (
                ("decide", "7", "modify", "--change", "remove"),
                "remove: NUMBER is missing: write remove NUMBER",
            ),
            (("decide", "7", "approve", "--digest", "abc"), "is too short"),
            (("decide", "7", "approve", "--digest", "0" * 64), "names other content"),
            (("decide", "7", "modify", "--set", "x", "--digest", "0" * 64), "'x' sets nothing"),
            (("result", "7", "--json", "--markdown"), "give one of them"),
            (("lineage", "7", "--sentence", "3"), "has no such sentence"),
        ],
    )
    def test_what_is_wrong_is_one_line_and_decides_nothing(
        self, token: Path, arguments: tuple[str, ...], told: str
    ) -> None:
        with ResearchApi(urls()) as api:
            done = run(api, token, *arguments, stdin="y\n")
        assert (done.exit_code, done.stderr.count("\n"), api.of("POST")) == (1, 1, [])
        assert told in done.stderr

    def test_scripts_decide_by_the_digest_of_what_they_read(self, token: Path) -> None:
        digest = digest_of(urls())
        changes = ("--remove", "2", "--add", "https://a.example/", "--set", "language=en", "--notes", "fine")
        with ResearchApi(urls(), urls(), urls()) as api:
            for arguments in (
                ("approve", "--digest", digest[:12]),
                ("modify", "--digest", digest, *changes),
                ("reject", "--digest", digest, "--notes", "too thin"),
            ):
                done = run(api, token, "decide", "7", *arguments)
                assert (done.exit_code, done.stderr) == (0, "")
            gone = run(api, token, "decide", "7", "approve", "--digest", digest)
        assert (gone.exit_code, "waits for no decision" in gone.stderr) == (1, True)
        approved, modified, rejected = api.answers
        assert {answer.digest for answer in api.answers} == {digest}
        assert modified.modifications is not None
        assert (modified.modifications.remove_urls, modified.notes) == ((2,), "fine")
        assert (approved.decision, rejected.decision, rejected.notes) == ("approve", "reject", "too thin")

    def test_the_token_on_stdin_leaves_nobody_to_ask(self, token: Path) -> None:
        with ResearchApi(urls()) as api:
            given = ["research", "decide", "7", "approve", "--url", api.url, "--token-file", "-"]
            done = CliRunner().invoke(
                app, [*given, "--config", str(token.parent / "none.yaml")], input="a.b.c\n"
            )
        assert (done.exit_code, api.of("POST")) == (1, [])

    def test_lists_and_records_are_read_by_people_and_programs(self, token: Path) -> None:
        with ResearchApi(urls(), name=f"Rates {NASTY}") as api:
            api.more = {"something_new": 1}
            listed = run(
                api, token, "list", "--limit", "1", "--status", "awaiting_approval", "--project", "3"
            )
            assert "awaiting approval, decide" in listed.stdout
            older = "list --status awaiting_approval --project 3 --limit 1 --before 7"
            assert f"older ones  signoff research {older} --config" in listed.stdout
            assert api.asked[-1].query == {"limit": "1", "status": "awaiting_approval", "project_id": "3"}
            told = run(api, token, "points", "7").stdout
            assert "more        signoff research points 7 --after 9 --config" in told
            shown = run(api, token, "show", "7")
            assert "so far      5 addresses found, 1 read; 3 points, 1 relationship\n" in shown.stdout
            assert "Page 3" in shown.stdout
            told = json.loads(run(api, token, "show", "7", "--json").stdout)
            assert (told["approval"]["kind"], told["something_new"]) == ("research_urls", 1)
            stopped = run(api, token, "stop", "7", "--reason", "enough")
            assert stopped.stdout == "research    7 is stopped\n"
            assert api.of("POST", "/stop")[0].body == {"reason": "enough"}
            for one in (listed, shown):
                assert one.exit_code == 0
                assert not STEERS & set(one.stdout)

    def test_where_nobody_answers_the_command_that_brings_this_site_up_is_told(self, token: Path) -> None:
        with ResearchApi() as api:
            pass
        done = run(api, token, "list")
        config = token.parent / "none.yaml"
        assert (done.exit_code, f"run `signoff up --config {config}`" in done.stderr) == (1, True)

    def test_a_list_says_how_those_that_are_completed_ended(self, token: Path) -> None:
        with ResearchApi() as api:
            api.outcome, api.reason = "nothing_found", "no page was found"
            listed = run(api, token, "list", "--status", "awaiting approval")
        assert "completed: nothing found" in listed.stdout
        assert api.reason in listed.stdout
        assert api.asked[-1].query == {"status": "awaiting_approval"}

    def test_trees_are_edited_without_being_asked_in_the_order_given(self, token: Path) -> None:
        digest = digest_of(TREE)
        edits = ("rename n3 Consumer prices", "move n2 top", "merge n1 n3", "drop n2")
        changes = [word for edit in edits for word in ("--change", edit)]
        with ResearchApi(TREE) as api:
            done = run(api, token, "decide", "7", "modify", "--digest", digest, *changes)
        assert (done.exit_code, done.stderr) == (0, "")
        [answer] = api.answers
        assert answer.modifications is not None
        assert [edit.model_dump() for edit in answer.modifications.tree_edits] == [
            {"edit": "rename", "node": "n3", "name": "Consumer prices"},
            {"edit": "move", "node": "n2", "under": None},
            {"edit": "merge", "into": "n1", "nodes": ("n3",)},
            {"edit": "drop", "node": "n2"},
        ]

    def test_what_is_read_instead_is_given_without_being_asked(self, token: Path) -> None:
        digest = digest_of(UNREADABLE)
        (token.parent / "page.txt").write_text("The Fed held rates.")
        changes = (
            "--change",
            "url 2 https://other.example/",
            "--change",
            f"paste 3 {token.parent / 'page.txt'}",
        )
        with ResearchApi(UNREADABLE) as api:
            title = ("--change", "title 3 What the Fed did")
            done = run(api, token, "decide", "7", "modify", "--digest", digest, *changes, *title)
        assert (done.exit_code, done.stderr) == (0, "")
        assert "instead     of 3: 19 characters of text, titled What the Fed did" in done.stdout
        [answer] = api.answers
        assert answer.modifications is not None
        first, second = answer.modifications.instead
        assert (first.number, first.url, second.number) == (2, "https://other.example/", 3)
        assert second.pasted is not None
        assert (second.pasted.text, second.pasted.title) == ("The Fed held rates.", "What the Fed did")

    def test_changes_of_another_gate_decide_nothing(self, token: Path) -> None:
        digest = digest_of(TREE)
        with ResearchApi(TREE) as api:
            done = run(api, token, "decide", "7", "modify", "--digest", digest, "--remove", "1")
        assert (done.exit_code, api.of("POST")) == (1, [])
        assert "--remove, --add and --set are for a list of addresses" in done.stderr

    def test_whoever_changes_it_under_four_eyes_is_told_what_is_shown_now(self, token: Path) -> None:
        digest = digest_of(urls())
        with ResearchApi(urls()) as api:
            api.four_eyes = True
            done = run(api, token, "decide", "7", "modify", "--digest", digest, "--remove", "2")
            now = content_digest(api.content)
            shown = run(api, token, "show", "7").stdout
        lines = done.stdout.splitlines()
        assert lines[-3].startswith("decided     Your yes is kept: 1 more must approve exactly this.")
        assert lines[-2] == f"now         {now}"
        assert lines[-1] == f"show it     signoff research show 7 {shlex.join(called_with(api, token))}"
        assert "changed     by ann: this is the changed content; involved: ann; another person must" in shown

    def test_nothing_from_elsewhere_steers_the_terminal_whatever_is_printed(self, token: Path) -> None:
        bad = f"{NASTY}\x9b2J\u2066x\u200b"
        with ResearchApi(urls(1, title=bad, why=bad, source=bad, domain=bad, url=bad), name=bad) as api:
            api.results = {"sentences": (sentence(1, bad, heading=bad, reason=bad),), "approved": False}
            api.lineage = lineage(bad, sentence(1, bad))
            api.say(bad, reasoning=bad)
            api.title = api.error = bad
            for arguments in (
                ("list",),
                ("list", "--json"),
                ("show", "7"),
                ("show", "7", "--json"),
                ("result", "7"),
                ("result", "7", "--json"),
                ("result", "7", "--markdown"),
                ("lineage", "7"),
                ("lineage", "7", "--json"),
                ("points", "7"),
                ("points", "7", "--json"),
                ("follow", "7"),
            ):
                done = run(api, token, *arguments)
                assert done.exit_code in (0, WAITS), done.stderr
                assert not STEERS & set(done.stdout), arguments
            api.refusals = [(422, bad)]
            refused = run(api, token, "stop", "7")
            assert not STEERS & set(refused.stderr)
