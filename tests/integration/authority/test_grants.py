"""Who takes a scope away: the table of docs/access.md, a test for each of its rows."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from models.people.scopes import read_scopes
from models.people.users import Identity, UserContext
from models.runtime.workflows import Permission
from models.store.database import Connection, Database
from models.store.people import grants, users
from tests.examples import examples
from tests.fakes.outside.issuer import KeyServer, auth, bearer, jwk, sign
from tests.integration.authority.identity import client_of, identity_app

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
LAST = 3600.0
ANALYST = Permission(role="analyst", topic="macro")


async def comes(
    connection: Connection, *scopes: str, client: str = "", at: int | None = 0, last: float = LAST
) -> UserContext:
    """Ann comes with a token of a client that was issued so many seconds after noon."""
    identity = Identity(
        subject="ann",
        name="Ann",
        email="a@example.org",
        scopes=read_scopes(scopes),
        issued_at=None if at is None else NOW + timedelta(seconds=at),
        expires_at=NOW + timedelta(hours=1),
        client=client,
    )
    return await users.seen(connection, identity, grants_last_seconds=last)


async def has(connection: Connection) -> list[str]:
    """What ann is known to have."""
    return [str(scope) for scope in await users.stored_scopes(connection, "ann")]


async def test_a_narrower_token_of_another_client_takes_nothing_away(database: Database) -> None:
    async with database.connection() as connection:
        await comes(connection, "macro:analyst", client="web")
        narrow = await comes(connection, "global:editor", client="mcp", at=9)
        assert [str(scope) for scope in narrow.scopes] == ["global:editor"]  # it can do no more than it says
        assert await has(connection) == ["global:editor", "macro:analyst"]
        assert await users.still_has(connection, "ann", ANALYST)
        assert (await users.context_of(connection, "ann")).has("analyst", "macro")


async def test_a_token_that_names_no_client_takes_nothing_away(database: Database) -> None:
    async with database.connection() as connection:
        await comes(connection, "macro:analyst")
        await comes(connection, "equity:reader", at=9)
        await comes(connection, at=10)
        assert await has(connection) == ["equity:reader", "macro:analyst"]


async def test_a_later_token_of_the_same_client_without_it_takes_it_away(database: Database) -> None:
    async with database.connection() as connection:
        await comes(connection, "macro:analyst", "equity:reader", client="web")
        await comes(connection, "equity:reader", client="web", at=1)
        assert await has(connection) == ["equity:reader"]
        assert not await users.still_has(connection, "ann", ANALYST)


async def test_what_another_client_carried_too_stays(database: Database) -> None:
    async with database.connection() as connection:
        for client in ("web", "mcp"):
            await comes(connection, "macro:analyst", client=client)
        await comes(connection, client="web", at=1)
        assert await has(connection) == ["macro:analyst"]


async def test_an_older_token_of_the_client_neither_takes_away_nor_gives_back(database: Database) -> None:
    async with database.connection() as connection:
        await comes(connection, "equity:reader", client="web", at=5)
        await comes(connection, "macro:analyst", client="web", at=4)
        assert await has(connection) == ["equity:reader"]
        # Nor when it is time to note that she was seen.
        await connection.execute("UPDATE users SET seen_at = NULL")
        await comes(connection, "macro:analyst", client="web", at=4)
        assert await has(connection) == ["equity:reader"]


async def test_a_token_of_the_same_second_takes_nothing_away(database: Database) -> None:
    async with database.connection() as connection:
        await comes(connection, "macro:analyst", client="web")
        await comes(connection, "equity:reader", client="web")
        assert await has(connection) == ["equity:reader", "macro:analyst"]


async def test_an_undated_token_neither_takes_away_nor_gives_back(database: Database) -> None:
    async with database.connection() as connection:
        await comes(connection, "macro:analyst", client="web", at=None)
        assert await has(connection) == ["macro:analyst"]  # there is no other of this client
        await comes(connection, "equity:reader", client="web")
        await connection.execute("UPDATE users SET seen_at = NULL")
        await comes(connection, "macro:admin", client="web", at=None)
        assert "macro:admin" not in await has(connection)
        assert "equity:reader" in await has(connection)


async def test_a_grant_that_no_token_has_carried_for_so_long_lapses(database: Database) -> None:
    async with database.connection() as connection:
        await comes(connection, "macro:analyst", last=0.000001)
        await comes(connection, "equity:reader")
        assert await has(connection) == ["equity:reader"]
        await comes(connection, "macro:analyst")  # and is had again with the next that does
        assert await has(connection) == ["equity:reader", "macro:analyst"]


async def test_an_older_token_that_carries_it_still_keeps_it_from_lapsing(database: Database) -> None:
    async with database.connection() as connection:
        await comes(connection, "macro:analyst", client="web", at=5)
        await connection.execute("UPDATE grants SET lapses_at = now() + interval '1 second'")
        await connection.execute("UPDATE users SET seen_at = now() - interval '2 minutes'")
        await comes(connection, "macro:analyst", client="web", at=4)
        cursor = await connection.execute(
            "SELECT lapses_at > now() + interval '1 minute' AS kept FROM grants"
        )
        assert [row["kept"] for row in await cursor.fetchall()] == [True]


async def test_a_revocation_takes_it_away_whatever_tokens_carry(database: Database) -> None:
    async with database.connection() as connection:
        await comes(connection, "macro:analyst")
        await users.revoke(connection, "ann", "macro:analyst", reason="moved", revoked_by="root")
        await comes(connection, "macro:analyst", at=9)
        assert await has(connection) == []
        await users.restore(connection, "ann", "macro:analyst", restored_by="root")
        assert await has(connection) == ["macro:analyst"]


async def test_a_list_of_grants_goes_before_all_tokens(database: Database) -> None:
    async with database.transaction() as connection:
        await comes(connection, "macro:analyst", "esg:reader")
        await grants.take_list(connection, {"ann": ["macro:analyst", "equity:editor"]}, digest="1")
    async with database.connection() as connection:
        assert await has(connection) == ["macro:analyst", "equity:editor"]
        left = await comes(connection, "macro:reader", "esg:reader", "global:reader", at=9)
        assert [str(scope) for scope in left.scopes] == ["macro:reader"]  # what is below a listed one
        kept = await users.scopes_left(connection, "ann", read_scopes(["equity:reader", "esg:reader"]))
        assert [str(scope) for scope in kept] == ["equity:reader"]
        await users.revoke(connection, "ann", "macro:analyst", reason="x", revoked_by="root")
        assert await has(connection) == ["equity:editor"]


async def test_who_is_not_in_the_list_has_nothing_until_there_is_no_list(database: Database) -> None:
    async with database.transaction() as connection:
        await comes(connection, "macro:analyst")
        await grants.take_list(connection, {"bob": ["macro:analyst"]}, digest="1")
    async with database.transaction() as connection:
        assert await has(connection) == []
        assert (await comes(connection, "macro:analyst")).scopes == ()
        await grants.forget_list(connection)
        assert await has(connection) == ["macro:analyst"]


async def test_a_list_that_was_never_read_takes_nothing_away(database: Database) -> None:
    async with database.connection() as connection:
        await comes(connection, "macro:analyst")
        await grants.note_fault(connection, "it is away")
        assert await has(connection) == ["macro:analyst"]
        assert (await comes(connection, "macro:analyst")).has("analyst", "macro")
        assert await grants.fault(connection) == ("it is away", None)


async def test_who_was_last_seen_by_the_release_before_has_what_that_token_said(database: Database) -> None:
    async with database.connection() as connection:
        await connection.execute(
            """INSERT INTO users (subject, name, email, scopes, seen_at)
               VALUES ('ann', '', '', '{macro:analyst}', now())"""
        )
        assert await has(connection) == ["macro:analyst"]


@examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["", "web", "mcp"]),
            st.none() | st.integers(0, 3),
            st.frozensets(st.sampled_from(["a:reader", "b:reader"])),
        ),
        max_size=7,
    )
)
def test_what_is_had_is_what_the_newest_tokens_of_each_client_carried(
    database_url: str, tokens: list[tuple[str, int | None, frozenset[str]]]
) -> None:
    """Against a model that keeps every token: of a named client the newest ones in order, of none all."""

    async def run() -> tuple[set[str], set[str]]:
        async with Database(url=database_url, pool_size=2) as database, database.connection() as connection:
            await connection.execute("DELETE FROM users")
            held: dict[str, set[str]] = {}
            newest: dict[str, int | None] = {}
            for client, at, scopes in tokens:
                await comes(connection, *sorted(scopes), client=client, at=at)
                known, before = held.setdefault(client, set()), newest.get(client)
                if client == "" or (at is None and before is None) or at == before:
                    known |= scopes
                elif at is not None and (before is None or at > before):
                    held[client], newest[client] = set(scopes), at
            return set(await has(connection)), set().union(*held.values())

    found, expected = asyncio.run(run())
    assert found == expected


async def test_the_later_of_two_tokens_at_once_is_right(database: Database) -> None:
    """The older one, which was first at the client's row, brings the scope while the newer one waits."""
    async with database.connection() as connection:
        await comes(connection, "macro:analyst", client="web")
    async with database.transaction() as one:
        await comes(one, "macro:analyst", "equity:reader", client="web", at=1)

        async def newer() -> UserContext:
            async with database.connection() as two:
                return await comes(two, "macro:analyst", client="web", at=2)

        waiting = asyncio.create_task(newer())
        async with database.connection() as watch, asyncio.timeout(20):
            while True:
                cursor = await watch.execute(
                    """SELECT count(*) AS n FROM pg_stat_activity
                       WHERE wait_event_type = 'Lock' AND datname = current_database()"""
                )
                row = await cursor.fetchone()
                if row and row["n"]:
                    break
                await asyncio.sleep(0.01)
    await waiting
    async with database.connection() as connection:
        assert await has(connection) == ["macro:analyst"]


@pytest.mark.parametrize(
    ("claims", "client"),
    [
        ({"azp": "web"}, "web"),
        ({"client_id": "mcp"}, "mcp"),
        ({"azp": "web", "client_id": "mcp"}, "web"),
        ({}, ""),
        ({"azp": ["web"]}, ""),
        ({"azp": 7}, ""),
    ],
)
async def test_a_token_names_its_client(database_url: str, claims: dict[str, object], client: str) -> None:
    with KeyServer(jwk("good", "EdDSA")) as server:
        async with client_of(identity_app(auth(url=server.url), database_url)) as api:
            token = sign("good", "EdDSA", sub="ann", scopes=["macro:reader"], **claims)
            assert (await api.get("/api/me", headers=bearer(token))).status_code == 200
    async with Database(url=database_url, pool_size=1) as database, database.connection() as connection:
        cursor = await connection.execute("SELECT client FROM token_clients")
        assert [row["client"] for row in await cursor.fetchall()] == [client]


@pytest.mark.parametrize("name", ["edit_articles", "batch", "Edit_Articles", "signoff", "system"])
async def test_nobody_is_called_what_the_site_calls_its_own_work(database_url: str, name: str) -> None:
    with KeyServer(jwk("good", "EdDSA")) as server:
        async with client_of(identity_app(auth(url=server.url), database_url)) as api:
            answer = await api.get("/api/me", headers=bearer(sign("good", "EdDSA", sub=name)))
    assert answer.status_code == 401
    assert f"sub is {name!r}" in answer.json()["detail"]
