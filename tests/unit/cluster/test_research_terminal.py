"""Deciding on a research at a terminal: what is sent is what was shown, and unclear is not yes."""

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
from models.research.results import ResearchResult
from models.runtime.approvals import content_digest
from tests.fakes.research_api import ResearchApi
from tests.integration.chat.sites.chat_terminal import PROMPT, ROOT, Terminal
from tests.integration.cluster.approval_site import NASTY
from tests.unit.cluster.research_site import (
    REVIEW,
    SURE,
    TREE,
    UNREADABLE,
    WAITS,
    WITHOUT_RESULT,
    make_token,
    urls,
)

__all__ = ["make_token"]  # the fixture


class ResearchTerminal(Terminal):
    """`signoff research` on a terminal of its own."""

    def __init__(self, api: ResearchApi, token: Path, *arguments: str, term: str = "dumb") -> None:
        self._ours, theirs = pty.openpty()
        command = [sys.executable, "-m", "cluster.cli.signoff", "research", *arguments]
        command += ["--url", api.url, "--token-file", str(token), "--config", str(token.parent / "none.yaml")]
        environment = {**os.environ, "TERM": term, "COLUMNS": "80"}
        self._child = subprocess.Popen(
            command, stdin=theirs, stdout=theirs, stderr=theirs, cwd=ROOT, env=environment
        )
        os.close(theirs)
        self.said = ""
        self._read = 0


@contextlib.contextmanager
def at_gate(token: Path, *gates: Record, **more: Any) -> Iterator[tuple[ResearchApi, ResearchTerminal]]:
    """Somebody who follows research 7 at a terminal and is asked there."""
    with ResearchApi(*gates) as api:
        for name, value in more.items():
            setattr(api, name, value)
        with ResearchTerminal(api, token, "follow", "7") as terminal:
            terminal.until(PROMPT)
            yield api, terminal


class TestAtATerminal:
    def test_approve_sends_the_digest_of_what_was_shown(self, token: Path) -> None:
        with at_gate(token, urls(), messages=[]) as (api, terminal):
            digest = content_digest(urls().model_dump(mode="json"))
            for shown in ("0.50  2026-03-01  en  trust    searx  example.org", "Page 2", "its title", digest):
                assert shown in terminal.said
            for shown in ("article:17", "http://10.0.0.1/ (neutral): it is not public", "4 weak"):
                assert shown in terminal.said
            terminal.type("approve\n")
            terminal.until(SURE)
            assert api.answers == []
            terminal.type("y\n")
            assert terminal.left() == 0
        [answer] = api.answers
        assert (answer.decision, answer.digest, answer.modifications) == ("approve", digest, None)
        assert "result      done: 2 pages, 3 points, 1 sentence\n" in terminal.said.replace("\r", "")
        assert "Traceback" not in terminal.said

    @pytest.mark.parametrize("typed", ["ok?", "", "yes", "y", "approve all", "Approve", "approve!", "later?"])
    def test_unclear_is_not_yes(self, token: Path, typed: str) -> None:
        with at_gate(token, urls()) as (api, terminal):
            terminal.type(f"{typed}\n")
            terminal.until(PROMPT)
            terminal.type("later\n")
            assert terminal.left() == WAITS
        assert (api.answers, api.of("POST")) == ([], [])
        assert "signoff research decide 7 approve --digest" in " ".join(terminal.said.split())

    @pytest.mark.parametrize("typed", ["ok?", "", "n", "approve", "yes please", "1"])
    def test_what_is_unclear_to_the_last_question_is_not_yes(self, token: Path, typed: str) -> None:
        with at_gate(token, urls()) as (api, terminal):
            terminal.type("approve\n")
            terminal.until(SURE)
            terminal.type(f"{typed}\n")
            assert "nothing was decided" in terminal.until(PROMPT)
            terminal.type("\x04")
            assert terminal.left() == WAITS
        assert api.of("POST") == []

    def test_the_end_of_input_at_the_last_question_is_not_yes(self, token: Path) -> None:
        with at_gate(token, urls()) as (api, terminal):
            terminal.type("approve\n")
            terminal.until(SURE)
            terminal.type("\x04")
            terminal.until(PROMPT)
            terminal.type("\x04")
            assert terminal.left() == WAITS
        assert api.of("POST") == []

    @pytest.mark.parametrize("at", [PROMPT, SURE])
    def test_ctrl_c_is_not_yes(self, token: Path, at: str) -> None:
        with at_gate(token, urls()) as (api, terminal):
            if at == SURE:
                terminal.type("approve\n")
                terminal.until(SURE)
            terminal.type("y")
            terminal.until("y")
            terminal.interrupt()
            terminal.type("\n")  # readline may sleep on until a key is pressed
            assert terminal.left() == 130
        assert api.of("POST") == []
        assert "Traceback" not in terminal.said

    def test_what_was_typed_before_it_was_shown_is_no_answer(self, token: Path) -> None:
        with ResearchApi(urls()) as api, ResearchTerminal(api, token, "follow", "7") as terminal:
            terminal.type("approve\ny\n")
            terminal.until(PROMPT)
            terminal.type("later\n")
            assert terminal.left() == WAITS
        assert api.of("POST") == []

    def test_what_changes_between_shown_and_answered_is_refused_shown_and_asked_about_anew(
        self, token: Path
    ) -> None:
        with at_gate(token, urls(1, 2)) as (api, terminal):
            terminal.type("remove 2\n")
            terminal.until(PROMPT)
            terminal.type("approve\n")
            terminal.until(SURE)
            api.gates = [urls(5, 6, 7)]
            terminal.type("y\n")
            again = terminal.until(PROMPT)
            assert "shows other content than was shown to you" in again
            assert "nothing was decided: this is what it is about now" in again
            assert "Page 6" in again
            assert api.answers == []
            terminal.type("approve\n")
            assert "changes" not in terminal.until(SURE)
            terminal.type("y\n")
            assert terminal.left() == 0
        [answer] = api.answers
        digest = content_digest(urls(5, 6, 7).model_dump(mode="json"))
        assert (answer.digest, answer.modifications) == (digest, None)

    def test_removed_and_added_pages_and_settings_are_sent_as_changes(self, token: Path) -> None:
        with at_gate(token, urls()) as (api, terminal):
            for line, told in (
                ("remove 2 3", "without     3: https://example.org/3"),
                ("add https://a.example/x https://b.example/", "and with    https://b.example/"),
                ("set language=no require_approval=false", "require_approval False"),
                ("remove 9", "the list has no address of that number"),
                ("remove two", "'two' is no number of the list"),
                ("set language", "sets nothing"),
                ("add ftp://x", "and with    ftp://x"),
                ("look 1", "Snippet 1"),
                ("help", "look NUMBER"),
            ):
                terminal.type(f"{line}\n")
                assert told in terminal.until(PROMPT)
            terminal.type("approve\n")
            terminal.until("approve this with these changes? [y/N]: ")
            terminal.type("yes\n")
            assert "refused     modifications.add_urls.0" in terminal.until(PROMPT)
            terminal.type("undo\n")
            assert "ftp" not in terminal.until(PROMPT).removeprefix("undo")
            terminal.type("approve\n")
            assert "pages       3 are read once this is approved" in terminal.until(SURE)
            terminal.type("y\n")
            assert terminal.left() == 0
        [answer] = api.answers
        assert answer.decision == "modify"
        assert answer.digest == content_digest(urls().model_dump(mode="json"))
        assert answer.modifications is not None
        assert answer.modifications.remove_urls == (2, 3)
        assert answer.modifications.add_urls == ("https://a.example/x", "https://b.example/")
        assert answer.modifications.modify_config == {"language": "no", "require_approval": False}

    def test_reject_takes_a_reason_and_a_yes(self, token: Path) -> None:
        with at_gate(token, urls(), result=ResearchResult(outcome="rejected", pages=0, points=0)) as (
            api,
            terminal,
        ):
            terminal.type("reject\n")
            assert "reject: REASON is missing: write reject REASON" in " ".join(
                terminal.until(PROMPT).split()
            )
            terminal.type("reject too thin\n")
            terminal.until(SURE)
            terminal.type("y\n")
            assert terminal.left() == WITHOUT_RESULT
        [answer] = api.answers
        assert (answer.decision, answer.notes) == ("reject", "too thin")

    def test_pages_that_can_not_be_read_get_others_or_a_text(self, token: Path) -> None:
        (token.parent / "a page.txt").write_text("The Fed held rates.\n")
        with at_gate(token, UNREADABLE) as (api, terminal):
            assert "login: it asks for a login" in terminal.said
            for line in (
                "url 2 https://other.example/",
                f"paste 3 {token.parent / 'a page.txt'}",
                "title 3 What the Fed did",
                f"paste 3 {token.parent / 'none.txt'}",
            ):
                terminal.type(f"{line}\n")
                told = terminal.until(PROMPT)
            assert "can't be read: No such file" in " ".join(told.split())
            terminal.type("approve\n")
            assert "of 3: 20 characters of text, titled What the Fed did" in terminal.until(SURE)
            terminal.type("y\n")
            assert terminal.left() == 0
        [answer] = api.answers
        assert answer.modifications is not None
        first, second = answer.modifications.instead
        assert (first.number, first.url) == (2, "https://other.example/")
        assert second.pasted is not None
        assert (second.number, second.pasted.text, second.pasted.title) == (
            3,
            "The Fed held rates.\n",
            "What the Fed did",
        )

    def test_edits_of_a_tree_are_shown_and_sent_in_order(self, token: Path) -> None:
        with at_gate(token, TREE, REVIEW) as (api, terminal):
            assert "              n2  “Fed”  1 point" in terminal.said
            assert "- The Fed held rates." in terminal.said
            for line, told in (
                ("rename n3 Consumer prices", "n3  “Consumer prices”"),
                ("move n2 top", "            n2  “Fed”"),
                ("move n9 top", "the tree has no node n9"),
                ("merge n1 n3", "n1  “Banks”  3 points"),
                ("drop n2", "n1  “Banks”  3 points"),
            ):
                terminal.type(f"{line}\n")
                assert told in terminal.until(PROMPT)
            terminal.type("approve\n")
            terminal.until(SURE)
            terminal.type("y\n")
            # The next gate is asked about at once.
            result = terminal.until(PROMPT)
            assert "kept: The Fed held rates. [points 1, 3]" in result
            assert "dropped: Cuts are sure. [point 2]" in result
            assert "no quote says so" in result
            terminal.type("drop n1\n")
            assert "is no answer here" in terminal.until(PROMPT)
            terminal.type("approve\n")
            terminal.until(SURE)
            terminal.type("y\n")
            assert terminal.left() == 0
        tree, result_answer = api.answers
        assert tree.modifications is not None
        edits = [edit.model_dump() for edit in tree.modifications.tree_edits]
        assert edits == [
            {"edit": "rename", "node": "n3", "name": "Consumer prices"},
            {"edit": "move", "node": "n2", "under": None},
            {"edit": "merge", "into": "n1", "nodes": ("n3",)},
            {"edit": "drop", "node": "n2"},
        ]
        assert result_answer.digest == content_digest(REVIEW.model_dump(mode="json"))

    def test_who_may_not_decide_is_told_so_and_is_not_asked(self, token: Path) -> None:
        with ResearchApi(urls()) as api:
            api.may_decide = False
            with ResearchTerminal(api, token, "follow", "7") as terminal:
                terminal.until("must take")
                api.gates = []
                assert terminal.left() == 0
        assert api.of("POST") == []
        assert f"\n{PROMPT}" not in terminal.said

    def test_nobody_is_asked_again_while_it_takes_more_people(self, token: Path) -> None:
        with at_gate(token, urls(), quorum=2) as (api, terminal):
            terminal.type("approve\n")
            terminal.until(SURE)
            terminal.type("y\n")
            terminal.until("approved by 1 of 2")
            api.until("GET", "/7", more=2)
            api.gates = []
            assert terminal.left() == 0
        assert len(api.answers) == 1

    @pytest.mark.parametrize("four_eyes", [True, False])
    def test_nobody_is_asked_about_what_he_has_made_of_it_himself(self, token: Path, four_eyes: bool) -> None:
        with at_gate(token, urls(), quorum=2, four_eyes=four_eyes) as (api, terminal):
            terminal.type("remove 2\n")
            terminal.until(PROMPT)
            terminal.type("approve\n")
            terminal.until(SURE)
            terminal.type("y\n")
            terminal.until("decided")
            api.until("GET", "/7", more=2)
            api.gates = []
            assert terminal.left() == 0
        said = " ".join(terminal.said.split())
        assert ("changed list is shown now, and another person must" in said) == four_eyes
        assert "signoff research show 7 --config" in said
        assert len(api.answers) == 1

    def test_what_the_site_shows_must_have_the_digest_that_it_says(self, token: Path) -> None:
        with ResearchApi(urls()) as api:
            api.digest = "0" * 64
            with ResearchTerminal(api, token, "follow", "7") as terminal:
                assert terminal.left() == 1
        assert "nothing was sent" in " ".join(terminal.said.split())
        assert api.of("POST") == []

    @pytest.mark.parametrize("term", ["dumb", "xterm"])
    def test_hostile_text_is_shown_and_steers_nothing(self, token: Path, term: str) -> None:
        hostile = urls(
            title=f"{NASTY}\napproved\ndigest      {'0' * 64}", why=NASTY, source=NASTY, snippet=NASTY
        )
        with ResearchApi(hostile, name=NASTY) as api:
            api.say(f"{NASTY}\ndigest      {'0' * 64}", reasoning=NASTY)
            api.title = NASTY
            with ResearchTerminal(api, token, "follow", "7", term=term) as terminal:
                terminal.until(PROMPT)
                terminal.type("look 2\n")
                terminal.until(PROMPT)
                terminal.type("later\n")
                assert terminal.left() == WAITS
        for raw in ("\x1b[2J", "\x1b]0", "\x07", "\u202e", "\u2028"):
            assert raw not in terminal.said
        flat = "".join(terminal.said.split())
        assert r"\x1b[2J" in flat
        assert "[boldred]loud[/]:smile:" in flat
        labels = [
            line[:12].strip() for line in re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", terminal.said).splitlines()
        ]
        assert labels.count("digest") == 1

    def test_on_a_lively_terminal_how_far_it_is_stands_below_and_goes(self, token: Path) -> None:
        with ResearchApi() as api:
            api.status = "in_progress"
            api.say("one [bold]page[/]", "two", "three")
            with ResearchTerminal(api, token, "follow", "7", term="xterm") as terminal:
                terminal.until("three")
                terminal.until("reading pages")
                api.status = "completed"
                assert terminal.left() == 0
        said = terminal.said
        assert said.index("one [bold]page[/]") < said.index("two") < said.index("three")
        assert said.count("scraper: two") == 1

    def test_decide_asks_and_takes_only_a_plain_yes(self, token: Path) -> None:
        for typed, code in (("n", 1), ("sure", 1), ("", 1), ("y", 0)):
            with (
                ResearchApi(urls()) as api,
                ResearchTerminal(api, token, "decide", "7", "approve") as terminal,
            ):
                terminal.until("approve this? [y/N]: ")
                terminal.type(f"{typed}\n")
                assert terminal.left() == code
                assert len(api.answers) == 1 - code

    def test_decide_refuses_what_changed_while_the_person_read(self, token: Path) -> None:
        with ResearchApi(urls()) as api, ResearchTerminal(api, token, "decide", "7", "approve") as terminal:
            terminal.until(SURE)
            api.gates = [urls(8)]
            terminal.type("y\n")
            assert terminal.left() == 1
        assert "shows other content than was shown to you" in terminal.said
        assert api.answers == []
