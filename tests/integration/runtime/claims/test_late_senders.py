"""What is sent under a claim goes out while the claim stands, and not a byte of it later."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from actors.platform import sending
from actors.platform.sending import Clearance, Sender, sending_for
from actors.platform.web.url_guard import guarded_client
from models.config import OutgoingConfig
from models.errors import DatabaseUnavailable, Fenced, NotSent
from models.store.database import Database
from models.store.runtime import claim_hold, claims
from tests.fakes.mcp_servers import BadServer
from tests.integration.mcp.asking import call_of, opened
from tests.integration.mcp.test_programs import opened as opened_program
from tests.integration.runtime.claims.claiming import claim, end, lease
from tests.integration.runtime.claims.late import Target, cancel, claimed, sender, target

LOOPBACK = OutgoingConfig(allow_internal=("127.0.0.1/32",))


async def post(to: Target, **more: Any) -> int:
    """Post something to it."""
    async with guarded_client(LOOPBACK, timeout=5) as client:
        return (await client.post(to.url, json={"a": 1}, **more)).status_code


async def test_it_goes_out_while_its_claim_stands(database: Database) -> None:
    held = await claimed(database)
    async with target() as to:
        with sending_for(sender(database, held)):
            assert await post(to) == 200
        assert to.came.endswith(b'{"a":1}')


@pytest.mark.parametrize("how", ["cancelled", "taken over", "finished", "given back"])
async def test_not_a_byte_goes_out_once_its_claim_is_over(database: Database, how: str) -> None:
    held = await claimed(database)
    match how:
        case "cancelled":
            await cancel(database, held)
        case "taken over":
            await end(database, "r1")
            await lease(database, "r2")
            assert len(await claim(database, "r2")) == 1
        case "finished":
            await claims.finish(database, [claims.Finish(held, "{}", False)])
        case "given back":
            await claims.give_back(database, held)
    async with target() as to:
        with sending_for(sender(database, held)), pytest.raises(Fenced, match="nothing was sent"):
            await post(to)
        assert (await to.all_that_came(), to.connections) == (b"", 1)


async def test_who_is_held_up_between_his_look_and_the_socket_sends_nothing(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, real = await claimed(database), sending.now
    hold, late = claim_hold.hold, 0.0

    async def holds(*of: Any, **how: Any) -> None:
        nonlocal late
        await hold(*of, **how)
        late = sending.SECONDS

    monkeypatch.setattr(claim_hold, "hold", holds)
    monkeypatch.setattr(sending, "now", lambda: real() + late)
    async with target() as to:
        with sending_for(sender(database, held)), pytest.raises(NotSent) as raised:
            await post(to)
        assert raised.value.outage
        assert await to.all_that_came() == b""


async def test_who_is_held_up_before_the_body_sends_none_of_it(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, real, late = await claimed(database), sending.now, 0.0

    async def heard(event: str, _: Any) -> None:
        nonlocal late
        if event.endswith("send_request_headers.complete"):
            late = sending.SECONDS

    monkeypatch.setattr(sending, "now", lambda: real() + late)
    async with target() as to:
        with sending_for(sender(database, held)), pytest.raises(NotSent):
            await post(to, extensions={"trace": heard})
        assert b"{" not in await to.all_that_came()


async def test_a_claim_stands_until_what_is_sent_is_out(database: Database) -> None:
    held = await claimed(database)
    await end(database, "r1")
    await lease(database, "r2")
    with sending_for(sender(database, held)):
        clearance = Clearance()
        await clearance.take()
        cancelling = asyncio.create_task(cancel(database, held))
        # It is not taken over, nor cancelled: the cancellation waits for the lock.
        assert await claim(database, "r2") == []
        async with database.connection() as connection, asyncio.timeout(20):
            waits = "SELECT count(*) AS n FROM pg_locks WHERE NOT granted"
            while (await (await connection.execute(waits)).fetchone() or {})["n"] == 0:
                clearance.look()
        assert not cancelling.done()
        await clearance.end()
        await cancelling


async def test_postgres_ends_a_look_that_hangs_and_by_then_it_is_too_late_to_send(database: Database) -> None:
    held = await claimed(database)
    with sending_for(sender(database, held)):
        clearance = Clearance()
        await clearance.take()
        await cancel(database, held)  # waits for that
        with pytest.raises(NotSent):
            clearance.look()
        await clearance.end()


async def test_where_postgres_does_not_say_nothing_is_sent(database: Database) -> None:
    held = await claimed(database)
    nowhere = Sender(claim=held.mark, database_url="postgresql://127.0.0.1:9/nothing")
    async with target() as to:
        for unknown in (nowhere, Sender(claim=held.mark)):
            with sending_for(unknown), pytest.raises(NotSent) as raised:
                await post(to)
            assert raised.value.facts == {"waits_for": "Postgres"}
        assert await to.all_that_came() == b""


async def test_who_holds_the_workflow_is_told_of_and_not_postgres(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "SECONDS", 0.2)
    held = await claimed(database)
    async with database.transaction() as other, target() as to:
        await claims.fence(other, held)
        with (
            sending_for(sender(database, held)),
            pytest.raises(NotSent, match="a row that somebody else") as raised,
        ):
            await post(to)
        assert raised.value.facts == {"waits_for": "a row that somebody else holds"}
        assert await to.all_that_came() == b""


async def test_an_effect_that_waits_for_what_is_being_sent_says_so(database: Database) -> None:
    held = await claimed(database)

    async def effect() -> None:
        async with hasty.transaction() as connection:
            await claims.fence(connection, held)

    async with Database(url=database.url, pool_size=1, patience_seconds=0) as hasty:
        with sending_for(sender(database, held)):
            clearance = Clearance()
            await clearance.take()
            with pytest.raises(DatabaseUnavailable, match="a row that somebody else holds") as raised:
                await hasty.steadily(effect)
            assert raised.value.facts == {"waits_for": "a row that somebody else holds"}
            await clearance.end()
        await database.steadily(effect)


async def test_what_has_a_time_instead_of_a_claim_goes_out_until_then() -> None:
    async with target() as to:
        with sending_for(Sender(until=sending.now() + 60)):
            assert await post(to) == 200
        before = to.came
        with sending_for(Sender(until=sending.now())), pytest.raises(NotSent):
            await post(to)
        assert await to.all_that_came() == before


@pytest.mark.parametrize("legacy", [False, True])
@pytest.mark.parametrize("name", ["send", "look"])
async def test_no_tool_of_a_server_is_called_once_the_claim_is_over(
    database: Database, legacy: bool, name: str
) -> None:
    held = await claimed(database)
    with BadServer() as server:
        server.legacy = legacy
        async with opened(server.url) as servers:
            with sending_for(sender(database, held)):
                call = await call_of(servers, name)
                assert (await servers.call(call, confirmed=True)).text == "done"
                await cancel(database, held)
                with pytest.raises(Fenced):
                    await servers.call(call, confirmed=True)
            # The server is as it was: somebody else's call is made.
            assert (await servers.call(call, confirmed=True)).text == "done"
        assert [each["name"] for each in server.calls] == [name, name]


async def test_a_claim_that_ends_while_its_server_is_asked_what_it_offers_sends_no_call(
    database: Database,
) -> None:
    """The listing comes right before each call, and may take as long as it likes."""
    held, lists, loop = await claimed(database), asyncio.Event(), asyncio.get_running_loop()
    with BadServer() as server:

        def slowly(request: Any) -> None:
            loop.call_soon_threadsafe(lists.set)
            server.release.wait(30)
            request.result(tools=list(server.tools), ttlMs=0, cacheScope="private")

        async with opened(server.url) as servers:
            with sending_for(sender(database, held)):
                call = await call_of(servers, "send")
                server.does["tools/list"] = slowly
                calling = asyncio.create_task(servers.call(call, confirmed=True))
            await lists.wait()
            await cancel(database, held)
            server.release.set()
            with pytest.raises(Fenced):
                await calling
        assert server.calls == []


@pytest.mark.parametrize("era", ["newest", "2025-11-25"])
async def test_a_program_is_written_no_call_once_the_claim_is_over(
    database: Database, tmp_path: Path, era: str
) -> None:
    held = await claimed(database)
    async with opened_program(tmp_path, era=era) as servers:
        with sending_for(sender(database, held)):
            looking = await call_of(servers, "look", what="a")
            assert (await servers.call(looking)).status == "answered"
            call = await call_of(servers, "send", to="ann")
            await cancel(database, held)
            with pytest.raises(Fenced):
                await servers.call(call, confirmed=True)
            with pytest.raises(Fenced):
                await servers.call(looking)
        assert not (tmp_path / "sent").exists()
        assert (await servers.call(looking)).status == "answered"
