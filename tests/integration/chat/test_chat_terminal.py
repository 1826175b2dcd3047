"""`signoff chat` on a terminal, interrupted, and over connections that break."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from typer.testing import CliRunner

from cluster.cli.signoff import app
from models.config import Config
from tests.fakes.assistant import ScriptedAssistant
from tests.fakes.barrier import Barrier
from tests.integration.chat.sites.chat_command_site import Site, make_assistant, make_site
from tests.integration.chat.sites.chat_door_site import make_barrier
from tests.integration.chat.sites.chat_terminal import PROMPT, ROOT, BreakingRelay, Terminal

__all__ = ["make_assistant", "make_barrier", "make_site"]  # the fixtures


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
        command = [
            sys.executable,
            "-m",
            "cluster.cli.signoff",
            "chat",
            *arguments,
            "--config",
            str(site.file),
        ]
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
