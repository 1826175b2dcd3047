"""Webhooks' secrets at rest: never plain, opened for whoever signs, and sealed anew under a new key."""

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from standardwebhooks.webhooks import Webhook as StandardWebhook

from models.config import Config
from models.store.database import Database
from tests.fakes.outside.webhook_receiver import WebhookReceiver
from tests.integration.rest import client, served
from tests.integration.webhooks.deliveries import SECRET, dispatching, ended, make, put, until

Configure = Callable[..., Config]
OPEN = {"outgoing.allow_internal": ["127.0.0.1/32"]}


@pytest.fixture
async def receiver() -> AsyncIterator[WebhookReceiver]:
    """A target on 127.0.0.1."""
    async with WebhookReceiver() as running:
        yield running


def with_keys(configure: Configure, *keys: str) -> Config:
    return configure({**OPEN, "webhooks.sealing_keys": list(keys)})


async def kept(database: Database) -> str:
    """All that the table says, as a dump would."""
    async with database.connection() as connection:
        rows = await (await connection.execute("SELECT to_jsonb(webhooks) AS row FROM webhooks")).fetchall()
    return json.dumps([row["row"] for row in rows])


async def test_what_is_made_over_http_is_sealed_and_signs_right(
    database: Database, database_url: str, configure: Configure, receiver: WebhookReceiver
) -> None:
    config = with_keys(configure, "one key")
    body: dict[str, Any] = {
        "name": "hook",
        "event_type": "article_published",
        "url": receiver.at("/hook"),
        "headers": {"Authorization": "Bearer its-own-token"},
    }
    with served(config, database_url) as base:
        async with client(config, base, "root", "global:admin") as root:
            made = (await root.post("/api/webhooks", json=body)).json()
            secrets = {made["secret"]}
            path = f"/api/webhooks/{made['id']}"
            changed = await root.patch(path, json={"headers": {"X-Key": "another-of-its-own"}})
            assert changed.json()["header_names"] == ["X-Key"]
            secrets.add((await root.post(f"{path}/rotate-secret")).json()["secret"])
    assert len(secrets) == 2
    dump = await kept(database)
    assert [plain for plain in (*secrets, "another-of-its-own", "its-own-token") if plain in dump] == []
    async with dispatching(database, config):
        await put(database)
        got = (await receiver.until_got(1, "/hook"))[0]
    assert got.headers["x-key"] == "another-of-its-own"
    for secret in secrets:
        StandardWebhook(secret).verify(got.body, got.headers)


async def test_what_an_earlier_release_kept_is_sealed_and_keys_are_changed(
    database: Database, configure: Configure, receiver: WebhookReceiver
) -> None:
    await make(database, receiver.at("/hook"), headers={"X-Key": "a-plain-value"})
    assert SECRET in await kept(database)
    dumps = []
    # The last has forgotten the first key: by then it is not needed any more.
    for number, keys in enumerate((["old"], ["new", "old"], ["new"]), start=1):
        async with dispatching(database, with_keys(configure, *keys)):
            await put(database)
            got = (await receiver.until_got(number, "/hook"))[-1]
        StandardWebhook(SECRET).verify(got.body, got.headers)
        assert got.headers["x-key"] == "a-plain-value"
        dumps.append(await kept(database))
    assert not any(SECRET in dump or "a-plain-value" in dump for dump in dumps)
    assert dumps[0] != dumps[1] == dumps[2]


async def test_without_its_key_a_webhook_waits_and_says_what_to_do(
    database: Database, configure: Configure, receiver: WebhookReceiver
) -> None:
    await make(database, receiver.at("/hook"), max_retries=3)
    async with dispatching(database, with_keys(configure, "old")):
        await put(database)
        await receiver.until_got(1, "/hook")
    async with dispatching(database, with_keys(configure, "another")):
        [delivery_id] = await put(database)
        tried = await until(database, delivery_id, lambda delivery: delivery.attempts > 0)
    assert "webhooks.sealing_keys" in (tried.error or "")
    assert len(receiver.to("/hook")) == 1
    async with dispatching(database, with_keys(configure, "another", "old")):
        await ended(database, delivery_id)
    assert len(receiver.to("/hook")) == 2
