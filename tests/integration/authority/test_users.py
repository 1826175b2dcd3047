"""Users: what is kept of their tokens, what is taken away from them, and who may see and do that."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest

from models.errors import InputInvalid, RevocationNotFound, UserNotFound
from models.people.scopes import ScopeInvalid, read_scopes
from models.people.users import Identity, UserContext
from models.store import events
from models.store.database import Connection, Database
from models.store.people import users
from tests.fakes.outside.issuer import KeyServer, auth, bearer, jwk, sign
from tests.integration.authority.identity import client_of, identity_app

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def identity(
    *scopes: str,
    subject: str = "ann",
    name: str = "Ann",
    issued: int | None = 0,
    email: str = "a@example.org",
) -> Identity:
    """A person as a token says that was issued so many seconds after noon."""
    return Identity(
        subject=subject,
        name=name,
        email=email,
        scopes=read_scopes(scopes),
        issued_at=None if issued is None else NOW + timedelta(seconds=issued),
        expires_at=NOW + timedelta(hours=1),
    )


async def seen(connection: Connection, who: Identity) -> UserContext:
    """Somebody comes with a token."""
    return await users.seen(connection, who, grants_last_seconds=3600)


async def stored(connection: Connection, subject: str = "ann") -> list[str]:
    """The scopes of a user who is not there, as texts."""
    return [str(scope) for scope in await users.stored_scopes(connection, subject)]


async def written(connection: Connection) -> Any:
    """The transaction that wrote Ann's row."""
    row = await (
        await connection.execute("SELECT xmin::text AS x FROM users WHERE subject = 'ann'")
    ).fetchone()
    assert row is not None
    return row["x"]


async def test_a_user_is_the_same_each_time(database: Database) -> None:
    async with database.connection() as connection:
        first = await seen(connection, identity("macro:analyst", "equity:reader"))
        again = await seen(connection, identity("macro:analyst", "equity:reader"))
        other = await seen(connection, identity(subject="bob"))
    assert first == again
    assert (first.subject, first.role, first.user_id == other.user_id) == ("ann", "analyst", False)
    assert other.role is None
    assert UserContext.model_validate_json(first.model_dump_json()) == first


async def test_only_what_is_new_is_written_and_once_a_minute_that_they_were_seen(database: Database) -> None:
    async with database.connection() as connection:
        await seen(connection, identity("macro:reader"))
        first = await written(connection)
        await seen(connection, identity("macro:reader"))
        await seen(connection, identity("macro:reader", issued=-10))
        await seen(connection, identity("macro:reader", issued=None))
        assert await written(connection) == first
        for change in (
            identity("macro:editor"),
            identity("macro:editor", name="Ann Lee"),
            identity("macro:editor", name="Ann Lee", email=""),
            identity("macro:editor", name="Ann Lee", email="", issued=5),
        ):
            before = await written(connection)
            await seen(connection, change)
            assert await written(connection) != before
        await connection.execute("UPDATE users SET seen_at = now() - interval '61 seconds'")
        before = await written(connection)
        await seen(connection, identity("global:admin", issued=-10))
        assert await written(connection) != before
        user = await users.by_subject(connection, "ann")
    assert user is not None
    assert (user.name, user.scopes) == ("Ann Lee", ("global:admin", "macro:editor", "macro:reader"))
    assert user.seen_at is not None


async def test_two_first_requests_at_once_make_one_user(database: Database) -> None:
    async with database.transaction() as one:
        first = await seen(one, identity("macro:reader"))

        async def second() -> UserContext:
            async with database.connection() as two:
                return await seen(two, identity("macro:reader"))

        waiting = asyncio.create_task(second())
        async with database.connection() as watch, asyncio.timeout(20):
            blocked = "SELECT count(*) AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
            while True:
                row = await (await watch.execute(blocked)).fetchone()
                if row and row["n"]:
                    break
                await asyncio.sleep(0.01)
    assert (await waiting).user_id == first.user_id


async def test_preferences_come_from_the_database(database: Database) -> None:
    async with database.connection() as connection:
        await seen(connection, identity())
        await connection.execute(
            """WITH t AS (INSERT INTO tonalities (name, text) VALUES ('dry', 'Be dry.') RETURNING id)
               UPDATE users SET chat_tonality_id = t.id FROM t"""
        )
        context = await seen(connection, identity())
    assert context.chat_tonality_text == "Be dry."
    assert context.selected_chat_tonality_id is not None
    assert (context.selected_content_tonality_id, context.content_tonality_text) == (None, None)


async def test_what_is_revoked_is_gone_whatever_later_tokens_say(database: Database) -> None:
    async with database.connection() as connection:
        revoked = await users.revoke(connection, "ann", "macro:analyst", reason="moved", revoked_by="root")
        assert (revoked.subject, revoked.scope, revoked.reason) == ("ann", "macro:analyst", "moved")
        assert await stored(connection) == []
        context = await seen(connection, identity("macro:analyst", "equity:reader"))
        assert (context.user_id, [str(scope) for scope in context.scopes]) == (
            revoked.user_id,
            ["equity:reader"],
        )
        assert (context.role, await stored(connection)) == ("reader", ["equity:reader"])
        again = await users.revoke(connection, "ann", "macro:analyst", reason="again", revoked_by="eve")
        assert again == revoked
        await users.revoke(connection, "ann", "*", reason="left", revoked_by="root")
        context = await seen(connection, identity("macro:admin", "equity:reader"))
        assert (context.scopes, context.role, await stored(connection)) == ((), None, [])
        assert [r.scope for r in await users.revocations(connection)] == ["*", "macro:analyst"]
        assert await users.revocations(connection, "bob") == []
        user = await users.get(connection, revoked.user_id)
        assert user.revoked == ("*", "macro:analyst")
        assert [u.subject for u in await users.list_users(connection, limit=9)] == ["ann"]
        assert await users.list_users(connection, limit=9, after=revoked.user_id) == []
        assert (await users.restore(connection, "ann", "*", restored_by="root")).reason == "left"
        assert await stored(connection) == ["equity:reader", "macro:admin"]
        with pytest.raises(RevocationNotFound, match=r"'\*' is not revoked from 'ann'"):
            await users.restore(connection, "ann", "*", restored_by="root")
        told = [event for event in await events.read(connection, after=0) if event.type.startswith("scope.")]
    assert [(event.type, event.data["scope"], event.data["by"]) for event in told] == [
        ("scope.revoked", "macro:analyst", "root"),
        ("scope.revoked", "*", "root"),
        ("scope.restored", "*", "root"),
    ]
    assert {(event.topic, event.role) for event in told} == {(None, "admin")}


async def test_what_can_not_be_revoked_is_refused(database: Database) -> None:
    async with database.connection() as connection:
        for subject in ("", " ann", "ann\u200b", "a" * 256):
            with pytest.raises(InputInvalid, match="subject: "):
                await users.revoke(connection, subject, "*", reason="x", revoked_by="root")
        with pytest.raises(ScopeInvalid):
            await users.revoke(connection, "ann", "macro:*", reason="x", revoked_by="root")
        assert await users.by_subject(connection, "ann") is None
        with pytest.raises(UserNotFound):
            await users.get(connection, 1)


@pytest.fixture
async def api(database_url: str) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of the app, whose keys come over HTTP."""
    with KeyServer(jwk("good", "EdDSA")) as server:
        async with client_of(identity_app(auth(url=server.url), database_url)) as client:
            yield client


def caller(subject: str, *scopes: str) -> dict[str, str]:
    """The header of somebody with scopes."""
    return bearer(sign("good", "EdDSA", sub=subject, scopes=list(scopes)))


async def test_an_admin_takes_a_scope_away_and_gives_it_back(api: httpx2.AsyncClient) -> None:
    root, ann = caller("root", "global:admin"), caller("ann", "global:reader", "macro:analyst")
    assert (await api.get("/api/workflows", headers=ann)).status_code == 200
    body = {"subject": "ann", "scope": "global:reader", "reason": "has left"}
    made = await api.post("/api/revocations", headers=root, json=body)
    assert (made.status_code, made.json()["revoked_by"], made.json()["reason"]) == (200, "root", "has left")
    assert (await api.get("/api/workflows", headers=ann)).status_code == 403  # the same token
    assert (await api.get("/api/me", headers=ann)).json()["scopes"] == ["macro:analyst"]
    await api.post("/api/revocations", headers=root, json={**body, "scope": "*"})
    assert (await api.get("/api/me", headers=ann)).json()["role"] is None
    (found,) = (await api.get("/api/users", headers=root, params={"subject": "ann"})).json()
    assert (found["scopes"], found["revoked"]) == (["global:reader", "macro:analyst"], ["*", "global:reader"])
    assert (await api.get(f"/api/users/{found['id']}", headers=root)).json() == found
    assert {user["subject"] for user in (await api.get("/api/users", headers=root)).json()} == {"ann", "root"}
    listed = (await api.get("/api/revocations", headers=root, params={"subject": "ann"})).json()
    assert [one["scope"] for one in listed] == ["*", "global:reader"]
    for scope in ("*", "global:reader"):
        end = {"subject": "ann", "scope": scope}
        assert (await api.post("/api/revocations/restore", headers=root, json=end)).status_code == 200
    assert (await api.get("/api/workflows", headers=ann)).status_code == 200


REVOKING = {"subject": "ann", "scope": "macro:reader", "reason": "x"}


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/api/users", None),
        ("GET", "/api/users/1", None),
        ("GET", "/api/revocations", None),
        ("POST", "/api/revocations", REVOKING),
        ("POST", "/api/revocations/restore", {"subject": "ann", "scope": "macro:reader"}),
    ],
)
async def test_only_an_admin_of_all_topics_may(
    api: httpx2.AsyncClient, method: str, path: str, body: dict[str, str] | None
) -> None:
    for scope in ("global:analyst", "macro:admin"):
        answer = await api.request(method, path, headers=caller("eve", scope), json=body)
        assert (answer.status_code, answer.json()["scope"]) == (403, "global:admin")
    assert (await api.request(method, path, json=body)).status_code == 401
    listed = await api.get("/api/revocations", headers=caller("root", "global:admin"))
    assert listed.json() == []


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "/api/users/0", None, 422),
        ("GET", "/api/users/99", None, 404),
        ("GET", f"/api/users/{2**63}", None, 422),
        ("GET", "/api/users?subject=%00", None, 422),
        ("GET", "/api/users?after=-1", None, 422),
        ("POST", "/api/revocations", {**REVOKING, "scope": "macro:*"}, 422),
        ("POST", "/api/revocations", {**REVOKING, "subject": "ann "}, 422),
        ("POST", "/api/revocations", {**REVOKING, "reason": ""}, 422),
        ("POST", "/api/revocations", {**REVOKING, "reason": "\0"}, 422),
        ("POST", "/api/revocations", {**REVOKING, "revoked_by": "ann"}, 422),
        ("POST", "/api/revocations/restore", {"subject": "ann", "scope": "macro:reader"}, 404),
    ],
)
async def test_bad_requests_get_a_problem_and_change_nothing(
    api: httpx2.AsyncClient, method: str, path: str, body: dict[str, str] | None, status: int
) -> None:
    root = caller("root", "global:admin")
    answer = await api.request(method, path, headers=root, json=body)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    assert (await api.get("/api/revocations", headers=root)).json() == []
    assert [user["subject"] for user in (await api.get("/api/users", headers=root)).json()] == ["root"]
