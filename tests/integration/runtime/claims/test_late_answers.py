"""What a person gave to a server is told while the claim of its call stands; after that it is put off."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp.server.context import ServerRequestContext

from actors.platform.mcp.servers import McpServers
from actors.platform.sending import sending_for
from models.errors import Fenced, NotSent
from models.mcp.tool_answers import GivenToServer, ServedToolCall
from models.store.database import Database
from models.store.runtime import claim_hold
from tests.fakes.mcp_servers import serving
from tests.integration.mcp.asking import call_of, opened
from tests.integration.mcp.test_programs import opened as opened_program
from tests.integration.mcp.test_questions import said, server_of
from tests.integration.runtime.claims.late import cancel, claimed, sender

SURE = {"type": "object", "properties": {"sure": {"type": "boolean"}}, "required": ["sure"]}
PROGRAM, CALL, SESSION = "a program", "on the call's stream", "on the session's stream"


@dataclass
class Asking:
    """A server of 2025-11-25 that asks at each call, once there is `go`. `heard` is what it was told."""

    servers: McpServers
    folder: Path
    call: ServedToolCall
    heard: Callable[[], str]

    async def begun(self) -> None:
        """Wait until it has taken a call up."""
        async with asyncio.timeout(30):
            while not (self.folder / "begun").exists():  # noqa: ASYNC110  # a program tells nobody
                await asyncio.sleep(0.01)

    def go(self) -> None:
        """Let it ask."""
        (self.folder / "go").touch()

    async def given(self) -> GivenToServer:
        """A yes to what it asks; the next call is held up again."""
        self.go()
        question = (await self.servers.call(self.call)).question
        assert question is not None
        for name in ("begun", "go"):
            (self.folder / name).unlink()
        return GivenToServer(key=question.key, action="accept", content={"sure": True}, state=question.state)


@asynccontextmanager
async def asking(how: str, folder: Path) -> AsyncIterator[Asking]:
    """One that asks so."""
    told = folder / "told"
    if how == PROGRAM:
        async with opened_program(folder, era="2025-11-25") as servers:
            call = await call_of(servers, "look", what="late question")
            yield Asking(servers, folder, call, told.read_text)
        return

    async def ask(context: ServerRequestContext[Any], _: object) -> types.CallToolResult:
        (folder / "begun").touch()
        while not (folder / "go").exists():  # noqa: ASYNC110  # as the program does
            await asyncio.sleep(0.01)
        beside = None if how == SESSION else context.request_id
        answer = await context.session.elicit_form("Sure?", dict(SURE), beside)
        told.write_text(answer.action)
        return said(answer.action)

    async with serving(server_of(ask)) as url, opened(url, era="2025-11-25") as servers:
        yield Asking(servers, folder, await call_of(servers, "look"), told.read_text)


@pytest.mark.parametrize("how", [PROGRAM, CALL, SESSION])
async def test_it_is_told_while_the_claim_of_its_call_stands(
    database: Database, tmp_path: Path, how: str
) -> None:
    held = await claimed(database)
    async with asking(how, tmp_path) as server:
        with sending_for(sender(database, held)):
            given = await server.given()
            server.go()
            assert (await server.servers.call(server.call, given=given)).text == "accept"
        assert server.heard() == "accept"


@pytest.mark.parametrize("how", [PROGRAM, CALL, SESSION])
@pytest.mark.parametrize("what", ["cancelled", "not known"])
async def test_it_is_put_off_once_that_is_over_or_nobody_says(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str, what: str
) -> None:
    """The connection is not opened under that claim: who opened it may send yet."""
    held = await claimed(database)

    async def unknown(*_: Any, **__: Any) -> None:
        raise NotSent("nobody says", waits_for="Postgres")

    async with asking(how, tmp_path) as server:
        with sending_for(sender(database, held)):
            given = await server.given()
            calling = asyncio.create_task(server.servers.call(server.call, given=given))
        await server.begun()
        if what == "cancelled":
            await cancel(database, held)
        else:
            monkeypatch.setattr(claim_hold, "hold", unknown)
        server.go()
        # What its server answers then, it answers to nobody's word.
        with pytest.raises(Fenced if what == "cancelled" else NotSent):
            await calling
        assert server.heard() == "cancel"
