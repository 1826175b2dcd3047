"""`signoff approvals`, `approve` and `reject` against the real app on a port, and how `make demo` ends."""

import asyncio
import json
import re
import shlex
import socket
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO
from pathlib import Path

import pytest
import uvicorn
from rich.console import Console
from typer.testing import CliRunner

from cluster import demo
from cluster.cli import inbox
from cluster.cli.approvals import GivenDecision, decide
from cluster.cli.door import Door
from cluster.cli.inbox import Inbox
from cluster.cli.signoff import app
from cluster.cli.tokens import mint_token
from models.config import Config
from models.content.articles import BlockingConcern, EditorFindings
from models.errors import RequestRefused
from models.runtime.approvals import content_digest
from models.store import approval_inbox
from models.store.content import articles
from models.store.database import Database
from serve.api import make_app
from tests.integration.cluster.approval_site import NASTY, Site, on_a_terminal


@pytest.fixture
def config(configure: Callable[..., Config]) -> Iterator[tuple[Config, socket.socket]]:
    """A configuration with a port that already listens, so that nobody has to wait for it."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield configure({"http.port": listening.getsockname()[1]}), listening


@pytest.fixture
def site(
    config: tuple[Config, socket.socket], database: Database, database_url: str, tmp_path: Path
) -> Iterator[Site]:
    """The app on it."""
    settings, listening = config
    server = uvicorn.Server(uvicorn.Config(make_app(settings, database_url), log_level="warning"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        yield Site(settings, tmp_path / "config.yaml", database)
    finally:
        server.should_exit = True
        thread.join(20)
        assert not thread.is_alive()


async def test_the_inbox_is_listed_filtered_and_read_by_programs(site: Site) -> None:
    empty = await site.run("approvals", "--user", "ann")
    assert (empty.exit_code, empty.stdout) == (0, "nothing waits for a decision\n")
    macro = await site.ask(headline="Rates [bold]hold[/] \x1b[2J")
    equity = await site.ask(topic="equity")
    listed = await site.run("approvals", "--user", "ann")
    header, first, second = listed.stdout.splitlines()
    assert header.split() == [
        "id",
        "kind",
        "title",
        "asked",
        "by",
        "age",
        "expires",
        "in",
        "quorum",
        "digest",
    ]
    assert first.startswith(f"{macro.id} ")
    assert "Rates [bold]hold[/] [2J" in first
    assert second.split()[-2:] == ["0/1", equity.digest[:12]]
    assert " edit_articles " in second
    assert " 6 days " in second
    found = json.loads((await site.run("approvals", "--json", "--topic", "equity")).stdout)
    assert [(a["id"], a["digest"], a["status"]) for a in found] == [(equity.id, equity.digest, "pending")]
    assert json.loads((await site.run("approvals", "--json", "--kind", "plan")).stdout) == []
    await site.run("reject", macro.id, "--reason", "no", "--yes", "--wait", "0", "--user", "ann")
    assert [a["id"] for a in json.loads((await site.run("approvals", "--json")).stdout)] == [equity.id]
    every = (await site.run("approvals", "--all")).stdout.splitlines()
    assert every[0].split()[-2:] == ["status", "why"]
    assert every[1].endswith("rejected  rejected by ann: no")
    assert every[2].rstrip().endswith("pending")


async def test_an_inbox_of_several_pages_is_listed_whole(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inbox, "_PAGE", 2)
    asked = [(await site.ask()).id for _ in range(5)]
    assert [a["id"] for a in json.loads((await site.run("approvals", "--json")).stdout)] == asked


async def test_approve_shows_all_that_is_decided_on_and_says_that_it_is_published(site: Site) -> None:
    concern = BlockingConcern(excerpt="it says", review_note="who says?")
    report = EditorFindings(
        final_status="FAILED", rounds=2, blocking_concerns=(concern,), artifacts_dir="/runs/7"
    )
    approval = await site.ask(
        content="One.\n\nTwo.", notes="As agreed.", report=report, sources=("The speech",)
    )
    async with site.running():
        done = await site.run("approve", approval.id, "--user", "ann", "--yes", "--wait", "30")
    assert (done.exit_code, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    resource = approval.content["resources"][0]
    for line in (
        f"approval    {approval.id} publish_article, pending",
        "title       Rates hold",
        "topic       macro",
        "takes       macro:editor; 0 of 1 approvals so far",
        "notes       As agreed.",
        "article     1 in macro, version 2",
        "keywords    rates",
        f"resources   1 text, {resource['digest'][:12]}: The speech",
        "desk        FAILED, rounds: 2, blocked by 1",
        "            - “it says”: who says?",
        "            kept in /runs/7",
        f"digest      {approval.digest}",
        "published: article 1",
    ):
        assert line in lines
    at = lines.index("text        One.")
    assert [line.strip() for line in lines[at + 1 : at + 3]] == ["", "Two."]
    assert re.search(
        r"^asked by    edit_articles, \d{4}-\d\d-\d\d \d\d:\d\d UTC, \d+ s ago$", done.stdout, re.M
    )
    async with site.database.connection() as connection:
        assert (await articles.get(connection, 1)).status == "published"


async def test_reject_says_that_the_article_is_back(site: Site) -> None:
    approval = await site.ask()
    async with site.running():
        done = await site.run(
            "reject", approval.id, "--reason", "too thin", "--user", "ann", "--yes", "--wait", "30"
        )
    assert done.stdout.splitlines()[-1] == "rejected: article 1 is back with its editor"
    async with site.database.connection() as connection:
        assert (await approval_inbox.get(connection, approval.id)).notes == "too thin"


async def test_without_a_runner_what_is_decided_is_said_to_come(site: Site) -> None:
    first, second = await site.ask(), await site.ask()
    done = await site.run("approve", first.id, "--user", "ann", "--yes", "--wait", "0")
    assert done.exit_code == 0
    assert done.stdout.splitlines()[-1] == (
        "approved; article 1 is published when a runner takes it up: `signoff status` shows whether any run"
    )
    done = await site.run("reject", second.id, "--reason", "no", "--user", "ann", "--yes", "--wait", "0")
    assert "rejected; article 2 goes back to its editor when a runner takes it up" in done.stdout
    again = await site.run("approve", first.id, "--user", "bob", "--yes")
    assert (again.exit_code, again.stderr) == (1, f"signoff: approval {first.id} is already approved\n")


async def test_a_quorum_of_two_takes_two(site: Site) -> None:
    approval = await site.ask(topic="esg")
    options = ("--scopes", "esg:admin", "--yes", "--wait", "0")
    first = await site.run("approve", approval.id, "--user", "ann", "--notes", "fine", *options)
    assert first.stdout.splitlines()[-1] == "1 of 2 approvals: it takes 1 more"
    same = await site.run("approve", approval.id, "--user", "ann", *options)
    assert (same.exit_code, same.stderr.count("\n")) == (1, 1)
    assert "ann has already approved" in same.stderr
    second = await site.run("approve", approval.id, "--user", "bob", *options)
    assert "            ann: approve, fine" in second.stdout.splitlines()
    assert second.stdout.splitlines()[-1].startswith("approved; article 1 is published when")


async def test_without_a_terminal_it_takes_yes_or_the_digest_of_what_was_shown(site: Site) -> None:
    approval = await site.ask()
    unclear = await site.run("approve", approval.id, "--user", "ann", stdin="y\n")
    assert unclear.exit_code == 1
    assert "text        The bank holds." in unclear.stdout
    assert unclear.stderr.startswith("signoff: nothing was decided, for there is no terminal to ask on")
    for digest, reason in (("0" * 64, "is not what --digest names"), (approval.digest[:11], "is too short")):
        refused = await site.run("approve", approval.id, "--user", "ann", "--yes", "--digest", digest)
        assert refused.exit_code == 1
        assert reason in refused.stderr
        assert await site.status(approval) == "pending"
    remedy = unclear.stderr.split()[-1]
    assert remedy == approval.digest[:12]
    done = await site.run("approve", approval.id, "--user", "ann", "--digest", remedy, "--wait", "0")
    assert done.exit_code == 0
    assert await site.status(approval) == "approved"


async def test_a_reason_of_blanks_is_none(site: Site) -> None:
    approval = await site.ask()
    refused = await site.run("reject", approval.id, "--reason", " ", "--yes", "--user", "ann")
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert refused.stderr == "signoff: --reason is empty: say what should be different\n"
    assert await site.status(approval) == "pending"


async def test_what_changed_is_shown_where_the_request_is_void(site: Site) -> None:
    approval = await site.ask()
    await site.rewrite(approval, f"The bank raises.\n{NASTY}")
    refused = await site.run("approve", approval.id, "--user", "ann", "--yes")
    assert refused.exit_code == 1
    assert refused.stderr.endswith("is void: what it was for has changed since it was asked for\n")
    assert "            -The bank holds." in refused.stdout.splitlines()
    assert "            +The bank raises." in refused.stdout.splitlines()
    assert "written_by: cleo" in refused.stdout
    assert "\x1b" not in refused.stdout


async def test_what_changes_while_the_person_reads_is_refused_and_shown(site: Site) -> None:
    approval = await site.ask()
    loop = asyncio.get_running_loop()
    printed = Console(file=StringIO(), width=160, markup=False, emoji=False, highlight=False)
    token = mint_token(
        site.config.auth, user="ann", scopes=["global:editor"], now=datetime.now(UTC), decides=True
    )

    def yes(question: str) -> bool:
        assert question == "approve this?"
        asyncio.run_coroutine_threadsafe(site.rewrite(approval, "The bank raises."), loop).result(20)
        return True

    def act() -> None:
        with Inbox(Door(site.url, token)) as mine:
            decide(
                mine, approval.id, GivenDecision(decision="approve"), console=printed, ask=yes, wait_seconds=0
            )

    with pytest.raises(RequestRefused, match="is void"):
        await asyncio.to_thread(act)
    assert "            +The bank raises." in printed.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert await site.status(approval) == "void"


async def test_refusals_are_one_line(site: Site, tmp_path: Path) -> None:
    approval = await site.ask(by="ann")
    own = await site.run("approve", approval.id, "--user", "ann", "--yes")
    assert own.exit_code == 1
    assert own.stderr == (
        "signoff: ann asked for this, or wrote or submitted what it is about: someone else "
        "must approve it; rejecting it is open to you\n"
    )
    for number in ("99", "no-such", "../users", "%2e%2e", "1\n2"):
        unknown = await site.run("approve", number, "--user", "bob", "--yes")
        assert (unknown.exit_code, unknown.stderr.count("\n"), unknown.stdout) == (1, 1, "")
    (tmp_path / "token").write_text("a.b.c\n")
    forged = await site.run("approvals", "--token-file", str(tmp_path / "token"))
    assert forged.exit_code == 1
    assert forged.stderr.startswith("signoff: the token is refused")
    assert await site.status(approval) == "pending"


async def test_a_token_of_ones_own_decides_and_needs_no_configuration(site: Site, tmp_path: Path) -> None:
    first, second = await site.ask(), await site.ask()
    token = mint_token(
        site.config.auth, user="cleo", scopes=["macro:editor"], now=datetime.now(UTC), decides=True
    )
    (tmp_path / "token").write_text(f"{token}\n")
    arguments = ["--yes", "--wait", "0", "--url", f"{site.url}/", "--config", str(tmp_path / "none.yaml")]
    for approval, source, stdin in ((first, str(tmp_path / "token"), None), (second, "-", token)):
        given = ["approve", approval.id, "--token-file", source, *arguments]
        done = await asyncio.to_thread(CliRunner().invoke, app, given, input=stdin)
        assert (done.exit_code, done.stderr) == (0, "")
        assert token not in done.output
        async with site.database.connection() as connection:
            assert (await approval_inbox.get(connection, approval.id)).decided_by == "cleo"


async def test_another_kind_is_shown_whole(site: Site) -> None:
    approval = await site.gate(
        "plan", {"steps": ["read", {"send": 2}], "why": "first\nsecond", "note": NASTY}
    )
    done = await site.run("approve", approval.id, "--user", "bob", "--yes")
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    at = lines.index("content     why: |-")
    assert lines[at + 1 : at + 3] == [f"{'':12}  first", f"{'':12}  second"]
    assert lines[at + 4 : at + 7] == [f"{'':12}{line}" for line in ("steps:", "- read", "- send: 2")]
    assert not set("\x1b\x07\r\u202e\u2028") & set(done.stdout)
    assert lines[-1] == f"approved: workflow {approval.workflow_id} goes on"


async def test_on_a_terminal_the_person_is_asked_and_the_text_stays_text(site: Site) -> None:
    long = "word " * 40 + "digest      " + "0" * 64
    approval = await site.ask(headline=f"Rates {NASTY}", content=f"{NASTY}\napproval    2\n{long}")
    code, said = await asyncio.to_thread(
        on_a_terminal, site, "approve", approval.id, "--user", "ann", answer="n"
    )
    assert code == 1
    assert "approve this? [y/N]:" in said
    assert "nothing was decided" in said
    assert await site.status(approval) == "pending"
    for raw in ("\x1b[2J", "\x1b]0", "\x07", "\u202e", "\u2028"):
        assert raw not in said
    assert r"\x1b[2J" in said
    assert "[bold red]loud[/] :smile:" in " ".join(said.split())
    labels = [line[:12].strip() for line in said.splitlines() if line[:1].strip()]
    assert labels.count("approval") == labels.count("digest") == 1
    code, said = await asyncio.to_thread(
        on_a_terminal, site, "approve", approval.id, "--user", "ann", "--wait", "0", answer="y"
    )
    assert code == 0
    assert "is published when a runner takes it up" in " ".join(said.split())
    assert await site.status(approval) == "approved"


async def test_who_gives_the_token_on_stdin_can_not_be_asked_there(site: Site) -> None:
    approval = await site.ask()
    token = mint_token(
        site.config.auth, user="ann", scopes=["macro:editor"], now=datetime.now(UTC), decides=True
    )
    arguments = ("approve", approval.id, "--token-file", "-")
    code, said = await asyncio.to_thread(
        lambda: on_a_terminal(site, *arguments, typed=f"{token}\n\x04", answer="y")
    )
    assert code == 1
    assert "there is no terminal to ask on" in said
    assert await site.status(approval) == "pending"


class _Liar(BaseHTTPRequestHandler):
    """Shows another content than the digest's."""

    answers: bytes = b"{}"
    posted: list[str] = []  # noqa: RUF012  # each test sets its own

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.answers)))
        self.end_headers()
        self.wfile.write(self.answers)

    def do_POST(self) -> None:
        self.posted.append(self.path)
        self.do_GET()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


async def test_what_is_shown_must_have_the_digest_that_is_decided(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    approval = await site.ask()
    token = mint_token(
        site.config.auth, user="ann", scopes=["global:editor"], now=datetime.now(UTC), decides=True
    )
    with Inbox(Door(site.url, token)) as mine:
        true = await asyncio.to_thread(mine.get, approval.id)
    false = true.model_dump(mode="json")
    false["content"]["article"]["content"] = "Something harmless."
    assert content_digest(true.content) == approval.digest
    posted: list[str] = []
    monkeypatch.setattr(_Liar, "answers", json.dumps(false).encode())
    monkeypatch.setattr(_Liar, "posted", posted)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Liar)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        url = f"http://127.0.0.1:{server.server_address[1]}"
        refused = await site.run("approve", approval.id, "--user", "ann", "--yes", "--url", url)
    finally:
        server.shutdown()
        server.server_close()
    assert (refused.exit_code, refused.stdout, posted) == (1, "", [])
    assert f"has the digest {content_digest(false['content'])}, and not {approval.digest}" in refused.stderr


async def test_the_demo_ends_with_the_command_that_approves(site: Site) -> None:
    def end(finished: bool = True) -> str:
        return demo.sign_off(site.config, site.file, finished=finished)

    assert (await asyncio.to_thread(end)).endswith("all sample articles are decided")
    await site.ask(topic="equity")
    await site.ask(by="demo")
    approval = await site.ask(headline="Rates \x1b[2J")
    for _ in range(2):
        told, command = (await asyncio.to_thread(end)).splitlines()
        assert told == f"one article waits for a human, as approval {approval.id}: Rates [2J"
    program, *arguments = shlex.split(command.removeprefix("approve"))
    assert program == "signoff"
    done = await asyncio.to_thread(CliRunner().invoke, app, [*arguments, "--yes", "--wait", "0"])
    assert done.exit_code == 0
    assert await site.status(approval) == "approved"
    assert (await asyncio.to_thread(end, False)).endswith("see above what went wrong")


async def test_where_tokens_come_from_elsewhere_the_demo_says_what_to_run(site: Site) -> None:
    auth = site.config.auth.model_copy(update={"secret": None})
    told = demo.sign_off(site.config.model_copy(update={"auth": auth}), site.file, finished=True)
    assert told == f"what waits for you: signoff approvals --token-file PATH --config {site.file}"
