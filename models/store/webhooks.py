"""Webhooks: made, changed and taken away by admins; each change leaves its event for the audit trail.

No function here returns a secret: `outbox.claim` alone reads it, for whoever signs. Secrets and headers'
values come sealed (`models.webhooks.sealing`), and `seal_all` seals those of earlier releases.
"""

from contextlib import suppress
from typing import Any

from psycopg.types.json import Jsonb

from models.errors import SealBroken, WebhookNotFound
from models.runtime.event_catalogue import (
    WebhookChanged,
    WebhookCreated,
    WebhookDeleted,
    WebhookEvent,
    WebhookSecretRotated,
)
from models.store import events, outbox
from models.store.database import Connection
from models.webhooks.records import NewWebhook, Webhook, WebhookChange
from models.webhooks.sealing import Seal

_COLUMNS = (
    "id, name, event_type, url, method, ARRAY(SELECT jsonb_object_keys(headers) ORDER BY 1) AS header_names, "
    "is_active, disabled_reason, topic, max_retries, retry_delay_seconds, "
    "CASE WHEN previous_secret_until > now() THEN previous_secret_until END AS previous_secret_until, "
    "created_by, created_at, updated_at"
)


async def create(connection: Connection, new: NewWebhook, *, secret: str, created_by: str) -> Webhook:
    """Write a new webhook, in the caller's transaction."""
    cursor = await connection.execute(
        f"""INSERT INTO webhooks (name, event_type, url, method, headers, is_active, topic, max_retries,
                                  retry_delay_seconds, secret, created_by)
            VALUES (%(name)s, %(event_type)s, %(url)s, %(method)s, %(headers)s, %(is_active)s, %(topic)s,
                    %(max_retries)s, %(retry_delay_seconds)s, %(secret)s, %(by)s)
            RETURNING {_COLUMNS}""".encode(),
        {**new.model_dump(), "headers": Jsonb(new.headers), "secret": secret, "by": created_by},
    )
    webhook = Webhook.model_validate(await cursor.fetchone())
    await _say(connection, WebhookCreated, webhook, by=created_by, url=webhook.url)
    return webhook


async def get(connection: Connection, webhook_id: int) -> Webhook:
    """One webhook; WebhookNotFound if there is none."""
    return await _one(connection, f"SELECT {_COLUMNS} FROM webhooks WHERE id = %s", (webhook_id,))


async def read_all(connection: Connection) -> list[Webhook]:
    """Every webhook, oldest first."""
    cursor = await connection.execute(f"SELECT {_COLUMNS} FROM webhooks ORDER BY id".encode())
    return [Webhook.model_validate(row) for row in await cursor.fetchall()]


async def change(connection: Connection, webhook_id: int, changes: WebhookChange, *, by: str) -> Webhook:
    """Write the fields that are set in `changes`. Switched on again, it gets what waited meanwhile.

    Raises WebhookNotFound.
    """
    new: dict[str, Any] = changes.model_dump(include=changes.model_fields_set)
    if "headers" in new:
        new["headers"] = Jsonb(new["headers"])
    if "is_active" in new:
        new["disabled_reason"] = None
    # The names are those of WebhookChange's fields, never the caller's.
    assignments = "".join(f"{name} = %({name})s, " for name in new)
    webhook = await _one(
        connection,
        f"UPDATE webhooks SET {assignments}updated_at = now() WHERE id = %(id)s RETURNING {_COLUMNS}",
        {**new, "id": webhook_id},
    )
    await _say(connection, WebhookChanged, webhook, by=by, fields=sorted(changes.model_fields_set))
    await outbox.notify(connection)
    return webhook


async def delete(connection: Connection, webhook_id: int, *, by: str) -> None:
    """Take a webhook away, with its deliveries, the pending ones too. Raises WebhookNotFound."""
    webhook = await _one(
        connection, f"DELETE FROM webhooks WHERE id = %s RETURNING {_COLUMNS}", (webhook_id,)
    )
    await _say(connection, WebhookDeleted, webhook, by=by)


async def rotate(
    connection: Connection, webhook_id: int, *, secret: str, keep_seconds: float, by: str
) -> Webhook:
    """Sign with a new secret, and for `keep_seconds` with the present one too. Raises WebhookNotFound."""
    webhook = await _one(
        connection,
        f"""UPDATE webhooks
            SET previous_secret = secret, previous_secret_until = now() + make_interval(secs => %(keep)s),
                secret = %(secret)s, updated_at = now()
            WHERE id = %(id)s RETURNING {_COLUMNS}""",
        {"id": webhook_id, "secret": secret, "keep": keep_seconds},
    )
    await _say(connection, WebhookSecretRotated, webhook, by=by)
    return webhook


async def seal_all(connection: Connection, seal: Seal) -> int:
    """Seal what is not sealed with the seal's first key; how many webhooks that were.

    One that can't be opened is left as it is: sending to it says so.
    """
    cursor = await connection.execute(
        "SELECT id, secret, previous_secret, headers FROM webhooks ORDER BY id FOR UPDATE"
    )
    sealed = 0
    for row in await cursor.fetchall():
        kept = [row["secret"], row["previous_secret"], *row["headers"].values()]
        if all(text is None or seal.is_fresh(text) for text in kept):
            continue
        with suppress(SealBroken):
            previous = row["previous_secret"]
            new = {
                "id": row["id"],
                "secret": seal.close(seal.open(row["secret"])),
                "previous": None if previous is None else seal.close(seal.open(previous)),
                "headers": Jsonb(seal.close_values(seal.open_values(row["headers"]))),
            }
            await connection.execute(
                """UPDATE webhooks
                   SET secret = %(secret)s, previous_secret = %(previous)s, headers = %(headers)s
                   WHERE id = %(id)s""",
                new,
            )
            sealed += 1
    return sealed


async def _one(connection: Connection, query: str, values: tuple[int] | dict[str, Any]) -> Webhook:
    webhook_id = values["id"] if isinstance(values, dict) else values[0]
    row = await (await connection.execute(query.encode(), values)).fetchone()
    if row is None:
        raise WebhookNotFound(f"there is no webhook {webhook_id}: GET /api/webhooks lists them")
    return Webhook.model_validate(row)


async def _say(connection: Connection, event: type[WebhookEvent], webhook: Webhook, **more: Any) -> None:
    await events.tell(connection, event(webhook_id=webhook.id, name=webhook.name, **more), role="admin")
