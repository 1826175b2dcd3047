"""Servers that are programs: what they see of the site, how they end, and what comes of it when they do."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from actors.platform.mcp.servers import McpServers
from actors.platform.sending import Sender, now, sending_for
from models.config import McpServer
from models.errors import McpServerAway, ServedToolInvalid, WriteAnswerLost
from models.mcp.tool_answers import GivenToServer
from tests.integration.mcp.asking import call_of

_PROGRAM = Path(__file__).parents[2] / "fakes" / "mcp_program.py"
_BAD_PROGRAM = _PROGRAM.with_name("bad_program.py")
_ERAS = ("newest", "2025-11-25")


@asynccontextmanager
async def opened(folder: Path, *words: str, **changes: Any) -> AsyncIterator[McpServers]:
    """The servers of a site that has one, `mail`, which is the program."""
    stdio = {
        "command": (sys.executable, str(_PROGRAM), str(folder), *words),
        "environment": {"MAIL_KEY": "s3cret"},
    }
    settings = {"title": "Mail", "stdio": stdio, "tools": ("look",), "writes": ("send",), **changes}
    servers = McpServers({"mail": McpServer.model_validate(settings)})
    try:
        # What writes goes out under a claim, or until a time.
        with sending_for(Sender(until=now() + 600)):
            yield servers
    finally:
        await servers.close()


def started(folder: Path) -> dict[int, dict[str, str]]:
    """The environments of the processes that were started, by their ids."""
    return {int(path.stem): json.loads(path.read_text()) for path in folder.glob("*.json")}


@pytest.mark.parametrize("era", _ERAS)
async def test_a_program_answers_sees_only_its_own_environment_and_ends(
    era: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SITE_SECRET", "of the site")
    async with opened(tmp_path, era=era) as servers:
        listing = await servers.listing("mail")
        assert (listing.state, listing.reason) == ("answers", None)
        answer = await servers.call(await call_of(servers, "look", what="a"))
        ((process, environment),) = started(tmp_path).items()
        assert answer.text == f"found a as {process}"
        python_s_own = {"LC_CTYPE", "__CF_USER_TEXT_ENCODING"}
        assert set(environment) - python_s_own == {"PATH", "MAIL_KEY"}
        assert (environment["MAIL_KEY"], environment["PATH"]) == ("s3cret", os.environ["PATH"])
        assert psutil.pid_exists(process)
    assert not psutil.pid_exists(process)


async def test_what_a_program_prints_beside_its_messages_is_passed_over(tmp_path: Path) -> None:
    async with opened(tmp_path) as servers:
        assert (await servers.call(await call_of(servers, "look", what="noise"))).status == "answered"


async def test_a_program_that_does_not_start_is_away(tmp_path: Path) -> None:
    async with opened(tmp_path, "broken") as servers:
        listing = await servers.listing("mail")
        assert (listing.state, listing.reason) == (
            "away",
            "the connection ended before the handshake was answered: the disk is full",
        )
    missing = {"command": ("/no/such/program",)}
    async with opened(tmp_path, stdio=missing) as servers:
        listing = await servers.listing("mail")
        assert listing.state == "away"
        assert "/no/such/program can't be started" in (listing.reason or "")


async def test_a_program_that_ended_is_started_anew(tmp_path: Path) -> None:
    async with opened(tmp_path) as servers:
        call = await call_of(servers, "look", what="a")
        await servers.call(call)
        (process,) = started(tmp_path)
        psutil.Process(process).kill()
        assert (await servers.call(call)).status == "answered"
        assert len(started(tmp_path)) == 2


async def test_a_read_that_ends_its_program_is_asked_once_more_and_no_oftener(tmp_path: Path) -> None:
    async with opened(tmp_path) as servers:
        call = await call_of(servers, "look", what="end")
        with pytest.raises(McpServerAway, match="the connection ended before the request was answered"):
            await servers.call(call)
    assert len(started(tmp_path)) == 2


@pytest.mark.parametrize("era", _ERAS)
async def test_a_write_that_ends_its_program_is_lost_and_sent_once(era: str, tmp_path: Path) -> None:
    async with opened(tmp_path, era=era) as servers:
        with pytest.raises(WriteAnswerLost, match="the connection ended before the request was answered"):
            await servers.call(await call_of(servers, "send", to="ann"), confirmed=True)
    assert (tmp_path / "sent").read_text() == "ann\n"
    assert len(started(tmp_path)) == 1


@pytest.mark.parametrize("what", ["huge", "flood"])
async def test_a_huge_answer_of_a_program_is_left(what: str, tmp_path: Path) -> None:
    async with opened(tmp_path) as servers:
        with pytest.raises(ServedToolInvalid, match="over 1,000,000 bytes"):
            await servers.call(await call_of(servers, "look", what=what))


@asynccontextmanager
async def too_much(how: str) -> AsyncIterator[McpServers]:
    """The servers of a site that has one, `mail`, which is the program that says too much."""
    stdio = {"command": (sys.executable, str(_BAD_PROGRAM), how)}
    settings = {"title": "Mail", "stdio": stdio, "tools": ("look",), "writes": ("send",)}
    servers = McpServers({"mail": McpServer.model_validate(settings)})
    try:
        with sending_for(Sender(until=now() + 600)):
            yield servers
    finally:
        await servers.close()


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("many", "its answer is over 1,000,000 bytes (max_answer_bytes)"),
        ("pages", "its list of tools has no end: it is over 100 pages"),
    ],
)
async def test_a_list_of_a_program_that_is_too_long_is_left(how: str, told: str) -> None:
    async with too_much(how) as servers:
        listing = await servers.listing("mail")
        assert (listing.state, listing.reason, listing.tools) == ("invalid", told, ())


@pytest.mark.parametrize("how", ["huge", "unasked"])
async def test_a_program_that_answers_too_much_is_left(how: str) -> None:
    """Also where each line is a short answer, and only nobody asked for it."""
    async with too_much(how) as servers:
        call = await call_of(servers, "look")
        with pytest.raises(ServedToolInvalid, match="over 1,000,000 bytes"):
            await servers.call(call)
        with pytest.raises(WriteAnswerLost, match="over 1,000,000 bytes"):
            await servers.call(await call_of(servers, "send"), confirmed=True)


async def test_a_program_that_is_too_slow_is_ended(tmp_path: Path) -> None:
    async with opened(tmp_path, timeout_seconds=5) as servers:
        call = await call_of(servers, "look", what="slow")
        (process,) = started(tmp_path)
        with pytest.raises(McpServerAway, match="no answer to the request within timeout_seconds"):
            await servers.call(call)
        async with asyncio.timeout(30):
            while psutil.pid_exists(process):  # noqa: ASYNC110  # a process tells nobody
                await asyncio.sleep(0.01)
        found = await servers.call(call.model_copy(update={"arguments": {"what": "a"}}))
        assert found.status == "answered"


async def test_each_question_of_a_program_goes_with_its_own_call(tmp_path: Path) -> None:
    async with opened(tmp_path, era="2025-11-25") as servers:
        call = await call_of(servers, "look", what="question")
        other = call.model_copy(update={"arguments": {"what": "a"}})
        answer, found, again = await asyncio.gather(*map(servers.call, (call, other, call)))
        assert [each.status for each in (answer, found, again)] == ["asks", "answered", "asks"]
        question = answer.question
        assert question is not None
        assert (question.message, question.said) == ("Sure?", "cancel")
        given = GivenToServer(key=question.key, action="accept", content={"sure": True}, state=question.state)
        assert (await servers.call(call, given=given)).text == "accept"


@pytest.mark.parametrize("name", ["look", "send"])
async def test_who_waits_behind_a_call_that_is_given_up_has_a_program_of_its_own(
    tmp_path: Path, name: str
) -> None:
    """The first may ask for that call yet: no answer to another one is lent to it."""
    async with opened(tmp_path, era="2025-11-25") as servers:
        slow = await call_of(servers, "look", what="late question")
        arguments = {"what": "question"} if name == "look" else {"to": "ann"}
        behind = await call_of(servers, name, **arguments)
        first = asyncio.create_task(servers.call(slow))
        async with asyncio.timeout(30):
            while not (tmp_path / "begun").exists():  # noqa: ASYNC110  # a program tells nobody
                await asyncio.sleep(0.01)
        second = asyncio.create_task(servers.call(behind, confirmed=True))
        first.cancel()
        await asyncio.wait([first])
        if name == "look":
            assert (await second).status == "asks"
        else:
            with pytest.raises(WriteAnswerLost):
                await second
            assert (tmp_path / "sent").read_text() == "ann\n"
        assert len(started(tmp_path)) == 2
