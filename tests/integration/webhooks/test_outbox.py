"""The outbox: who is written to, who may send what, and whose word about it counts."""

import asyncio
from datetime import timedelta

import pytest

from models.errors import WebhookNotFound
from models.store import outbox, webhooks
from models.store.database import Database
from models.webhooks.records import Delivery, WebhookChange
from tests.integration.webhooks.deliveries import make, put


def at(path: str) -> str:
    """An address that nothing is sent to here."""
    return f"http://hooks.example.com{path}"


async def test_only_active_webhooks_of_the_event_and_topic_are_written_to(database: Database) -> None:
    every = await make(database, at("/every"))
    macro = await make(database, at("/macro"), topic="macro")
    await make(database, at("/equity"), topic="equity")
    await make(database, at("/off"), is_active=False)
    await make(database, at("/rejected"), event_type="article_rejected")

    async def addressed(topic: str | None) -> list[int]:
        ids = await put(database, topic)
        async with database.connection() as connection:
            return [(await outbox.get(connection, id_)).webhook_id for id_ in ids]

    assert await addressed("macro") == [every.id, macro.id]
    assert await addressed("fx") == [every.id]
    assert await addressed(None) == [every.id]


async def test_a_webhook_that_is_just_being_deleted_fails_nobody_s_change(database: Database) -> None:
    webhook = await make(database, at("/going"))
    stays = await make(database, at("/stays"))
    async with database.transaction() as connection:
        await webhooks.delete(connection, webhook.id, by="root")
        putting = asyncio.create_task(put(database))
        async with asyncio.timeout(30), database.connection() as other:
            waiting = """SELECT 1 FROM pg_stat_activity
                         WHERE datname = current_database() AND wait_event_type = 'Lock'"""
            while await (await other.execute(waiting)).fetchone() is None:
                pass
    [delivery_id] = await putting
    async with database.connection() as connection:
        assert (await outbox.get(connection, delivery_id)).webhook_id == stays.id


async def test_the_least_busy_webhooks_come_first(database: Database) -> None:
    many = await make(database, at("/many"), topic="macro")
    one = await make(database, at("/one"), topic="equity")
    for _ in range(5):
        await put(database, "macro")
    await put(database, "equity")

    async def claim(limit: int, busy: dict[int, int]) -> list[int]:
        claims = await outbox.claim(database, limit=limit, per_webhook=3, busy=busy, lease_seconds=60)
        return sorted(c.webhook_id for c in claims)

    assert await claim(2, {many.id: 1}) == [many.id, one.id]
    assert await claim(9, {many.id: 2}) == [many.id]
    assert await claim(9, {many.id: 3}) == []
    assert await claim(9, {}) == [many.id] * 3


async def test_a_late_answer_changes_nothing_under_another_s_claim(database: Database) -> None:
    await make(database, at("/hook"))
    [delivery_id] = await put(database)
    [lost] = await outbox.claim(database, limit=1, per_webhook=1, busy={}, lease_seconds=0.001)
    async with asyncio.timeout(10):
        while not (own := await outbox.claim(database, limit=1, per_webhook=1, busy={}, lease_seconds=60)):
            pass
    assert not await outbox.dead(database, lost, response_status=500, error="late")
    assert await outbox.delivered(database, own[0], response_status=204)
    async with database.connection() as connection:
        done = await outbox.get(connection, delivery_id)
    assert (done.status, done.attempts) == ("delivered", 1)


async def test_a_replay_during_the_last_try_is_not_lost(database: Database) -> None:
    await make(database, at("/hook"), max_retries=1)
    [delivery_id] = await put(database)
    [claim] = await outbox.claim(database, limit=1, per_webhook=1, busy={}, lease_seconds=60)
    assert await outbox.failed(database, claim, in_seconds=0, response_status=500, error="HTTP 500")
    [claim] = await outbox.claim(database, limit=1, per_webhook=1, busy={}, lease_seconds=60)
    async with database.transaction() as connection:
        await outbox.replay(connection, delivery_id)
    assert not await outbox.dead(database, claim, response_status=500, error="HTTP 500")
    async with database.connection() as connection:
        assert (await outbox.get(connection, delivery_id)).status == "pending"


async def test_a_new_url_is_not_switched_off_by_the_old_one_s_farewell(database: Database) -> None:
    webhook = await make(database, at("/old"))
    await put(database)
    [claim] = await outbox.claim(database, limit=1, per_webhook=1, busy={}, lease_seconds=60)
    async with database.transaction() as connection:
        change = WebhookChange.model_validate({"url": at("/new")})
        await webhooks.change(connection, webhook.id, change, by="root")
    assert await outbox.disabled(database, claim, response_status=410, error="gone")
    async with database.connection() as connection:
        assert (await webhooks.get(connection, webhook.id)).is_active


async def test_deliveries_are_listed_newest_first_page_by_page(database: Database) -> None:
    webhook = await make(database, at("/hook"))
    async with database.transaction() as connection:  # all of one time, so the ids must part them
        ids = [(await outbox.put(connection, "article_published", None, {}))[0] for _ in range(5)]
    ids += [(await put(database))[0] for _ in range(2)]
    seen: list[Delivery] = []
    async with database.connection() as connection:
        while page := await outbox.of_webhook(
            connection, webhook.id, limit=3, before=seen[-1] if seen else None
        ):
            seen += page
        with pytest.raises(WebhookNotFound):
            await outbox.get(connection, ids[0], webhook_id=webhook.id + 1)
    assert len(seen) == 7
    assert {delivery.id for delivery in seen} == set(ids)
    times = [(delivery.created_at, delivery.id) for delivery in seen]
    assert times == sorted(times, reverse=True)
    assert seen[0].created_at - seen[-1].created_at < timedelta(minutes=1)
