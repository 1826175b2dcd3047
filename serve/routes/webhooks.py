"""Webhooks over HTTP: make, list, change, try out and take away; see what was sent, and send it again.

All take `global:admin`. A secret is told once, when it is made; the values of headers never are.
"""

from datetime import UTC, datetime
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from actors.platform.runtime.webhook_message import check_secret, new_secret
from actors.platform.web.url_guard import check_url
from models.config import Config
from models.errors import InputInvalid, WebhookInactive
from models.store import outbox, webhooks
from models.store.database import Database
from models.webhooks.records import Delivery, DeliveryStatus, NewWebhook, Webhook, WebhookChange
from models.webhooks.sealing import Seal
from serve.auth.caller import Caller
from serve.problems import problem_responses

router = APIRouter(
    prefix="/api/webhooks",
    tags=["webhooks"],
    responses=problem_responses(401, 403, 503),
    generate_unique_id_function=lambda route: route.name,
)

WebhookId = Annotated[int, Path(ge=1, le=2**63 - 1)]
DeliveryId = Annotated[str, Path(max_length=100)]


class WebhookWithSecret(Webhook):
    """A webhook with its new secret, which is shown this once."""

    secret: str


class Rotation(BaseModel):
    """The secret to sign with from now on. Without it, one is made."""

    model_config = ConfigDict(extra="forbid", strict=True, json_schema_extra={"examples": [{}]})

    secret: str | None = Field(default=None, repr=False)


class Sent(BaseModel):
    """The delivery that a test message went into the outbox as."""

    delivery_id: str


@router.post("", status_code=201, responses=problem_responses(422))
async def create_webhook(request: Request, caller: Caller, new: NewWebhook) -> WebhookWithSecret:
    """Make a webhook. The answer tells its secret, this once. Takes `global:admin`.

    Names in the URL are resolved, and their addresses checked, whenever something is sent.
    """
    caller.require_global("admin")
    config: Config = request.app.state.config
    _check_url_and_topic(config, new.url, new.topic)
    secret = new_secret() if new.secret is None else check_secret(new.secret)
    seal = Seal(config.webhooks.sealing_keys)
    database: Database = request.app.state.database
    async with database.transaction() as connection:
        webhook = await webhooks.create(
            connection,
            new.model_copy(update={"headers": seal.close_values(new.headers)}),
            secret=seal.close(secret),
            created_by=caller.subject,
        )
    return WebhookWithSecret(**webhook.model_dump(), secret=secret)


@router.get("")
async def list_webhooks(request: Request, caller: Caller) -> list[Webhook]:
    """Every webhook, oldest first. Takes `global:admin`."""
    caller.require_global("admin")
    database: Database = request.app.state.database
    async with database.connection() as connection:
        return await webhooks.read_all(connection)


@router.get("/{webhook_id}", responses=problem_responses(404, 422))
async def get_webhook(request: Request, caller: Caller, webhook_id: WebhookId) -> Webhook:
    """One webhook. Takes `global:admin`."""
    caller.require_global("admin")
    database: Database = request.app.state.database
    async with database.connection() as connection:
        return await webhooks.get(connection, webhook_id)


@router.patch("/{webhook_id}", responses=problem_responses(404, 422))
async def change_webhook(
    request: Request, caller: Caller, webhook_id: WebhookId, changes: WebhookChange
) -> Webhook:
    """Change what the body names; the rest stays as it is. Takes `global:admin`."""
    caller.require_global("admin")
    config: Config = request.app.state.config
    url = changes.url if "url" in changes.model_fields_set else None
    _check_url_and_topic(config, url, changes.topic)
    if "headers" in changes.model_fields_set:
        sealed = Seal(config.webhooks.sealing_keys).close_values(changes.headers)
        changes = changes.model_copy(update={"headers": sealed})
    database: Database = request.app.state.database
    async with database.transaction() as connection:
        if url is not None and "headers" not in changes.model_fields_set:
            known = await webhooks.get(connection, webhook_id)
            if _place(known.url) != _place(url):
                # They were for the other place: credentials, for one.
                changes = changes.model_copy(update={"headers": {}})
        return await webhooks.change(connection, webhook_id, changes, by=caller.subject)


@router.delete("/{webhook_id}", status_code=204, responses=problem_responses(404, 422))
async def delete_webhook(request: Request, caller: Caller, webhook_id: WebhookId) -> None:
    """Take a webhook away, with its deliveries, also those not sent yet. Takes `global:admin`."""
    caller.require_global("admin")
    database: Database = request.app.state.database
    async with database.transaction() as connection:
        await webhooks.delete(connection, webhook_id, by=caller.subject)


@router.post("/{webhook_id}/rotate-secret", responses=problem_responses(404, 422))
async def rotate_webhook_secret(
    request: Request, caller: Caller, webhook_id: WebhookId, rotation: Rotation | None = None
) -> WebhookWithSecret:
    """Sign with a new secret, told this once, and for a while with the old one too. Takes `global:admin`.

    Until `previous_secret_until`, `webhook-signature` holds a signature by each; `X-Webhook-Signature` is
    by the new one. A second rotation ends the first secret at once.
    """
    caller.require_global("admin")
    config: Config = request.app.state.config
    chosen = rotation.secret if rotation else None
    secret = new_secret() if chosen is None else check_secret(chosen)
    database: Database = request.app.state.database
    async with database.transaction() as connection:
        webhook = await webhooks.rotate(
            connection,
            webhook_id,
            secret=Seal(config.webhooks.sealing_keys).close(secret),
            keep_seconds=config.webhooks.rotation_seconds,
            by=caller.subject,
        )
    return WebhookWithSecret(**webhook.model_dump(), secret=secret)


@router.post("/{webhook_id}/test", status_code=202, responses=problem_responses(404, 409, 422))
async def test_webhook(request: Request, caller: Caller, webhook_id: WebhookId) -> Sent:
    """Send a message whose event is `test`, as any other: signed, and retried. Takes `global:admin`."""
    caller.require_global("admin")
    database: Database = request.app.state.database
    async with database.transaction() as connection:
        webhook = await webhooks.get(connection, webhook_id)
        if not webhook.is_active:
            raise WebhookInactive(f"webhook {webhook_id} is switched off: PATCH it with is_active true first")
        payload = {
            "event": "test",
            "timestamp": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "webhook": {"id": webhook.id, "name": webhook.name, "event_type": webhook.event_type},
        }
        sent = await outbox.address(connection, webhook.id, webhook.event_type, payload)
    return Sent(delivery_id=sent)


@router.get("/{webhook_id}/deliveries", responses=problem_responses(404, 422))
async def list_deliveries(
    request: Request,
    caller: Caller,
    webhook_id: WebhookId,
    status: Annotated[DeliveryStatus | None, Query(description="Those in this status only.")] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    before: Annotated[str | None, Query(max_length=100, description="The id of a delivery.")] = None,
) -> list[Delivery]:
    """What was sent or is to be, newest first; `before` goes on from a delivery. Takes `global:admin`."""
    caller.require_global("admin")
    database: Database = request.app.state.database
    async with database.connection() as connection:
        await webhooks.get(connection, webhook_id)
        return await outbox.of_webhook(
            connection,
            webhook_id,
            limit=limit,
            statuses=("pending", "delivered", "dead") if status is None else (status,),
            before=None if before is None else await outbox.get(connection, before, webhook_id=webhook_id),
        )


@router.post(
    "/{webhook_id}/deliveries/{delivery_id}/replay", status_code=202, responses=problem_responses(404, 422)
)
async def replay_delivery(
    request: Request, caller: Caller, webhook_id: WebhookId, delivery_id: DeliveryId
) -> Delivery:
    """Send a delivery again, under its id and with all its retries. Takes `global:admin`.

    One that waits for its next try is tried now. While the webhook is switched off it waits.
    """
    caller.require_global("admin")
    database: Database = request.app.state.database
    async with database.transaction() as connection:
        await outbox.get(connection, delivery_id, webhook_id=webhook_id)
        return await outbox.replay(connection, delivery_id)


def _check_url_and_topic(config: Config, url: str | None, topic: str | None) -> None:
    if url is not None:
        check_url(url, config.outgoing.allow_internal)
    if topic is not None and topic not in config.publishing.topics:
        raise InputInvalid(
            f"topic: there is no topic {topic!r}: use one of {', '.join(config.publishing.topics)}, "
            "or null for all"
        )


def _place(url: str) -> tuple[str, str]:
    """Who is spoken to: the scheme, and the host with its port."""
    parts = urlsplit(url)
    return parts.scheme.lower(), parts.netloc.rpartition("@")[2].lower()
