"""Deciding at a terminal, of any kind: what is sent is what was shown, and unclear is not yes.

What holds at every gate is tried with one kind: it is the same code for all.
"""

import re
from pathlib import Path
from typing import Any

import pytest

from models.research.results import ResearchResult
from tests.fakes.operations_api import OperationsApi
from tests.fakes.research_api import ResearchApi
from tests.integration.chat.sites.chat_terminal import PROMPT
from tests.integration.cluster.approval_site import NASTY
from tests.unit.cluster.gated.operations_contents import ASKS, FAILED, PLAN, RESULTS, REVIEW, WRITES, plan
from tests.unit.cluster.gated.research_contents import REVIEW as RESULT
from tests.unit.cluster.gated.research_contents import TREE, UNREADABLE, urls
from tests.unit.cluster.gated.site import (
    SURE,
    WAITS,
    WITHOUT_RESULT,
    GatedTerminal,
    at_gate,
    digest_of,
)

pytestmark = pytest.mark.heavy


class TestAnyGate:
    def test_approve_sends_the_digest_of_what_was_shown(self, token: Path) -> None:
        with at_gate(ResearchApi(urls()), token) as (api, terminal):
            digest = digest_of(urls())
            for shown in ("0.50  2026-03-01  en  trust    searx  example.org", "Page 2", "its title", digest):
                assert shown in terminal.said
            for shown in ("article:17", "http://10.0.0.1/ (neutral): it is not public", "4 weak"):
                assert shown in terminal.said
            terminal.say("approve", SURE)
            assert api.answers == []
            terminal.type("y\n")
            assert terminal.left() == 0
        [answer] = api.answers
        assert (answer.decision, answer.digest, answer.modifications) == ("approve", digest, None)
        assert "result      done: 2 pages, 3 points, 1 sentence\n" in terminal.said.replace("\r", "")
        assert "Traceback" not in terminal.said

    def test_unclear_and_the_end_of_input_are_not_yes(self, token: Path) -> None:
        with at_gate(ResearchApi(urls()), token) as (api, terminal):
            terminal.say("ok?")
            terminal.say("approve", SURE)
            assert "nothing was decided" in terminal.say("approve")
            terminal.say("approve", SURE)
            terminal.type("\x04")
            terminal.until(PROMPT)
            terminal.type("\x04")
            assert terminal.left() == WAITS
        assert (api.answers, api.of("POST")) == ([], [])
        assert "signoff research decide 7 approve --digest" in " ".join(terminal.said.split())

    @pytest.mark.parametrize("at", [PROMPT, SURE])
    def test_ctrl_c_is_not_yes(self, token: Path, at: str) -> None:
        with at_gate(OperationsApi(PLAN), token) as (api, terminal):
            if at == SURE:
                terminal.say("approve", SURE)
            terminal.type("y")
            terminal.until("y")
            terminal.interrupt()
            terminal.type("\n")  # readline may sleep on until a key is pressed
            assert terminal.left() == 130
        assert api.of("POST") == []
        assert "what you did not confirm is not decided" in terminal.said
        assert "Traceback" not in terminal.said

    def test_what_was_typed_before_it_was_shown_is_no_answer(self, token: Path) -> None:
        with ResearchApi(urls()) as api, GatedTerminal(api, token, "follow", "7") as terminal:
            terminal.type("approve\ny\n")
            terminal.until(PROMPT)
            terminal.type("later\n")
            assert terminal.left() == WAITS
        assert api.of("POST") == []

    def test_what_changes_between_shown_and_answered_is_refused_shown_and_asked_about_anew(
        self, token: Path
    ) -> None:
        other = plan("gmail", "crm", description="Something else.")
        with at_gate(OperationsApi(PLAN), token) as (api, terminal):
            terminal.say("skip crm")
            terminal.say("approve", SURE)
            api.gates = [other]
            again = terminal.say("y")
            assert "shows other content than was shown to you" in again
            assert "nothing was decided: this is what it is about now" in again
            assert "Something else." in again
            assert api.answers == []
            assert "changes" not in terminal.say("approve", SURE)
            terminal.type("y\n")
            assert terminal.left() == 0
        [answer] = api.answers
        assert answer.model_dump(exclude_unset=True) == {"approved": True, "digest": digest_of(other)}

    def test_what_was_decided_elsewhere_meanwhile_is_told_and_goes_on(self, token: Path) -> None:
        with at_gate(OperationsApi(PLAN), token) as (api, terminal):
            terminal.say("approve", SURE)
            api.gates = []
            terminal.type("y\n")
            assert terminal.left() == 0
        assert "approval 19 is already approved" in terminal.said
        assert api.answers == []

    def test_who_may_not_decide_is_told_so_and_is_not_asked(self, token: Path) -> None:
        with OperationsApi(PLAN) as api:
            api.may_decide = False
            with GatedTerminal(api, token, "follow", "7") as terminal:
                terminal.until("somebody else must")
                api.gates, api.outcome = [], "rejected"
                assert terminal.left() == WITHOUT_RESULT
        assert api.of("POST") == []
        assert f"\n{PROMPT}" not in terminal.said

    @pytest.mark.parametrize("change", [None, "remove 2"])
    @pytest.mark.parametrize("four_eyes", [True, False])
    def test_nobody_is_asked_again_while_it_takes_more_people(
        self, token: Path, four_eyes: bool, change: str | None
    ) -> None:
        with at_gate(ResearchApi(urls()), token, quorum=2, four_eyes=four_eyes) as (api, terminal):
            if change is not None:
                terminal.say(change)
            terminal.say("approve", SURE)
            terminal.say("y", "1 more must approve exactly this")
            api.until("GET", "/7", more=2)
            api.gates = []
            assert terminal.left() == 0
        assert "signoff research show 7 --config" in " ".join(terminal.said.split())
        assert len(api.answers) == 1

    def test_what_the_site_shows_must_have_the_digest_that_it_says(self, token: Path) -> None:
        with ResearchApi(urls()) as api:
            api.digest = "0" * 64
            with GatedTerminal(api, token, "follow", "7") as terminal:
                assert terminal.left() == 1
        assert "nothing was sent" in " ".join(terminal.said.split())
        assert api.of("POST") == []

    @pytest.mark.parametrize("term", ["dumb", "xterm"])
    @pytest.mark.parametrize("kind", ["operations", "research"])
    def test_hostile_text_is_shown_and_steers_nothing(self, token: Path, term: str, kind: str) -> None:
        bad = f"{NASTY}\napproved\ndigest      {'0' * 64}"
        api: OperationsApi | ResearchApi
        if kind == "operations":
            shown = plan(description=bad, leads=(bad,)).model_copy(update={"question": bad, "feedback": bad})
            api = OperationsApi(shown, name=NASTY)
            api.happens(agent="crm", result={"voids_plan": bad}, user_feedback=bad)
        else:
            api = ResearchApi(urls(title=bad, why=NASTY, source=NASTY, snippet=NASTY), name=NASTY)
            api.say(bad, reasoning=NASTY)
        api.title = bad
        with api, GatedTerminal(api, token, "follow", "7", term=term) as terminal:
            terminal.until(PROMPT)
            if kind == "research":
                terminal.say("look 2")
            terminal.type("later\n")
            assert terminal.left() == WAITS
        for raw in ("\x1b[2J", "\x1b]0", "\x07", "\u202e", "\u2028"):
            assert raw not in terminal.said
        flat = "".join(terminal.said.split())
        assert r"\x1b[2J" in flat
        assert "[boldred]loud[/]:smile:" in flat
        lines = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", terminal.said).splitlines()
        assert [line[:12].strip() for line in lines].count("digest") == 1

    def test_on_a_lively_terminal_how_far_it_is_stands_below_and_goes(self, token: Path) -> None:
        with ResearchApi() as api:
            api.status = "in_progress"
            api.say("one [bold]page[/]", "two", "three")
            with GatedTerminal(api, token, "follow", "7", term="xterm") as terminal:
                terminal.until("three")
                terminal.until("reading pages")
                api.status = "completed"
                assert terminal.left() == 0
        said = terminal.said
        assert said.index("one [bold]page[/]") < said.index("two") < said.index("three")
        assert said.count("scraper: two") == 1

    def test_decide_asks_and_takes_only_a_plain_yes(self, token: Path) -> None:
        for typed, code in (("n", 1), ("sure", 1), ("y", 0)):
            with (
                OperationsApi(RESULTS) as api,
                GatedTerminal(api, token, "decide", "7", "approve") as terminal,
            ):
                terminal.until("approve this? [y/N]: ")
                terminal.type(f"{typed}\n")
                assert terminal.left() == code
                assert len(api.answers) == 1 - code

    def test_decide_refuses_what_changed_while_the_person_read(self, token: Path) -> None:
        with ResearchApi(urls()) as api, GatedTerminal(api, token, "decide", "7", "approve") as terminal:
            terminal.until(SURE)
            api.gates = [urls(8)]
            terminal.type("y\n")
            assert terminal.left() == 1
        assert "shows other content than was shown to you" in terminal.said
        assert api.answers == []


class TestAnOperation:
    def test_every_gate_is_shown_asked_about_and_decided_in_turn(self, token: Path) -> None:
        gates = (PLAN, FAILED, ASKS, WRITES, REVIEW, RESULTS)
        with at_gate(OperationsApi(*gates), token) as (api, terminal):
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
                terminal.say(line, asked)
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

    def test_changes_are_asked_for_as_such_and_what_the_site_refuses_can_be_mended(self, token: Path) -> None:
        with at_gate(OperationsApi(PLAN, ASKS), token) as (api, terminal):
            assert "without     CRM" in terminal.say("skip crm")
            terminal.say("approve", "approve this with these changes? [y/N]: ")
            terminal.say("y")
            assert 'you give    account: "0042"' in terminal.say("answer account=0042 amount=13", SURE)
            assert "refused     given: amount: 13 is not what the schema says" in terminal.say("y")
            terminal.say("answer account=0042 amount=14", SURE)
            terminal.type("y\n")
            assert terminal.left() == 0
        assert [answer.model_dump(exclude_unset=True, exclude={"digest"}) for answer in api.answers] == [
            {"approved": True, "modified_plan": {"skip_agents": ("crm",)}},
            {"answer": "answer", "given": {"account": "0042", "amount": 14}},
        ]


class TestAResearch:
    def test_removed_and_added_pages_and_settings_are_sent_as_changes(self, token: Path) -> None:
        with at_gate(ResearchApi(urls()), token) as (api, terminal):
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
                assert told in terminal.say(line)
            terminal.say("approve", "approve this with these changes? [y/N]: ")
            assert "refused     modifications.add_urls.0" in terminal.say("yes")
            assert "ftp" not in terminal.say("undo").removeprefix("undo")
            assert "pages       3 are read once this is approved" in terminal.say("approve", SURE)
            terminal.type("y\n")
            assert terminal.left() == 0
        [answer] = api.answers
        assert (answer.decision, answer.digest) == ("modify", digest_of(urls()))
        assert answer.modifications.model_dump(exclude_unset=True, exclude_defaults=True) == {
            "remove_urls": (2, 3),
            "add_urls": ("https://a.example/x", "https://b.example/"),
            "modify_config": {"language": "no", "require_approval": False},
        }

    def test_reject_takes_a_reason_and_a_yes(self, token: Path) -> None:
        came: Any = ResearchResult(outcome="rejected", pages=0, points=0)
        with at_gate(ResearchApi(urls()), token, result=came) as (api, terminal):
            told = " ".join(terminal.say("reject").split())
            assert "reject: REASON is missing: write reject REASON" in told
            terminal.say("reject too thin", SURE)
            terminal.type("y\n")
            assert terminal.left() == WITHOUT_RESULT
        [answer] = api.answers
        assert (answer.decision, answer.notes) == ("reject", "too thin")

    def test_pages_that_can_not_be_read_get_others_or_a_text(self, token: Path) -> None:
        (token.parent / "a page.txt").write_text("The Fed held rates.\n")
        with at_gate(ResearchApi(UNREADABLE), token) as (api, terminal):
            assert "login: it asks for a login" in terminal.said
            for line in (
                "url 2 https://other.example/",
                f"paste 3 {token.parent / 'a page.txt'}",
                "title 3 What the Fed did",
                f"paste 3 {token.parent / 'none.txt'}",
            ):
                told = terminal.say(line)
            assert "can't be read: No such file" in " ".join(told.split())
            assert "of 3: 20 characters of text, titled What the Fed did" in terminal.say("approve", SURE)
            terminal.type("y\n")
            assert terminal.left() == 0
        [answer] = api.answers
        first, second = answer.modifications.instead
        assert (first.number, first.url, second.number) == (2, "https://other.example/", 3)
        assert (second.pasted.text, second.pasted.title) == ("The Fed held rates.\n", "What the Fed did")

    def test_edits_of_a_tree_are_shown_and_sent_in_order(self, token: Path) -> None:
        with at_gate(ResearchApi(TREE, RESULT), token) as (api, terminal):
            assert "              n2  “Fed”  1 point" in terminal.said
            assert "- The Fed held rates." in terminal.said
            for line, told in (
                ("rename n3 Consumer prices", "n3  “Consumer prices”"),
                ("move n2 top", "            n2  “Fed”"),
                ("move n9 top", "the tree has no node n9"),
                ("merge n1 n3", "n1  “Banks”  3 points"),
                ("drop n2", "n1  “Banks”  3 points"),
            ):
                assert told in terminal.say(line)
            terminal.say("approve", SURE)
            # The next gate is asked about at once.
            result = terminal.say("y")
            assert "kept: The Fed held rates. [points 1, 3]" in result
            assert "dropped: Cuts are sure. [point 2]" in result
            assert "no quote says so" in result
            assert "is no answer here" in terminal.say("drop n1")
            terminal.say("approve", SURE)
            terminal.type("y\n")
            assert terminal.left() == 0
        tree, result_answer = api.answers
        assert [edit.model_dump() for edit in tree.modifications.tree_edits] == [
            {"edit": "rename", "node": "n3", "name": "Consumer prices"},
            {"edit": "move", "node": "n2", "under": None},
            {"edit": "merge", "into": "n1", "nodes": ("n3",)},
            {"edit": "drop", "node": "n2"},
        ]
        assert result_answer.digest == digest_of(RESULT)
