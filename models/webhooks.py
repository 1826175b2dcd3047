"""Webhooks: where to say what happened, and the messages. Seed 000 §8.2, §8.3; Standard Webhooks 1.0.

At least once, never lost: a delivery keeps its id however often it is sent.
"""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict

WebhookEvent = Literal["approval_required", "article_published", "article_rejected"]
DeliveryStatus = Literal["pending", "delivered", "dead"]


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Webhook(_Record):
    """A row of `webhooks`, without its secret. `topic` absent: all topics."""

    id: int
    name: str
    event_type: WebhookEvent
    url: str
    method: Literal["POST", "PUT", "PATCH"]
    headers: dict[str, str]
    is_active: bool
    disabled_reason: str | None
    topic: str | None
    max_retries: int
    retry_delay_seconds: float
    previous_secret_until: datetime | None
    created_by: str
    created_at: datetime
    updated_at: datetime


class Delivery(_Record):
    """One message to one webhook. `id` is the `webhook-id` it is sent with, each time the same."""

    id: str
    webhook_id: int
    event_type: WebhookEvent
    body: str
    status: DeliveryStatus
    attempts: int
    next_attempt_at: datetime
    response_status: int | None
    error: str | None
    created_at: datetime
    ended_at: datetime | None
