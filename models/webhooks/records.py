"""Webhooks: where to say what happened, and the messages. Seed 000 §8.2, §8.3; Standard Webhooks 1.0.

At least once, never lost: a delivery keeps its id however often it is sent.
"""

import re
from datetime import datetime
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
)

from models.people.scopes import is_topic
from models.record import Record
from models.text import unseen_in

WebhookEvent = Literal["approval_required", "article_published", "article_rejected"]
WebhookMethod = Literal["POST", "PUT", "PATCH"]
DeliveryStatus = Literal["pending", "delivered", "dead"]

_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}\Z")
# What a message says of itself, and what the connection needs.
_OUR_HEADERS = frozenset(
    (
        *("accept-encoding", "connection", "content-encoding", "content-length", "content-type", "date"),
        *("expect", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "user-agent"),
        "x-webhook-signature",
    )
)
_HEADERS = 20
_OUR_PREFIXES = ("webhook-", "proxy-", "sec-")


def check_headers(headers: dict[str, str]) -> dict[str, str]:
    """A webhook's custom headers, unchanged (RFC 9110 §5); ValueError names the one that can't be sent."""
    if len({name.lower() for name in headers}) < len(headers):
        raise ValueError("a header is given twice: its case does not count")
    for name, value in headers.items():
        if not _HEADER_NAME.match(name):
            raise ValueError(f"{name!r} is no header's name: use letters, digits and -")
        if name.lower() in _OUR_HEADERS or name.lower().startswith(_OUR_PREFIXES):
            raise ValueError(f"the header {name} is Signoff's own: choose another name")
        if not (value.isascii() and value.isprintable()) or value != value.strip() or len(value) > 2000:
            raise ValueError(
                f"the header {name} has a value that can't be sent: use up to 2000 printable ASCII "
                "characters, without spaces at the ends"
            )
    return headers


def _not_too_many(headers: object) -> object:
    """Counted before each is looked at: each that is wrong would be told by itself."""
    if isinstance(headers, dict) and len(headers) > _HEADERS:
        raise ValueError(f"at most {_HEADERS} headers: send fewer")
    return headers


def _check_topic(topic: str) -> str:
    if not is_topic(topic):
        raise ValueError("no topic's slug: use lower-case letters, digits, - and _, or null for all topics")
    return topic


def _check_name(name: str) -> str:
    if fault := unseen_in(name, lines=False):
        raise ValueError(fault)
    return name


WebhookName = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=100),
    AfterValidator(_check_name),
]
WebhookUrl = Annotated[str, StringConstraints(min_length=1, max_length=500)]
WebhookHeaders = Annotated[
    dict[str, str],
    Field(max_length=_HEADERS),
    BeforeValidator(_not_too_many),
    AfterValidator(check_headers),
]
WebhookTopic = Annotated[str, AfterValidator(_check_topic)]
MaxRetries = Annotated[int, Field(ge=0, le=100)]
RetryDelay = Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)]


class NewWebhook(BaseModel):
    """What an admin says of a new webhook (seed 000 §8.2).

    `max_retries` counts tries after the first. Without a `secret`, one is made.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        json_schema_extra={
            "examples": [
                {
                    "name": "newsroom",
                    "event_type": "approval_required",
                    "url": "https://hooks.example.com/signoff",
                    "headers": {"Authorization": "Bearer 1f2e3d"},
                    "topic": "macro",
                    "max_retries": 5,
                    "retry_delay_seconds": 30,
                }
            ]
        },
    )

    name: WebhookName
    event_type: WebhookEvent
    url: WebhookUrl
    method: WebhookMethod = "POST"
    headers: WebhookHeaders = Field(default_factory=dict)
    is_active: bool = True
    topic: WebhookTopic | None = None
    max_retries: MaxRetries = 3
    retry_delay_seconds: RetryDelay = 60.0
    # `secret_key` is the seed's name for it.
    secret: str | None = Field(
        default=None, repr=False, validation_alias=AliasChoices("secret", "secret_key")
    )


class WebhookChange(BaseModel):
    """What an admin changes of a webhook: the fields that are set. A `topic` of null means all topics.

    `headers` replace those there are. Switched on, a webhook gets what waited for it meanwhile.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        json_schema_extra={"examples": [{"is_active": True, "url": "https://hooks.example.com/new"}]},
    )

    # The factories' values are never used: an absent field stays as it is, and null is refused.
    name: WebhookName = Field(default_factory=str)
    event_type: WebhookEvent = Field(default_factory=lambda: "approval_required")
    url: WebhookUrl = Field(default_factory=str)
    method: WebhookMethod = Field(default_factory=lambda: "POST")
    headers: WebhookHeaders = Field(default_factory=dict)
    is_active: bool = Field(default_factory=bool)
    topic: WebhookTopic | None = None
    max_retries: MaxRetries = Field(default_factory=int)
    retry_delay_seconds: RetryDelay = Field(default_factory=float)


class Webhook(Record):
    """A row of `webhooks`, without what is secret: its signing secret and its headers' values.

    `topic` absent: all topics. `disabled_reason` says why Signoff itself switched it off.
    """

    id: int
    name: str
    event_type: WebhookEvent
    url: str
    method: WebhookMethod
    header_names: tuple[str, ...]
    is_active: bool
    disabled_reason: str | None
    topic: str | None
    max_retries: int
    retry_delay_seconds: float
    previous_secret_until: datetime | None
    created_by: str
    created_at: datetime
    updated_at: datetime


class Delivery(Record):
    """One message to one webhook. `id` is the `webhook-id` it is sent with, each time the same.

    `body` is exactly the text that is sent and signed. `response_status` and `error` are the last try's.
    """

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


class DeliveryClaim(Record):
    """A dispatcher's right to send a delivery until `claimed_until`, and all that sending takes.

    What it came to is written only while `claimed_until` and `attempts` are still those of the claim.
    """

    id: str
    webhook_id: int
    attempts: int
    claimed_until: datetime
    body: str = Field(repr=False)
    url: str
    method: WebhookMethod
    headers: dict[str, str] = Field(repr=False)
    secret: str = Field(repr=False)
    previous_secret: str | None = Field(repr=False)
    max_retries: int
    retry_delay_seconds: float
