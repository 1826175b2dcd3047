"""Deciding on an operation at a terminal: what is sent is what was shown, and unclear is not yes."""

import contextlib
import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from models.record import Record
from tests.fakes.operations_api import OperationsApi
from tests.integration.chat.sites.chat_terminal import PROMPT, ROOT, Terminal
from tests.integration.cluster.approval_site import NASTY
from tests.unit.cluster.operations_site import (
    ASKS,
    FAILED,
    PLAN,
    RESULTS,
    REVIEW,
    SURE,
    WAITS,
    WITHOUT_RESULT,
    WRITES,
    digest_of,
    make_token,
    plan,
)

__all__ = ["make_token"]  # the fixture


class OperationsTerminal(Terminal):
    """`signoff operations` on a terminal of its own."""

    def __init__(self, api: OperationsApi, token: Path, *arguments: str, term: str = "dumb") -> None:
        self._ours, theirs = pty.openpty()
        command = [sys.executable, "-m", "cluster.cli.signoff", "operations", *arguments]
        command += ["--url", api.url, "--token-file", str(token), "--config", str(token.parent / "none.yaml")]
        environment = {**os.environ, "TERM": term, "COLUMNS": "80"}
        self._child = subprocess.Popen(
            command, stdin=theirs, stdout=theirs, stderr=theirs, cwd=ROOT, env=environment
        )
        os.close(theirs)
        self.said = ""
        self._read = 0


@contextlib.contextmanager
def at_gate(token: Path, *gates: Record, **more: Any) -> Iterator[tuple[OperationsApi, OperationsTerminal]]:
    """Somebody who follows operation 7 at a terminal and is asked there."""
    with OperationsApi(*gates) as api:
        for name, value in more.items():
            setattr(api, name, value)
        with OperationsTerminal(api, token, "follow", "7") as terminal:
            terminal.until(PROMPT)
            yield api, terminal


class TestAnOperationAtATerminal:
    def test_every_gate_is_shown_asked_about_and_decided_in_turn(self, token: Path) -> None:
        gates = (PLAN, FAILED, ASKS, WRITES, REVIEW, RESULTS)
        with at_gate(token, *gates) as (api, terminal):
            assert digest_of(PLAN) in terminal.said
            for line, asked in (
                ("approve", "approve this? [y/N]: "),
                ("retry", "have that tried again? [y/N]: "),
                ("answer account=0042", "give that to its server? [y/N]: "),
                ("accept", "accept this? [y/N]: "),
                ("revise look again", "have that done again, for that reason? [y/N]: "),
                ("approve", "approve this? [y/N]: "),
            ):
                sent = len(api.answers)
                terminal.type(f"{line}\n")
                terminal.until(asked)
                assert len(api.answers) == sent
                terminal.type("y\n")
                if sent < len(gates) - 1:
                    terminal.until(PROMPT)
            assert terminal.left() == 0
        assert [answer.digest for answer in api.answers] == [digest_of(record) for record in gates]
        assert [one.path.rpartition("/")[2] for one in api.of("POST")] == [
            "plan", "agent", "agent", "agent", "agent", "results",
        ]  # fmt: skip
        said = " ".join(terminal.said.split())
        for told in ("Please pay 4300.", "K1: status of 2041", "ended completed", "add_note of crm_srv"):
            assert told in said
        assert "Traceback" not in terminal.said

    @pytest.mark.parametrize("typed", ["ok?", "yes", "approve all", "Approve"])
    def test_unclear_is_not_yes(self, token: Path, typed: str) -> None:
        with at_gate(token, PLAN) as (api, terminal):
            terminal.type(f"{typed}\n")
            terminal.until(PROMPT)
            terminal.type("later\n")
            assert terminal.left() == WAITS
        assert (api.answers, api.of("POST")) == ([], [])
        assert "signoff operations decide 7 approve --digest" in " ".join(terminal.said.split())

    def test_the_end_of_input_at_the_last_question_is_not_yes(self, token: Path) -> None:
        with at_gate(token, RESULTS) as (api, terminal):
            terminal.type("approve\n")
            terminal.until(SURE)
            terminal.type("\x04")
            terminal.until(PROMPT)
            terminal.type("\x04")
            assert terminal.left() == WAITS
        assert api.of("POST") == []

    @pytest.mark.parametrize("at", [PROMPT, SURE])
    def test_ctrl_c_is_not_yes(self, token: Path, at: str) -> None:
        with at_gate(token, PLAN) as (api, terminal):
            if at == SURE:
                terminal.type("approve\n")
                terminal.until(SURE)
            terminal.type("y")
            terminal.until("y")
            terminal.interrupt()
            terminal.type("\n")  # readline may sleep on until a key is pressed
            assert terminal.left() == 130
        assert api.of("POST") == []
        assert "what you did not confirm is not decided" in terminal.said
        assert "Traceback" not in terminal.said

    def test_what_was_typed_before_it_was_shown_is_no_answer(self, token: Path) -> None:
        with OperationsApi(PLAN) as api, OperationsTerminal(api, token, "follow", "7") as terminal:
            terminal.type("approve\ny\n")
            terminal.until(PROMPT)
            terminal.type("later\n")
            assert terminal.left() == WAITS
        assert api.of("POST") == []

    def test_what_changes_between_shown_and_answered_is_refused_shown_and_asked_about_anew(
        self, token: Path
    ) -> None:
        other = plan("gmail", "crm", description="Something else.")
        with at_gate(token, PLAN) as (api, terminal):
            terminal.type("skip crm\n")
            terminal.until(PROMPT)
            terminal.type("approve\n")
            terminal.until(SURE)
            api.gates = [other]
            terminal.type("y\n")
            again = terminal.until(PROMPT)
            assert "shows other content than was shown to you" in again
            assert "nothing was decided: this is what it is about now" in again
            assert "Something else." in again
            assert api.answers == []
            terminal.type("approve\n")
            assert "changes" not in terminal.until(SURE)
            terminal.type("y\n")
            assert terminal.left() == 0
        [answer] = api.answers
        assert answer.model_dump(exclude_unset=True) == {"approved": True, "digest": digest_of(other)}

    def test_what_was_decided_elsewhere_meanwhile_is_told_and_goes_on(self, token: Path) -> None:
        with at_gate(token, PLAN) as (api, terminal):
            terminal.type("approve\n")
            terminal.until(SURE)
            api.gates = []
            terminal.type("y\n")
            assert terminal.left() == 0
        assert "approval 19 is already approved" in terminal.said
        assert api.answers == []

    def test_changes_are_asked_for_as_such_and_what_the_site_refuses_can_be_mended(self, token: Path) -> None:
        with at_gate(token, PLAN, ASKS) as (api, terminal):
            terminal.type("skip crm\n")
            assert "without     CRM" in terminal.until(PROMPT)
            terminal.type("approve\n")
            terminal.until("approve this with these changes? [y/N]: ")
            terminal.type("y\n")
            terminal.until(PROMPT)
            terminal.type("answer account=0042 amount=13\n")
            assert 'you give    account: "0042"' in terminal.until(SURE)
            terminal.type("y\n")
            assert "refused     given: amount: 13 is not what the schema says" in terminal.until(PROMPT)
            terminal.type("answer account=0042 amount=14\n")
            terminal.until(SURE)
            terminal.type("y\n")
            assert terminal.left() == 0
        assert [answer.model_dump(exclude_unset=True, exclude={"digest"}) for answer in api.answers] == [
            {"approved": True, "modified_plan": {"skip_agents": ("crm",)}},
            {"answer": "answer", "given": {"account": "0042", "amount": 14}},
        ]

    def test_who_may_not_decide_is_told_so_and_is_not_asked(self, token: Path) -> None:
        with OperationsApi(PLAN) as api:
            api.may_decide = False
            with OperationsTerminal(api, token, "follow", "7") as terminal:
                terminal.until("somebody else must")
                api.gates, api.outcome = [], "rejected"
                assert terminal.left() == WITHOUT_RESULT
        assert api.of("POST") == []
        assert f"\n{PROMPT}" not in terminal.said

    @pytest.mark.parametrize("four_eyes", [True, False])
    def test_nobody_is_asked_about_what_he_has_made_of_it_himself(self, token: Path, four_eyes: bool) -> None:
        with at_gate(token, PLAN, quorum=2, four_eyes=four_eyes) as (api, terminal):
            terminal.type("skip crm\n")
            terminal.until(PROMPT)
            terminal.type("approve\n")
            terminal.until(SURE)
            terminal.type("y\n")
            terminal.until("1 more must approve exactly this")
            api.until("GET", "/7", more=2)
            api.gates = []
            assert terminal.left() == 0
        assert len(api.answers) == 1

    def test_what_the_site_shows_must_have_the_digest_that_it_says(self, token: Path) -> None:
        with OperationsApi(RESULTS) as api:
            api.digest = "0" * 64
            with OperationsTerminal(api, token, "follow", "7") as terminal:
                assert terminal.left() == 1
        assert "nothing was sent" in " ".join(terminal.said.split())
        assert api.of("POST") == []

    @pytest.mark.parametrize("term", ["dumb", "xterm"])
    def test_hostile_text_is_shown_and_steers_nothing(self, token: Path, term: str) -> None:
        bad = f"{NASTY}\napproved\ndigest      {'0' * 64}"
        shown = plan(description=bad, leads=(bad,)).model_copy(update={"question": bad, "feedback": bad})
        with OperationsApi(shown, name=NASTY) as api:
            api.happens(agent="crm", result={"voids_plan": bad}, user_feedback=bad)
            api.title = bad
            with OperationsTerminal(api, token, "follow", "7", term=term) as terminal:
                terminal.until(PROMPT)
                terminal.type("later\n")
                assert terminal.left() == WAITS
        for raw in ("\x1b[2J", "\x1b]0", "\x07", "\u202e", "\u2028"):
            assert raw not in terminal.said
        flat = "".join(terminal.said.split())
        assert r"\x1b[2J" in flat
        assert "[boldred]loud[/]:smile:" in flat
        lines = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", terminal.said).splitlines()
        assert [line[:12].strip() for line in lines].count("digest") == 1

    def test_decide_asks_and_takes_only_a_plain_yes(self, token: Path) -> None:
        for typed, code in (("n", 1), ("sure", 1), ("y", 0)):
            with (
                OperationsApi(RESULTS) as api,
                OperationsTerminal(api, token, "decide", "7", "approve") as terminal,
            ):
                terminal.until("approve this? [y/N]: ")
                terminal.type(f"{typed}\n")
                assert terminal.left() == code
                assert len(api.answers) == 1 - code
