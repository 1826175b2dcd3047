"""The outbox: messages to webhooks, written in the transaction of the change that they tell of.

A dispatcher claims what is due until a time of its own; whoever finds that time past may claim it
again. What a try came to is written only under the claim it was made under, so a late answer of a
dispatcher that lost its claim changes nothing.
"""

import json
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from psycopg.types.json import Jsonb

from models.errors import WebhookNotFound
from models.runtime.event_catalogue import WebhookDead, WebhookDisabled
from models.store import events
from models.store.database import Connection, Database
from models.webhooks.records import Delivery, DeliveryClaim, DeliveryStatus, WebhookEvent

CHANNEL = "signoff_outbox"

_COLUMNS = (
    "id, webhook_id, event_type, body, status, attempts, next_attempt_at, response_status, error, "
    "created_at, ended_at"
)
# The claim is still the dispatcher's own.
_OWN = "id = %(id)s AND status = 'pending' AND claimed_until = %(until)s AND attempts = %(attempts)s"


async def notify(connection: Connection) -> None:
    """Wake the dispatchers when the transaction commits."""
    await connection.execute("SELECT pg_notify(%s, '')", (CHANNEL,))


async def put(
    connection: Connection, event_type: WebhookEvent, topic: str | None, payload: dict[str, Any]
) -> list[str]:
    """Write a message for every active webhook of this event and topic, in the caller's transaction.

    A webhook without a topic gets those of all topics. Returns the deliveries' ids.
    """
    # The lock keeps a webhook from being deleted before the rows that refer to it are there.
    cursor = await connection.execute(
        """SELECT id FROM webhooks
           WHERE event_type = %s AND is_active AND (topic IS NULL OR topic = %s)
           ORDER BY id FOR KEY SHARE""",
        (event_type, topic),
    )
    return [await address(connection, row["id"], event_type, payload) for row in await cursor.fetchall()]


async def address(
    connection: Connection, webhook_id: int, event_type: WebhookEvent, payload: dict[str, Any]
) -> str:
    """Write a message for one webhook, in the caller's transaction: the delivery's id."""
    delivery_id = f"wh_{uuid.uuid4().hex}"
    await connection.execute(
        """INSERT INTO deliveries (id, webhook_id, event_type, body, status)
           VALUES (%s, %s, %s, %s, 'pending')""",
        (delivery_id, webhook_id, event_type, write_body(payload, delivery_id)),
    )
    await notify(connection)
    return delivery_id


def write_body(payload: dict[str, Any], delivery_id: str) -> str:
    """The JSON that is signed and sent, in ASCII: what Python's `json.dumps(…, sort_keys=True)` makes of it.

    So a receiver may check the signature over the raw body or, as the seed's did, over the body dumped anew.
    """
    # Read back first: keys that are numbers would be sorted as numbers here, and as texts there.
    plain = json.loads(json.dumps({**payload, "webhook_id": delivery_id}, allow_nan=False))
    return json.dumps(plain, sort_keys=True)


async def claim(
    database: Database, *, limit: int, per_webhook: int, busy: Mapping[int, int], lease_seconds: float
) -> list[DeliveryClaim]:
    """Take up to `limit` deliveries that are due, those of the least busy webhooks first.

    Args:
        per_webhook: how many of one webhook may be under way.
        busy: by webhook id, how many are already.
        lease_seconds: how long they are the caller's; then anybody may claim them again.
    """
    async with database.connection() as connection:
        cursor = await connection.execute(
            """
            WITH load AS (
                SELECT w.id AS webhook_id, coalesce((%(busy)s::jsonb ->> w.id::text)::int, 0) AS busy
                FROM webhooks w WHERE w.is_active
            ), ready AS (
                SELECT d.id, load.busy + row_number() OVER mine AS place, d.next_attempt_at
                FROM load CROSS JOIN LATERAL (
                    SELECT d.id, d.next_attempt_at FROM deliveries d
                    WHERE d.webhook_id = load.webhook_id AND d.status = 'pending'
                      AND d.next_attempt_at <= now()
                      -- One that ends later than any could is of a clock that was set back since.
                      AND (d.claimed_until IS NULL OR d.claimed_until <= now()
                           OR d.claimed_until > now() + make_interval(secs => 10 * %(lease)s))
                    ORDER BY d.next_attempt_at
                    LIMIT greatest(least(%(per_webhook)s - load.busy, %(limit)s), 0)
                    FOR UPDATE SKIP LOCKED
                ) d
                WINDOW mine AS (PARTITION BY load.webhook_id ORDER BY d.next_attempt_at)
            ), chosen AS (
                SELECT id FROM ready ORDER BY place, next_attempt_at LIMIT %(limit)s
            )
            UPDATE deliveries d SET claimed_until = now() + make_interval(secs => %(lease)s)
            FROM chosen, webhooks w
            WHERE d.id = chosen.id AND w.id = d.webhook_id
            RETURNING d.id, d.webhook_id, d.attempts, d.claimed_until, d.body, w.url, w.method, w.headers,
                      w.secret, w.max_retries, w.retry_delay_seconds,
                      CASE WHEN w.previous_secret_until > now() THEN w.previous_secret END AS previous_secret
            """,
            {
                "limit": limit,
                "per_webhook": per_webhook,
                "busy": Jsonb({str(webhook): count for webhook, count in busy.items()}),
                "lease": lease_seconds,
            },
        )
        return [DeliveryClaim.model_validate(row) for row in await cursor.fetchall()]


async def delivered(database: Database, claim: DeliveryClaim, *, response_status: int) -> bool:
    """The target has it. False: the claim was no longer ours, and nothing was written."""
    async with database.connection() as connection:
        return await _end(connection, claim, "delivered", response_status, None)


async def failed(
    database: Database, claim: DeliveryClaim, *, in_seconds: float, response_status: int | None, error: str
) -> bool:
    """Try it again in `in_seconds`. False: the claim was no longer ours, and nothing was written."""
    async with database.connection() as connection:
        cursor = await connection.execute(
            f"""UPDATE deliveries
                SET attempts = attempts + 1, claimed_until = NULL, response_status = %(response)s,
                    error = %(error)s, next_attempt_at = now() + make_interval(secs => %(in)s)
                WHERE {_OWN} RETURNING id""".encode(),
            {**_key(claim), "response": response_status, "error": error, "in": in_seconds},
        )
        return await cursor.fetchone() is not None


async def dead(database: Database, claim: DeliveryClaim, *, response_status: int | None, error: str) -> bool:
    """Give it up, until somebody replays it. False: the claim was no longer ours; nothing was written."""
    async with database.transaction() as connection:
        if not await _end(connection, claim, "dead", response_status, error):
            return False
        given_up = WebhookDead(webhook_id=claim.webhook_id, delivery_id=claim.id, error=error)
        await events.tell(connection, given_up, role="admin")
        return True


async def disabled(database: Database, claim: DeliveryClaim, *, response_status: int, error: str) -> bool:
    """Give it up and switch its webhook off, unless that has got another URL meanwhile.

    False: the claim was no longer ours, and nothing was written.
    """
    async with database.transaction() as connection:
        # The webhook first, as deleting it does: so the two never wait for each other.
        await connection.execute(
            "SELECT 1 FROM webhooks WHERE id = %s FOR NO KEY UPDATE", (claim.webhook_id,)
        )
        if not await _end(connection, claim, "dead", response_status, error):
            return False
        given_up = WebhookDead(webhook_id=claim.webhook_id, delivery_id=claim.id, error=error)
        await events.tell(connection, given_up, role="admin")
        cursor = await connection.execute(
            """UPDATE webhooks SET is_active = false, disabled_reason = %s, updated_at = now()
               WHERE id = %s AND url = %s AND is_active RETURNING id""",
            (error, claim.webhook_id, claim.url),
        )
        if await cursor.fetchone() is not None:
            switched_off = WebhookDisabled(**given_up.as_json())
            await events.tell(connection, switched_off, role="admin")
        return True


async def replay(connection: Connection, delivery_id: str) -> Delivery:
    """Send a delivery anew under its old id, with all its tries; one that is being sent, after that try.

    Raises WebhookNotFound.
    """
    cursor = await connection.execute(
        f"""UPDATE deliveries
            SET status = 'pending', attempts = 0, next_attempt_at = now(), ended_at = NULL
            WHERE id = %s RETURNING {_COLUMNS}""".encode(),
        (delivery_id,),
    )
    await notify(connection)
    return _found(await cursor.fetchone(), delivery_id)


async def get(connection: Connection, delivery_id: str, *, webhook_id: int | None = None) -> Delivery:
    """One delivery, of one webhook where that is given; WebhookNotFound if there is none."""
    cursor = await connection.execute(
        f"""SELECT {_COLUMNS} FROM deliveries
            WHERE id = %(id)s AND (%(webhook)s::bigint IS NULL OR webhook_id = %(webhook)s)""".encode(),
        {"id": delivery_id, "webhook": webhook_id},
    )
    return _found(await cursor.fetchone(), delivery_id)


async def of_webhook(
    connection: Connection,
    webhook_id: int,
    *,
    limit: int,
    statuses: Sequence[DeliveryStatus] = ("pending", "delivered", "dead"),
    before: Delivery | None = None,
) -> list[Delivery]:
    """A webhook's deliveries, newest first; with `before`, those after it in that order."""
    cursor = await connection.execute(
        f"""SELECT {_COLUMNS} FROM deliveries
            WHERE webhook_id = %(webhook)s AND status = ANY(%(statuses)s)
              AND (%(id)s::text IS NULL OR (created_at, id) < (%(at)s, %(id)s))
            ORDER BY created_at DESC, id DESC LIMIT %(limit)s""".encode(),
        {
            "webhook": webhook_id,
            "statuses": list(statuses),
            "id": before.id if before else None,
            "at": before.created_at if before else None,
            "limit": limit,
        },
    )
    return [Delivery.model_validate(row) for row in await cursor.fetchall()]


async def counts(connection: Connection) -> dict[str, int]:
    """How many deliveries are in each status."""
    cursor = await connection.execute("SELECT status, count(*) AS n FROM deliveries GROUP BY status")
    return {row["status"]: row["n"] for row in await cursor.fetchall()}


async def _end(
    connection: Connection,
    claim: DeliveryClaim,
    status: DeliveryStatus,
    response_status: int | None,
    error: str | None,
) -> bool:
    cursor = await connection.execute(
        f"""UPDATE deliveries
            SET status = %(status)s, attempts = attempts + 1, claimed_until = NULL,
                response_status = %(response)s, error = %(error)s, ended_at = now()
            WHERE {_OWN} RETURNING id""".encode(),
        {**_key(claim), "status": status, "response": response_status, "error": error},
    )
    return await cursor.fetchone() is not None


def _key(claim: DeliveryClaim) -> dict[str, Any]:
    return {"id": claim.id, "until": claim.claimed_until, "attempts": claim.attempts}


def _found(row: Mapping[str, Any] | None, delivery_id: str) -> Delivery:
    if row is None:
        raise WebhookNotFound(
            f"there is no delivery {delivery_id!r}: GET /api/webhooks/{{id}}/deliveries lists them"
        )
    return Delivery.model_validate(row)
