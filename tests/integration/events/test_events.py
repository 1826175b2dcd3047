"""Who is told what, over real sockets: scopes, revocations, tokens and malformed requests."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from models.config import AuthConfig, Config
from models.people.scopes import parse_scope
from models.runtime.events import Event
from models.store.database import Database
from models.store.people import users
from serve.streams.feed import Feed, Position
from tests.integration.events.event_streams import (
    SOON,
    Told,
    bearer,
    closed,
    listening,
    token,
    until,
    write,
)

Configure = Callable[..., Config]


# Nobody sees what is not theirs.


async def test_each_is_told_what_their_scopes_reach(
    address: str, auth: AuthConfig, database: Database
) -> None:
    people = {
        "ann": ["macro:reader"],
        "bob": ["macro:admin", "equity:reader"],
        "cem": ["global:editor"],
        "dee": ["credit:admin"],
        "eva": ["macro:editor"],
    }
    url = f"http://{address}/api/events"
    async with contextlib.AsyncExitStack() as stack:
        told = {
            person: await stack.enter_async_context(
                listening(url, bearer(auth, *scopes, user=person), lambda told: "over" in told.types)
            )
            for person, scopes in people.items()
        }
        await write(database, "macro.read", topic="macro")
        await write(database, "macro.administer", topic="macro", role="admin")
        await write(database, "equity.edit", topic="equity", role="editor")
        await write(database, "no.topic")
        await write(database, "own", topic="macro", role="admin", person="ann")
        await write(database, "hers", topic="macro", role="admin", person="eva")
        for person in people:
            await write(database, "over", role="admin", person=person)
    assert {person: found.types[:-1] for person, found in told.items()} == {
        "ann": ["macro.read"],
        "bob": ["macro.read", "macro.administer", "own", "hers"],
        "cem": ["macro.read", "equity.edit", "no.topic"],
        "dee": [],
        "eva": ["macro.read", "hers"],
    }


async def test_types_and_workflow_narrow_the_stream(
    address: str, auth: AuthConfig, database: Database
) -> None:
    await write(database, "a.one", workflow_id="w1")
    await write(database, "b.two", workflow_id="w1")
    await write(database, "a.one", workflow_id="w2")
    await write(database, "c.three", workflow_id="w1")
    headers, url = bearer(auth, "global:reader"), f"http://{address}/api/events?after=0"
    told = Told()
    await told.listen(
        f"{url}&types=a.one,c.three&workflow_id=w1", headers, lambda told: len(told.messages) == 2
    )
    assert [(type_, data["id"]) for type_, data in told.messages] == [("a.one", 1), ("c.three", 4)]
    async with connect(
        f"ws://{address}/ws/ann?after=1&types=a.one,b.two", additional_headers=headers
    ) as socket:
        assert [json.loads(await socket.recv())["id"] for _ in range(2)] == [2, 3]


@pytest.mark.parametrize("taken", ["macro:reader", "*"])
async def test_a_scope_taken_away_stops_the_flow_at_once(
    address: str, auth: AuthConfig, database: Database, taken: str
) -> None:
    scopes, url = ("macro:reader", "equity:reader"), f"http://{address}/api/events"
    async with (
        listening(url, bearer(auth, *scopes), lambda told: "again" in told.types) as told,
        listening(url, bearer(auth, *scopes, user="bob"), lambda told: "again" in told.types) as bob,
    ):
        await write(database, "told", topic="macro")
        await until(lambda: told.types == ["told"])
        async with database.transaction() as connection:
            await users.revoke(connection, "ann", taken, reason="left the desk", revoked_by="cem")
        await write(database, "secret", topic="macro")
        await write(database, "other", topic="equity")
        await write(database, "own", person="ann")
        await until(lambda: "own" in told.types)
        async with database.transaction() as connection:
            await users.restore(connection, "ann", taken, restored_by="cem")
        await write(database, "again", topic="macro")
    assert told.types == ["told", *(["other"] if taken != "*" else []), "own", "again"]
    assert bob.types == ["told", "secret", "other", "again"]


async def test_scopes_are_asked_for_again_even_where_no_event_says_so(database: Database) -> None:
    scopes = [parse_scope("macro:reader")]

    async def scopes_now() -> list[Any]:
        return scopes

    feed = Feed(database, look_seconds=0.01, heartbeat_seconds=0.01, scopes_seconds=0)
    follow = feed.follow(after=0, person="ann", scopes_now=scopes_now, workflow_id="w")
    async with contextlib.aclosing(follow) as told:
        await write(database, "told", topic="macro", workflow_id="w")
        seen = [item async for item in first(told, lambda item: isinstance(item, Event))]
        assert seen[-1].type == "told"
        scopes.clear()
        await write(database, "secret", topic="macro", workflow_id="w")
        passed = [item async for item in first(told, lambda item: item == Position(after=2))]
        assert not [item for item in passed if isinstance(item, Event)]
    await feed.close()


async def first(told: AsyncIterator[Any], wanted: Callable[[Any], bool]) -> AsyncIterator[Any]:
    """What comes up to the first that is wanted."""
    async with asyncio.timeout(SOON):
        async for item in told:
            yield item
            if wanted(item):
                return


async def test_a_stream_ends_with_its_token(address: str, auth: AuthConfig) -> None:
    headers = bearer(auth, "macro:reader", seconds=5)
    async with (
        connect(f"ws://{address}/ws/ann", additional_headers=headers) as socket,
        listening(f"http://{address}/api/events", headers) as told,
    ):
        code, reason = await closed(socket)
        assert (code, "token is over" in reason) == (4401, True)
    [(type_, data)] = told.messages
    assert (type_, data["reason"]) == ("end", "token_over")


# Doors.


async def test_a_last_event_id_that_is_none_is_refused(address: str, auth: AuthConfig) -> None:
    headers = bearer(auth, "macro:reader")
    async with httpx2.AsyncClient(base_url=f"http://{address}") as client:
        for bad in ("", "x", "-1", "1.5", str(2**63), "1,2"):
            answer = await client.get("/api/events", headers={**headers, "Last-Event-ID": bad})
            assert (bad, answer.status_code) == (bad, 422)
            assert answer.headers["content-type"] == "application/problem+json"
            assert "last-event-id" in answer.json()["detail"].lower()


WRONG = [
    "after=-1",
    "after=x",
    "types=",
    "types=a,,b",
    "types=A%20b",
    "workflow_id=%00",
    "since=1",
    "token=x",
]


async def test_wrong_parameters_are_refused(address: str, auth: AuthConfig) -> None:
    headers = bearer(auth, "macro:reader")
    async with httpx2.AsyncClient(base_url=f"http://{address}") as client:
        for query in WRONG:
            answer = await client.get(f"/api/events?{query}", headers=headers)
            assert (query, answer.status_code, answer.json()["status"]) == (query, 422, 422)
            assert (await client.get(f"/api/events?{query}")).status_code == 401
            async with connect(f"ws://{address}/ws/ann?{query}", additional_headers=headers) as socket:
                code, reason = await closed(socket)
            if query == "token=x":
                assert (code, "URL" in reason) == (4401, True)
            else:
                assert (query, code, query.partition("=")[0] in reason) == (query, 4422, True)


async def test_last_event_id_goes_before_after(address: str, auth: AuthConfig, database: Database) -> None:
    await write(database, "one", "two", topic="macro")
    told = Told()
    told.last_id = "1"
    url = f"http://{address}/api/events?after=0"
    await told.listen(url, bearer(auth, "macro:reader"), lambda told: bool(told.messages))
    assert told.types == ["two"]


async def test_a_socket_is_its_own_users_alone(address: str, auth: AuthConfig, database: Database) -> None:
    async with httpx2.AsyncClient(base_url=f"http://{address}") as client:
        for user in ("ann", "bob"):  # seen, so that they have numbers
            await client.get("/api/workflows", headers=bearer(auth, "global:admin", user=user))
    ann, bob = "1", "2"
    headers = bearer(auth, "global:admin")
    await write(database, "told")
    for mine in ("ann", ann):
        async with connect(f"ws://{address}/ws/{mine}?after=0", additional_headers=headers) as socket:
            assert json.loads(await socket.recv())["type"] == "told"
    for other in ("bob", bob, "Ann", "0", "01", "ann%00"):
        async with connect(f"ws://{address}/ws/{other}?after=0", additional_headers=headers) as socket:
            code, reason = await closed(socket)
        assert (code, "yours is /ws/1" in reason) == (4403, True)


async def test_the_token_of_a_socket_comes_in_a_header_or_as_a_subprotocol(
    address: str, auth: AuthConfig
) -> None:
    good, url = token(auth, "macro:reader"), f"ws://{address}/ws/ann"
    protocols: list[Any] = ["signoff", f"bearer.{good}"]
    async with connect(url, subprotocols=protocols) as socket:
        assert socket.subprotocol == "signoff"
        assert json.loads(await socket.recv())["type"] == "position"
    refused: list[dict[str, Any]] = [
        {},
        {"subprotocols": ["signoff"]},
        {"subprotocols": ["signoff", "bearer.rubbish"]},
        {"subprotocols": [f"bearer.{good}"]},
        {"additional_headers": {"Authorization": "Basic YTpi"}, "subprotocols": protocols},
        {"additional_headers": {"Authorization": "Bearer rubbish"}},
        {"additional_headers": bearer(auth, "macro:reader", seconds=-5)},
    ]
    for options in refused:
        with pytest.raises(InvalidStatus) as caught:
            await connect(url, **options)
        assert caught.value.response.status_code == 403
    for query in (f"token={good}", f"access_token={good}"):
        with pytest.raises(InvalidStatus):
            await connect(f"{url}?{query}")
        for options in (
            {"subprotocols": protocols},
            {"additional_headers": bearer(auth, "macro:reader")},
        ):
            async with connect(f"{url}?{query}", **options) as socket:
                code, reason = await closed(socket)
            assert (code, "in the URL is refused" in reason, good in reason) == (4401, True, False)


async def test_a_socket_answers_pings_and_nothing_else(app: FastAPI, address: str, auth: AuthConfig) -> None:
    url, headers = f"ws://{address}/ws/ann", bearer(auth, "macro:reader")
    async with connect(url, additional_headers=headers) as socket:
        await socket.recv()
        for said in ("{", "null", '"ping"', '{"type": "pong"}', '{"type": ["ping"]}', ""):
            await socket.send(said)
        await socket.send("[" * 4000)
        assert json.loads(await socket.recv())["type"] == "error"
        await socket.send('{"type": "ping"}')
        assert json.loads(await socket.recv()) == {"type": "pong"}
    await until(lambda: app.state.feed.followers == 0)
    for said, expected in ((b"ping", 1003), ("x" * 4097, 1009)):
        async with connect(url, additional_headers=headers) as socket:
            await socket.recv()
            await socket.send(said)
            assert (await closed(socket))[0] == expected
    await until(lambda: app.state.feed.followers == 0)
