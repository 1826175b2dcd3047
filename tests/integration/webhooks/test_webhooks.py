"""Webhooks: what is written with a change goes out, at least once, signed, to whom it may."""

import asyncio
import hashlib
import hmac
import json
import os
import signal
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from standardwebhooks.webhooks import Webhook as StandardWebhook
from standardwebhooks.webhooks import WebhookVerificationError

from actors.platform.runtime.pool import start_dispatcher, stop_dispatcher
from actors.platform.runtime.webhook_message import new_secret
from cluster.postgres import server as embedded
from models.config import Config
from models.store import outbox, webhooks
from models.store.database import Database
from models.webhooks.records import WebhookChange
from tests.fakes.outside.webhook_receiver import Reply, WebhookReceiver
from tests.integration.webhooks.deliveries import SECRET, dispatching, ended, make, put, told, until

Configure = Callable[..., Config]


@pytest.fixture
async def receiver() -> AsyncIterator[WebhookReceiver]:
    """A target on 127.0.0.1."""
    async with WebhookReceiver() as receiver:
        yield receiver


@pytest.fixture
def config(configure: Configure) -> Config:
    """Loopback is allowed, and nothing waits for long."""
    return configure({"outgoing.allow_internal": ["127.0.0.1/32"], "webhooks.timeout_seconds": 20})


async def test_a_message_goes_out_signed_in_both_ways(
    database: Database, config: Config, receiver: WebhookReceiver
) -> None:
    headers = {"Authorization": "Bearer xyz", "X-Team": "news"}
    await make(database, receiver.at("/hook?a=b"), method="PUT", headers=headers)
    async with dispatching(database, config):
        [delivery_id] = await put(database, article={"id": 7, "headline": "Zinsen – rauf? \x00"})
        got = (await receiver.until_got(1, "/hook?a=b"))[0]
        done = await ended(database, delivery_id)
    assert (done.status, done.attempts, done.response_status, done.error) == ("delivered", 1, 200, None)
    assert got.method == "PUT"
    assert got.body.decode() == done.body
    assert json.loads(got.body) == {
        "event": "article_published",
        "webhook_id": delivery_id,
        "article": {"id": 7, "headline": "Zinsen – rauf? \x00"},
    }
    assert StandardWebhook(SECRET).verify(got.body, got.headers)["webhook_id"] == delivery_id
    anew = json.dumps(json.loads(got.body), sort_keys=True).encode()
    for body in (got.body, anew):
        expected = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
        assert got.headers["x-webhook-signature"] == f"sha256={expected}"
    assert (got.headers["authorization"], got.headers["x-team"]) == ("Bearer xyz", "news")
    assert got.headers["content-type"] == "application/json"


async def test_what_is_rolled_back_never_goes_out(
    database: Database, config: Config, receiver: WebhookReceiver
) -> None:
    await make(database, receiver.at("/hook"))
    async with dispatching(database, config):
        async with database.connection() as connection, connection.transaction(force_rollback=True):
            assert await outbox.put(connection, "article_published", "macro", {"n": 1})
        [delivery_id] = await put(database, n=2)
        await ended(database, delivery_id)
    assert [json.loads(got.body)["n"] for got in receiver.got] == [2]


async def test_both_secrets_are_good_while_one_is_rotated(
    database: Database, config: Config, receiver: WebhookReceiver
) -> None:
    webhook = await make(database, receiver.at("/hook"))
    new = new_secret()
    async with database.transaction() as connection:
        rotated = await webhooks.rotate(connection, webhook.id, secret=new, keep_seconds=60, by="root")
    assert rotated.previous_secret_until is not None
    async with dispatching(database, config):
        await put(database)
        during = (await receiver.until_got(1, "/hook"))[0]
        for secret in (SECRET, new):
            StandardWebhook(secret).verify(during.body, during.headers)
        async with database.transaction() as connection:
            await connection.execute("UPDATE webhooks SET previous_secret_until = now() - interval '1 s'")
        await put(database)
        after = (await receiver.until_got(2, "/hook"))[1]
    StandardWebhook(new).verify(after.body, after.headers)
    with pytest.raises(WebhookVerificationError):
        StandardWebhook(SECRET).verify(after.body, after.headers)


async def test_retries_keep_the_id_then_it_is_dead_and_can_be_replayed(
    database: Database, config: Config, receiver: WebhookReceiver
) -> None:
    await make(database, receiver.at("/hook"), max_retries=2)
    receiver.script("/hook", Reply(500), Reply(404), Reply(503))
    async with dispatching(database, config):
        [delivery_id] = await put(database, n=1)
        dead = await ended(database, delivery_id)
        assert (dead.status, dead.attempts, dead.response_status) == ("dead", 3, 503)
        assert dead.error == "HTTP 503"
        async with database.connection() as connection:
            assert await outbox.counts(connection) == {"dead": 1}
        assert ("webhook.dead", "admin") in await told(database)
        async with database.transaction() as connection:
            again = await outbox.replay(connection, delivery_id)
        assert (again.status, again.attempts, again.ended_at) == ("pending", 0, None)
        done = await ended(database, delivery_id)
        assert (done.status, done.attempts, done.error) == ("delivered", 1, None)
    got = receiver.to("/hook")
    assert len(got) == 4
    assert {g.headers["webhook-id"] for g in got} == {delivery_id}
    assert {g.body for g in got} == {done.body.encode()}
    for g in got:
        StandardWebhook(SECRET).verify(g.body, g.headers)


async def test_retries_wait_longer_each_time(
    database: Database, config: Config, receiver: WebhookReceiver
) -> None:
    await make(database, receiver.at("/hook"), max_retries=9, retry_delay_seconds=100)
    receiver.always("/hook", Reply(500))
    async with dispatching(database, config):
        [delivery_id] = await put(database)
        for attempts, pause in ((1, 100), (2, 200), (3, 400)):
            waits = await until(database, delivery_id, lambda d, n=attempts: d.attempts == n)
            assert waits.status == "pending"
            left = (waits.next_attempt_at - datetime.now(UTC)).total_seconds()
            assert pause - 20 < left <= pause + 1
            async with database.transaction() as connection:
                await connection.execute("UPDATE deliveries SET next_attempt_at = now()")
                await outbox.notify(connection)
    assert 3 <= len(receiver.got) <= 4


@pytest.mark.parametrize(
    ("reply", "least", "most"),
    [
        (Reply(429, {"Retry-After": "3600"}), 3500, 3601),
        (Reply(503, {"Retry-After": "999999999"}), 86_300, 86_401),
        (Reply(503, {"Retry-After": "soon"}), 70, 101),
        (Reply(500, {"Retry-After": "3600"}), 70, 101),
        (Reply(503, {"Retry-After": "0"}), 70, 101),
    ],
)
async def test_retry_after_is_honoured(
    database: Database, config: Config, receiver: WebhookReceiver, reply: Reply, least: float, most: float
) -> None:
    await make(database, receiver.at("/hook"), max_retries=100, retry_delay_seconds=100)
    receiver.always("/hook", reply)
    async with dispatching(database, config):
        [delivery_id] = await put(database)
        waits = await until(database, delivery_id, lambda d: d.attempts > 0)
    assert least < (waits.next_attempt_at - datetime.now(UTC)).total_seconds() <= most


async def test_gone_switches_the_webhook_off_and_what_waits_goes_out_when_it_is_on_again(
    database: Database, config: Config, receiver: WebhookReceiver
) -> None:
    webhook = await make(database, receiver.at("/hook"), max_retries=5)
    receiver.script("/hook", Reply(410))
    [first] = await put(database, n=1)
    async with database.transaction() as connection:
        # Written before the 410, but due after it.
        [second] = await outbox.put(connection, "article_published", "macro", {"n": 2})
        later = "UPDATE deliveries SET next_attempt_at = now() + interval '1 hour' WHERE id = %s"
        await connection.execute(later.encode(), (second,))
    async with dispatching(database, config):
        gone = await ended(database, first)
        assert (gone.status, gone.attempts, gone.response_status) == ("dead", 1, 410)
        async with database.transaction() as connection:
            off = await webhooks.get(connection, webhook.id)
            assert not off.is_active
            assert "410" in (off.disabled_reason or "")
            await connection.execute("UPDATE deliveries SET next_attempt_at = now()")
        assert await put(database, n=3) == [], "nothing is written for it any more"
        assert [type_ for type_, _ in await told(database)][-2:] == ["webhook.dead", "webhook.disabled"]
        # Another webhook's message comes and goes meanwhile; the one that waits stays.
        await make(database, receiver.at("/other"))
        [third] = await put(database)
        await ended(database, third)
        async with database.connection() as connection:
            assert (await outbox.get(connection, second)).status == "pending"
        async with database.transaction() as connection:
            on = await webhooks.change(
                connection, webhook.id, WebhookChange.model_validate({"is_active": True}), by="root"
            )
        assert on.disabled_reason is None
        assert (await ended(database, second)).status == "delivered"
    assert [json.loads(got.body)["n"] for got in receiver.to("/hook")] == [1, 2]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_a_failure_and_is_not_followed(
    database: Database, config: Config, receiver: WebhookReceiver, status: int
) -> None:
    await make(database, receiver.at("/hook"), max_retries=0)
    receiver.always("/hook", Reply(status, {"Location": receiver.at("/other")}))
    async with dispatching(database, config):
        [delivery_id] = await put(database)
        dead = await ended(database, delivery_id)
    assert (dead.status, dead.response_status) == ("dead", status)
    assert dead.error is not None
    assert "redirects are not followed" in dead.error
    assert receiver.to("/other") == []


async def test_the_url_guard_stands_before_every_try(
    database: Database, configure: Configure, receiver: WebhookReceiver
) -> None:
    await make(database, receiver.at("/hook"), max_retries=0)
    await make(database, f"http://localhost:{receiver.port}/hook", max_retries=0)
    async with dispatching(database, configure()):
        for delivery_id in await put(database):
            dead = await ended(database, delivery_id)
            assert (dead.status, dead.response_status) == ("dead", None)
            assert dead.error is not None
            assert "outgoing.allow_internal" in dead.error
    assert receiver.got == []


async def test_a_target_that_does_not_answer_in_time_is_a_failure(
    database: Database, configure: Configure, receiver: WebhookReceiver
) -> None:
    config = configure({"outgoing.allow_internal": ["127.0.0.1/32"], "webhooks.timeout_seconds": 1.0})
    await make(database, receiver.at("/silent"), max_retries=0)
    await make(database, receiver.at("/endless"), max_retries=0)
    await make(database, receiver.at("/drip"), max_retries=0)
    await make(database, "http://127.0.0.1:9/nobody", max_retries=0)
    receiver.always("/silent", Reply(hold=True))
    receiver.always("/endless", Reply(body=b"x" * 100, endless="body"))
    # Bytes come all the time, so no single read takes long.
    receiver.always("/drip", Reply(endless="headers"))
    async with dispatching(database, config):
        deliveries = [await ended(database, delivery_id) for delivery_id in await put(database)]
    assert [(d.status, d.error) for d in deliveries[:3]] == [
        ("dead", "no answer within 1 s"),
        ("delivered", None),
        ("dead", "no answer within 1 s"),
    ]
    assert "ConnectError" in (deliveries[3].error or "")


async def test_one_slow_target_does_not_delay_the_others(
    database: Database, configure: Configure, receiver: WebhookReceiver
) -> None:
    config = configure(
        {
            "outgoing.allow_internal": ["127.0.0.1/32"],
            "webhooks.timeout_seconds": 20,
            "webhooks.concurrency": 6,
            "webhooks.per_webhook": 3,
        }
    )
    slow = await make(database, receiver.at("/slow"), topic="macro")
    await make(database, receiver.at("/fast"), topic="equity")
    receiver.always("/slow", Reply(hold=True))
    held = [(await put(database, "macro"))[0] for _ in range(20)]
    async with dispatching(database, config):
        await receiver.until_got(3, "/slow")
        async with asyncio.timeout(15):  # less than a slow answer is waited for
            for _ in range(20):
                [delivery_id] = await put(database, "equity")
                assert (await ended(database, delivery_id)).status == "delivered"
        assert len(receiver.to("/slow")) == receiver.most_under_way["/slow"] == 3
        async with database.connection() as connection:
            waiting = await outbox.of_webhook(connection, slow.id, limit=50, statuses=("pending",))
        assert len(waiting) == 20
        receiver.release()
        for delivery_id in held:
            assert (await ended(database, delivery_id)).status == "delivered"
    assert receiver.most_under_way["/slow"] == 3


async def test_what_a_dead_dispatcher_had_claimed_is_sent_after_its_lease(
    database: Database, config: Config, receiver: WebhookReceiver
) -> None:
    await make(database, receiver.at("/hook"))
    [delivery_id] = await put(database)
    [lost] = await outbox.claim(database, limit=9, per_webhook=9, busy={}, lease_seconds=1.0)
    assert await outbox.claim(database, limit=9, per_webhook=9, busy={}, lease_seconds=1.0) == []
    async with dispatching(database, config):
        done = await ended(database, delivery_id)
        at = datetime.now(UTC)
    assert done.status == "delivered"
    assert at >= lost.claimed_until
    assert receiver.got[0].headers["webhook-id"] == delivery_id
    # The dead one wakes up and tells what came of its try: it is not its to tell.
    assert not await outbox.dead(database, lost, response_status=500, error="late")
    assert not await outbox.failed(database, lost, in_seconds=1, response_status=500, error="late")
    assert not await outbox.delivered(database, lost, response_status=200)
    assert not await outbox.disabled(database, lost, response_status=410, error="late")
    async with database.connection() as connection:
        assert await outbox.get(connection, delivery_id) == done
        assert (await webhooks.get(connection, done.webhook_id)).is_active


async def test_two_dispatchers_send_nothing_twice(
    database: Database, config: Config, receiver: WebhookReceiver
) -> None:
    for number in range(3):
        await make(database, receiver.at(f"/hook{number}"))
    ids: list[str] = []
    async with dispatching(database, config), dispatching(database, config):
        for number in range(40):
            ids += await put(database, n=number)
        for delivery_id in ids:
            assert (await ended(database, delivery_id)).status == "delivered"
    assert sorted(got.headers["webhook-id"] for got in receiver.got) == sorted(ids)


async def test_a_dispatcher_lets_what_it_sends_be_answered_before_it_stops(
    database: Database, config: Config, receiver: WebhookReceiver
) -> None:
    await make(database, receiver.at("/hook"))
    receiver.always("/hook", Reply(hold=True))
    async with dispatching(database, config) as dispatcher:
        [delivery_id] = await put(database)
        await receiver.until_got(1, "/hook")
        dispatcher.stop()
        receiver.release()
    async with database.connection() as connection:
        assert (await outbox.get(connection, delivery_id)).status == "delivered"


async def test_restarting_postgres_loses_nothing(
    database: Database, config: Config, receiver: WebhookReceiver, postgres_folder: Path
) -> None:
    await make(database, receiver.at("/hook"), max_retries=5)
    receiver.script("/hook", *[Reply(hold=True)] * 4)
    async with dispatching(database, config):
        ids = [(await put(database, n=number))[0] for number in range(12)]
        await receiver.until_got(4, "/hook")
        await asyncio.to_thread(embedded.stop, postgres_folder)
        receiver.release()
        await asyncio.to_thread(embedded.start, postgres_folder)
        ids.append((await database.steadily(lambda: put(database)))[0])
        for delivery_id in ids:
            assert (await ended(database, delivery_id, timeout=90)).status == "delivered"
    assert {got.headers["webhook-id"] for got in receiver.got} == set(ids)


@pytest.mark.usefixtures("ray_cluster")
async def test_the_dispatcher_of_the_cluster_is_restarted_when_it_is_killed(
    database: Database, database_url: str, configure: Configure, receiver: WebhookReceiver
) -> None:
    config = configure({"outgoing.allow_internal": ["127.0.0.1/32"], "webhooks.timeout_seconds": 1})
    await make(database, receiver.at("/hook"))
    try:
        name, pid = await asyncio.to_thread(start_dispatcher, config, database_url)
        assert name == "dispatcher:0"
        assert (await asyncio.to_thread(start_dispatcher, config, database_url)) == (name, pid)
        [first] = await put(database)
        assert (await ended(database, first, timeout=60)).status == "delivered"
        os.kill(pid, signal.SIGKILL)
        [second] = await put(database)
        assert (await ended(database, second, timeout=90)).status == "delivered"
    finally:
        assert await asyncio.to_thread(stop_dispatcher) == 1
    assert await asyncio.to_thread(stop_dispatcher) == 0
