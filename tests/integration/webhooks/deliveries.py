"""What the tests of webhooks share: make a webhook, tell of something, wait for the delivery."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from actors.platform.runtime.outbox import Dispatcher
from actors.platform.runtime.webhook_message import new_secret
from models.config import Config
from models.store import events, outbox, webhooks
from models.store.database import GONE, Database
from models.webhooks.records import Delivery, NewWebhook, Webhook

SECRET = new_secret()


@asynccontextmanager
async def dispatching(database: Database, config: Config) -> AsyncIterator[Dispatcher]:
    """A dispatcher in this process."""
    dispatcher = Dispatcher(config=config, database=database, poll_seconds=0.1, chance=lambda: 1.0)
    task = asyncio.create_task(dispatcher.run())
    try:
        yield dispatcher
    finally:
        dispatcher.stop()
        await asyncio.wait_for(task, 30)


async def make(database: Database, url: str, **more: Any) -> Webhook:
    """A webhook for published articles, which is tried twice."""
    asked = {"name": "hook", "event_type": "article_published", "max_retries": 1} | more
    new = NewWebhook.model_validate({"retry_delay_seconds": 0.01, **asked, "url": url})
    async with database.transaction() as connection:
        return await webhooks.create(connection, new, secret=new.secret or SECRET, created_by="root")


async def put(database: Database, topic: str | None = "macro", **payload: Any) -> list[str]:
    """Tell of a published article."""
    async with database.transaction() as connection:
        return await outbox.put(
            connection, "article_published", topic, {"event": "article_published", **payload}
        )


async def until(
    database: Database, delivery_id: str, condition: Callable[[Delivery], bool], *, timeout: float = 30
) -> Delivery:
    """The delivery once `condition` holds."""
    async with asyncio.timeout(timeout):
        while True:
            with contextlib.suppress(*GONE):
                async with database.connection() as connection:
                    delivery = await outbox.get(connection, delivery_id)
                if condition(delivery):
                    return delivery
            await asyncio.sleep(0.02)


async def ended(database: Database, delivery_id: str, *, timeout: float = 30) -> Delivery:
    """The delivery once it is delivered or dead."""
    return await until(database, delivery_id, lambda d: d.status != "pending", timeout=timeout)


async def told(database: Database) -> list[tuple[str, str]]:
    """The types and roles of all events."""
    async with database.connection() as connection:
        return [(event.type, event.role) for event in await events.read(connection, after=0)]
