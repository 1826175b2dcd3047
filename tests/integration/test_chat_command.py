"""`signoff chat` against the app on a port: answers, conversations, commands, and connections that break."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from cluster.cli import app
from cluster.tokens import mint_token
from models.chat import Done, Piece, Routed, Said, Turn, WorkflowState
from models.config import Config
from models.store import workflows
from models.store.database import Database
from models.workflows import WorkflowRequest
from tests.fakes.assistant import ScriptedAssistant
from tests.fakes.barrier import Barrier
from tests.integration.approval_site import NASTY
from tests.integration.chat_terminal import PROMPT, ROOT, BreakingRelay, Terminal
from tests.integration.rest import free_port, served

STATE = WorkflowState(
    workflow_id="w",
    workflow_type="publish",
    started_at=datetime(2026, 11, 1, tzinfo=UTC),
    current_article_id=12,
    approval_pending=True,
    approval_request_id=7,
)


@dataclass(frozen=True)
class Site:
    """The app on a port, and the command that talks to it."""

    config: Config
    file: Path
    database: Database

    async def run(self, *arguments: str, stdin: str | bytes | None = None) -> Result:
        """Run `signoff chat` as Rita."""
        given = ["chat", *arguments, "--config", str(self.file)]
        if "--token-file" not in arguments and "--user" not in arguments:
            given += ["--user", "rita"]
        return await asyncio.to_thread(CliRunner().invoke, app, given, input=stdin)

    async def rows(self, query: str) -> list[tuple[Any, ...]]:
        """What the database holds."""
        async with self.database.connection() as connection:
            found = await (await connection.execute(query.encode())).fetchall()
        return [tuple(row.values()) for row in found]

    async def messages(self) -> list[tuple[Any, ...]]:
        """All messages."""
        return await self.rows("SELECT role, content, status FROM messages ORDER BY id")


@pytest.fixture
def barrier() -> Iterator[Barrier]:
    """What the assistant reports to."""
    with Barrier() as made:
        yield made


@pytest.fixture
def assistant(barrier: Barrier) -> ScriptedAssistant:
    """Who answers."""
    return ScriptedAssistant(
        barrier.address,
        {
            "break": ZeroDivisionError("secret detail"),
            "publish": {"status": "processing", "task_id": "t-1", "workflow_state": STATE},
            "limits": {"status": "limited", "tools_used": ()},
        },
    )


@pytest.fixture
def site(
    configure: Callable[..., Config],
    database: Database,
    database_url: str,
    assistant: ScriptedAssistant,
    tmp_path: Path,
) -> Iterator[Site]:
    """The app."""
    port = free_port()
    config = configure({"http.port": port})
    with served(config, database_url, port, assistant=assistant):
        yield Site(config, tmp_path / "config.yaml", database)


async def test_one_message_is_answered_and_the_rest_is_said_beside_it(
    site: Site, assistant: ScriptedAssistant
) -> None:
    done = await site.run("Hello", "--topic", "equity")
    assert (done.exit_code, done.stdout) == (0, "You said Hello\n")
    [(conversation,)] = await site.rows("SELECT id FROM conversations")
    assert done.stderr.splitlines() == [
        "article_query, equity",
        "with search_articles",
        f"to go on: signoff chat --conversation {conversation}",
    ]
    again = await site.run("More", "--conversation", conversation, "--user", "rita")
    assert again.stdout == "You said More\n"
    first, second = assistant.turns
    assert (first.topic, second.topic, [m.content for m in second.history]) == (
        "equity",
        None,
        ["Hello", "You said Hello"],
    )
    assert [str(scope) for scope in first.caller.scopes] == ["global:analyst"]
    assert first.request_id
    assert first.request_id != second.request_id


async def test_scopes_and_tokens_say_who_asks(
    site: Site, assistant: ScriptedAssistant, tmp_path: Path
) -> None:
    await site.run("Hello", "--user", "ann", "--scopes", "macro:reader,equity:editor")
    token = mint_token(site.config.auth, user="cleo", scopes=["macro:reader"], now=datetime.now(UTC))
    (tmp_path / "token").write_text(token)
    url = f"http://127.0.0.1:{site.config.http.port}/"
    given = ["chat", "Hello", "--url", url, "--config", str(tmp_path / "none.yaml")]
    for source, stdin in ((str(tmp_path / "token"), None), ("-", token)):
        done = await asyncio.to_thread(CliRunner().invoke, app, [*given, "--token-file", source], input=stdin)
        assert (done.exit_code, done.stdout) == (0, "You said Hello\n")
    ann, *cleo = (turn.caller for turn in assistant.turns)
    assert (ann.subject, [str(scope) for scope in ann.scopes]) == ("ann", ["macro:reader", "equity:editor"])
    assert [caller.subject for caller in cleo] == ["cleo", "cleo"]


async def test_a_task_says_how_to_follow_it_and_what_it_waits_for(site: Site) -> None:
    done = await site.run("publish")
    assert "task t-1 goes on; how far it is: signoff chat '/task t-1'" in done.stderr
    assert "sign off as approval 7: see signoff approvals" in done.stderr
    limited = await site.run("limits")
    assert "this is what there was by then" in limited.stderr
    assert "with " not in limited.stderr


async def test_for_scripts_an_answer_is_a_line_of_json(site: Site) -> None:
    done = await site.run("publish", "--json")
    assert (done.exit_code, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    assert (told["response"], told["task_id"], told["status"]) == ("You said publish", "t-1", "processing")
    piped = await site.run("--json", stdin="one\n\n/help\ntwo\n")
    lines = [json.loads(line) for line in piped.stdout.splitlines()]
    assert [line["response"] for line in lines] == ["You said one", "You said two"]
    assert lines[0]["conversation_id"] == lines[1]["conversation_id"] != told["conversation_id"]


WRONG: list[tuple[list[str], str]] = [
    (["Hello", "--topic", "sports"], "topic: there is no topic 'sports': use one of "),
    (["Hello", "--conversation", "none"], "you have no conversation 'none'"),
    ([" "], "is blank: say something"),
    (["/nonsense"], "/nonsense: there is no such command: /help lists them"),
    (["/task"], "which task? write its id"),
    (["/task a?b=1"], "a?b=1"),
    (["Hello", "--scopes", "boss"], "the scope 'boss' has no colon"),
    (["Hello", "--url", "ftp://x"], "--url 'ftp://x' is no address"),
    (["Hello", "--url", "http://127.0.0.1:1"], "no Signoff answers at http://127.0.0.1:1: run"),
    (["--token-file", "-"], "write the MESSAGE as an argument"),
    (["a\udc80"], "is no text in UTF-8"),
    (["break"], "the assistant failed"),
]


async def test_what_is_wrong_is_one_line_and_exit_code_1(site: Site) -> None:
    for arguments, told in WRONG:
        done = await site.run(*arguments)
        assert (arguments, done.exit_code) == (arguments, 1)
        *_, line = done.stderr.splitlines()
        assert line.startswith("signoff: ")
        assert told in line
        assert "secret" not in done.output


async def test_lines_of_a_pipe_are_messages_of_one_conversation(
    site: Site, assistant: ScriptedAssistant
) -> None:
    done = await site.run(stdin="one\r\n\n/topic macro\ntwo\n/nonsense\n/topic\n/new\nthree\n/quit\nfour\n")
    assert done.stdout == "You said one\nYou said two\nYou said three\n"
    assert done.exit_code == 1
    assert "signoff: /nonsense" in done.stderr
    one, two, three = assistant.turns
    assert [turn.topic for turn in assistant.turns] == [None, "macro", None]
    assert one.conversation_id == two.conversation_id != three.conversation_id
    assert (await site.run(stdin="one\n")).exit_code == 0
    whole = await site.run("-", stdin="/first\nsecond\n")
    assert whole.stdout == "You said /first\nsecond\n"
    for arguments in ((), ("-",)):
        bad = await site.run(*arguments, stdin=b"\xff\n")
        assert (bad.exit_code, "no text in UTF-8" in bad.stderr) == (1, True)


async def test_a_task_is_shown_and_stopped(site: Site) -> None:
    async with site.database.transaction() as connection:
        request = WorkflowRequest(
            kind="publish_article", input={"article_id": 12}, input_digest="d", requested_by="rita"
        )
        task = (await workflows.create(connection, request)).id
    shown = await site.run(f"/task {task}")
    assert shown.stdout.splitlines()[0] == f"{task}  publish_article  queued"
    stopped = await site.run(f"/cancel {task}", "--json")
    assert json.loads(stopped.stdout)["status"] == "cancelled"
    again = await site.run(f"/cancel {task}")
    assert (again.exit_code, again.stdout) == (1, "")
    other = await site.run(f"/task {task}", "--user", "bob", "--scopes", "macro:reader")
    assert (other.exit_code, other.stdout) == (1, "")


class Nasty:
    """An assistant whose text would steer a terminal."""

    async def answer(self, turn: Turn) -> AsyncGenerator[Piece, None]:
        """In pieces that cut an escape sequence."""
        yield Routed(agent_type="web_search", intent="web", topic=None, reason="")
        text = f"{NASTY}\nand on"
        for char in text:
            yield Said(text=char)
        yield Done(
            response=text, agent_type="web_search", topic=None, status="completed", tools_used=(NASTY,)
        )


async def test_what_is_printed_can_not_steer_the_terminal(
    configure: Callable[..., Config], database: Database, database_url: str, tmp_path: Path
) -> None:
    port = free_port()
    config = configure({"http.port": port})
    with served(config, database_url, port, assistant=Nasty()):
        done = await Site(config, tmp_path / "config.yaml", database).run("Hello")
    assert (
        done.stdout
        == "\\x1b[2J\\x1b]0;gone\\x07 [bold red]loud[/] :smile:\\r\\u202eapproved\\u2028x\nand on\n"
    )
    assert not set("\x1b\x07\r\u202e\u2028") & set(done.output)


async def test_on_a_terminal_people_talk_stop_an_answer_and_leave(site: Site, barrier: Barrier) -> None:
    def talk() -> str:
        barrier.hold("middle")
        with Terminal(site.file, "--user", "rita") as terminal:
            terminal.until(PROMPT)
            terminal.type("slow\n")
            terminal.until("You said ")
            barrier.until(lambda: barrier.runs("slow", "middle") == 1)
            terminal.interrupt()
            assert terminal.until(PROMPT).endswith("\nstopped\n> ")
            barrier.until(lambda: barrier.runs("slow", "stopped") == 1, timeout=10)
            barrier.release()
            terminal.type("Hello\n")
            answer = terminal.until(PROMPT)
            assert "You said Hello\n" in answer
            assert "--conversation" not in answer
            terminal.type("publish\n")
            assert "how far it is: /task t-1" in terminal.until(PROMPT)
            terminal.type("/help\n")
            assert "/cancel [ID]" in terminal.until(PROMPT)
            terminal.type("/nonsense\n")
            assert "signoff: /nonsense: there is no such command" in terminal.until(PROMPT)
            terminal.type("half a")
            terminal.until("half a")
            terminal.interrupt()
            terminal.type("\n")  # readline may sleep on until a key is pressed
            terminal.until(PROMPT)
            terminal.type("/quit\n")
            assert terminal.left() == 0
            return terminal.said

    said = await asyncio.to_thread(talk)
    assert "Traceback" not in said
    asked = [content for role, content, _ in await site.messages() if role == "user"]
    assert asked == ["slow", "Hello", "publish"]
    assert len(await site.rows("SELECT id FROM conversations")) == 1


async def test_on_a_terminal_what_is_said_beside_an_answer_is_dim(site: Site) -> None:
    def talk() -> str:
        with Terminal(site.file, "--user", "rita") as terminal:
            terminal.until(PROMPT)
            terminal.type("\x04")
            assert terminal.left() == 0
        with Terminal(site.file, "Hello", "--user", "rita", term="xterm") as terminal:
            assert terminal.left() == 0
            return terminal.said

    said = await asyncio.to_thread(talk)
    assert "\x1b[2mwith search_articles\x1b[0m" in said
    assert "You said Hello" in said.replace("\r", "").splitlines()


async def test_an_interrupted_command_stops_the_assistant_and_exits_with_130(
    site: Site, barrier: Barrier
) -> None:
    barrier.hold("middle")

    def interrupt(*arguments: str, stdin: bytes) -> tuple[int, bytes, bytes]:
        command = [sys.executable, "-m", "cluster.cli", "chat", *arguments, "--config", str(site.file)]
        with subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as child:
            assert child.stdin is not None
            child.stdin.write(stdin)
            child.stdin.flush()
            before = len(barrier.arrivals)
            barrier.until(lambda: any(a.step == "middle" for a in barrier.arrivals[before:]))
            # The text must have come, too: it is on the pipe.
            assert child.stdout is not None
            told = os.read(child.stdout.fileno(), 100)
            child.send_signal(signal.SIGINT)
            out, error = child.communicate(timeout=30)
            return child.returncode, told + out, error

    for arguments, stdin in ((("Hello", "--user", "rita"), b""), (("--user", "rita"), b"Hello\n")):
        stopped = barrier.runs("Hello", "stopped")
        code, out, error = await asyncio.to_thread(interrupt, *arguments, stdin=stdin)
        assert (code, out, error.splitlines()[-1]) == (130, b"You said \n", b"stopped")
        barrier.until(lambda stopped=stopped: barrier.runs("Hello", "stopped") == stopped + 1, timeout=10)
    assert {status for role, _, status in await site.messages() if role == "assistant"} == {"interrupted"}


async def test_a_connection_that_breaks_is_made_once_more_for_the_same_request(
    site: Site, assistant: ScriptedAssistant, barrier: Barrier
) -> None:
    barrier.hold("middle")
    with BreakingRelay(site.config.http.port, b"You said ") as relay:
        asking = asyncio.create_task(site.run("Hello", "--url", relay.url))
        await asyncio.to_thread(barrier.until, lambda: barrier.runs("Hello", "stopped") == 1)
        barrier.release()
        done = await asking
        assert relay.connections == 2
    assert (done.exit_code, done.stdout) == (0, "You said Hello\n")
    first, second = assistant.turns
    assert first.request_id == second.request_id
    assert await site.messages() == [("user", "Hello", None), ("assistant", "You said Hello", "completed")]


async def test_a_connection_that_breaks_twice_is_an_error(site: Site, barrier: Barrier) -> None:
    barrier.hold("middle")
    with BreakingRelay(site.config.http.port, b"You said ", cuts=9) as relay:
        for view in ([], ["--json"]):
            done = await site.run("Hello", "--url", relay.url, *view)
            assert done.exit_code == 1
            assert done.stdout == ("" if view else "You said \n")
            assert "did not answer to the end" in done.stderr.splitlines()[-1]
            assert "twice: send the message again" in done.stderr
        assert relay.connections == 4


class _Scripted(BaseHTTPRequestHandler):
    """A server that says what it was told to, and hangs up."""

    replies: list[tuple[str, bytes]] = []  # noqa: RUF012  # each test sets its own

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        kind, body = self.replies.pop(0)
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def _stream(*texts: str, done: bool = True) -> tuple[str, bytes]:
    answer = {
        "response": "".join(texts), "agent_type": "main_chat", "tools_used": [], "workflow_state": None,
        "task_id": None, "status": "completed", "conversation_id": "c", "topic": None, "more": 1,
    }  # fmt: skip
    events = [("conversation", {"conversation_id": "c", "question_id": 1})]
    events += [("text", {"text": text}) for text in texts]
    events += [("news", {})] + ([("done", answer)] if done else [])
    told = "".join(
        f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n" for name, data in events
    )
    return "text/event-stream; charset=utf-8", f": still here\n\n{told}".encode()


@pytest.mark.parametrize(
    ("replies", "code", "shown"),
    [
        ([_stream("a\u2028b", "c")], 0, "a\\u2028bc\n"),
        ([_stream("abc", done=False), _stream("ab", "cd")], 0, "abcd\n"),
        ([_stream("abc", done=False), _stream("abc")], 0, "abc\n"),
        ([_stream("abc", done=False), _stream("ax", "y")], 0, "abc\naxy\n"),
        ([_stream("abc", done=False), _stream("a")], 0, "abc\na\n"),
        ([_stream(done=False), _stream("a")], 0, "a\n"),
        ([_stream("abc", done=False), _stream("a", done=False)], 1, "abc\n"),
        ([("text/html", b"<p>hello</p>")], 1, ""),
        ([("text/event-stream", b"event: text\ndata: {\n\n")], 1, ""),
        ([("text/event-stream", b"event: text\ndata: []\n\n")], 1, ""),
        ([("text/event-stream", b"event: error\ndata: 5\n\n")], 1, ""),
        ([("text/event-stream", b"event: done\ndata: {}\n\n")], 1, ""),
        ([("text/event-stream", b'event: error\ndata: {"detail": "no\\u001b[2J"}\n\n')], 1, ""),
    ],
)
async def test_a_server_s_stream_is_read_as_it_is(
    configure: Callable[..., Config],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    replies: list[tuple[str, bytes]],
    code: int,
    shown: str,
) -> None:
    configure()
    monkeypatch.setattr(_Scripted, "replies", list(replies))
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Scripted)
    Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        url = f"http://127.0.0.1:{server.server_address[1]}"
        given = ["chat", "Hi", "--user", "rita", "--url", url, "--config", str(tmp_path / "config.yaml")]
        done = await asyncio.to_thread(CliRunner().invoke, app, given)
    finally:
        server.shutdown()
        server.server_close()
    assert (done.exit_code, done.stdout) == (code, shown)
    assert "\x1b" not in done.output
    assert done.stderr.count("signoff: ") == code
    assert _Scripted.replies == []
