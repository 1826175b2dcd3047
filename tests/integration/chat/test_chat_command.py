"""`signoff chat` against the app on a port: answers, conversations, commands, and what is refused."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Callable
from datetime import UTC, datetime
from pathlib import Path

from typer.testing import CliRunner

from cluster.cli.signoff import app
from cluster.cli.tokens import mint_token
from models.chat.messages import Done, Piece, Routed, Said, Turn
from models.config import Config
from models.runtime.workflows import WorkflowRequest
from models.store.database import Database
from models.store.runtime import workflows
from tests.fakes.assistant import ScriptedAssistant
from tests.integration.chat.sites.chat_command_site import Site, make_assistant, make_site
from tests.integration.chat.sites.chat_door_site import make_barrier
from tests.integration.cluster.approval_site import NASTY
from tests.integration.rest import served
from tests.ports import free_port

__all__ = ["make_assistant", "make_barrier", "make_site"]  # the fixtures


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


async def test_a_yes_names_the_question_that_it_answers(site: Site, assistant: ScriptedAssistant) -> None:
    done = await site.run("ask", "--json")
    told = json.loads(done.stdout)
    assert told["status"] == "asks"
    shown = await site.run("ask")
    named = re.search(r"--conversation (\w+) --answers (\d+) yes", shown.stderr)
    assert named is not None
    assert (await site.run("--conversation", named[1], "--answers", named[2], "yes")).exit_code == 0
    await site.run("ask", "--yes")
    await site.run(stdin="ask\nno\nmore\nask\n/new\nother\n")
    said = [(turn.message, turn.answers) for turn in assistant.turns[2:]]
    asked = "You said ask"
    assert said == [
        *(("yes", asked), ("ask", None), ("yes", asked)),
        *(("ask", None), ("no", asked), ("more", None), ("ask", None), ("other", None)),
    ]


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


async def test_what_was_not_done_is_exit_code_1_too(site: Site) -> None:
    """The assistant says what stood in the way; a script sees it by the code."""
    done = await site.run("fail")
    assert (done.exit_code, done.stdout) == (1, "You said fail\n")
    assert (await site.run(stdin="fail\nfine\n")).exit_code == 1
    assert (await site.run(stdin="fine\n")).exit_code == 0


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
