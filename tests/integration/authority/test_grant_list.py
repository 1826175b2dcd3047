"""The list of grants that a site names: read from a file or a URL, and fail-safe."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from models.config import Config
from models.config.publishing import GrantsConfig
from models.store.database import Database
from models.store.people import grants, users
from serve.auth.grants import GrantList, read_list
from tests.fakes.outside.issuer import KeyServer
from tests.integration.chat.sites.chat_door_site import until
from tests.integration.rest import client, served

NOW = 0.000001


async def listed(database: Database, subject: str = "ann") -> tuple[str, ...]:
    """What somebody who was seen is known to have."""
    async with database.connection() as connection:
        return tuple(str(scope) for scope in await users.stored_scopes(connection, subject))


@pytest.fixture
async def ann(database: Database) -> None:
    """Ann, who came with a token once."""
    async with database.connection() as connection:
        await connection.execute(
            "INSERT INTO users (subject, name, email, scopes) VALUES ('ann', '', '', '{macro:analyst}')"
        )


def the_list(database: Database, **where: Any) -> GrantList:
    """A list that is due whenever it is asked for."""
    return GrantList(database, GrantsConfig.model_validate({"every_seconds": NOW, **where}))


async def test_a_file_is_read_again_and_one_that_can_t_be_takes_nothing_away(
    database: Database, ann: None, tmp_path: Path
) -> None:
    file = tmp_path / "grants.json"
    follower = the_list(database, file=file)
    assert not await follower.read()  # there is none yet
    assert await listed(database) == ("macro:analyst",)
    file.write_text(json.dumps({"ann": ["equity:reader"], "bob": []}))
    assert await follower.read()
    assert await listed(database) == ("equity:reader",)
    for broken in (
        "", "[]", "{}", '{"ann": "macro:analyst"}', '{"ann": ["macro:boss"]}', '{"": []}', '{"ann": [7]}',
        "[" * 100_000, '{"ann": ["macro:reader"]',
    ):  # fmt: skip
        file.write_text(broken)
        assert not await follower.read()
        assert await listed(database) == ("equity:reader",), broken
    file.unlink()
    assert not await follower.read()
    assert await listed(database) == ("equity:reader",)
    file.write_text(json.dumps({"bob": ["macro:reader"]}))
    assert await follower.read()
    assert await listed(database) == ()
    async with database.connection() as connection:
        assert await grants.fault(connection) is None


async def test_a_url_is_read_and_while_it_is_away_its_last_list_holds(database: Database, ann: None) -> None:
    with KeyServer() as server:
        follower = the_list(database, url=server.url)
        assert not await follower.read()  # a key set is no list of grants
        server.body = json.dumps({"ann": ["esg:editor"]})
        assert await follower.read()
        server.status = 500
        assert not await follower.read()
        server.status = 302
        assert not await follower.read()
    assert not await follower.read()  # nobody listens
    assert await listed(database) == ("esg:editor",)


async def test_of_several_replicas_one_reads_it(database: Database, ann: None) -> None:
    with KeyServer() as server:
        server.body = json.dumps({"ann": ["esg:editor"]})
        replicas = [the_list(database, url=server.url, every_seconds=3600) for _ in range(3)]
        assert [await replica.read() for replica in replicas] == [True, False, False]
        assert server.requests == 1


async def test_the_site_follows_it_says_when_it_can_t_and_forgets_it_when_it_is_gone(
    configure: Callable[..., Config], database_url: str, database: Database, tmp_path: Path
) -> None:
    file = tmp_path / "grants.json"
    file.write_text(json.dumps({"ann": ["macro:reader"]}))
    config = configure({"auth.grants": {"file": str(file), "every_seconds": 0.05}})
    with served(config, database_url) as base:
        async with client(config, base, "ann", "macro:analyst", "macro:reader") as ann:

            async def scopes() -> list[str]:
                told: list[str] = (await ann.get("/api/me")).json()["scopes"]
                return told

            async def are(wanted: list[str]) -> bool:
                return await scopes() == wanted

            async def health() -> dict[str, str]:
                told: dict[str, str] = (
                    await httpx2.AsyncClient(trust_env=False).get(f"{base}/health")
                ).json()
                return told

            await until(lambda: are(["macro:reader"]))
            assert await health() == {"status": "ok"}
            file.write_text("broken")

            async def says_so() -> bool:
                return "can't be read: the one of" in (await health()).get("grants", "")

            await until(says_so)
            assert await scopes() == ["macro:reader"]
    config = configure()
    with served(config, database_url) as base:
        async with client(config, base, "ann", "macro:analyst") as ann:

            async def all_of_it() -> bool:
                return bool((await ann.get("/api/me")).json()["scopes"] == ["macro:analyst"])

            await until(all_of_it)


def test_a_list_is_people_and_scopes() -> None:
    assert read_list(b'{"ann": ["macro:analyst", "global:reader"], "bob": []}') == {
        "ann": ["macro:analyst", "global:reader"], "bob": [],
    }  # fmt: skip


def test_a_list_that_says_of_somebody_two_things_says_neither() -> None:
    with pytest.raises(ValueError, match="'ann' is there twice"):
        read_list(b'{"ann": [], "bob": ["macro:reader"], "ann": ["global:admin"]}')
