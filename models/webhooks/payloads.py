"""What webhooks say about articles: the payloads of seed 000 §8.3, pure functions from records.

Dates are ISO 8601 in UTC with `Z`. `webhook_id` is added when a message is addressed to a webhook.
"""

from datetime import UTC, datetime
from typing import Any

from models.config import PublishingConfig
from models.content.articles import Article, ArticleVersion
from models.people.scopes import highest_role, read_scopes
from models.people.users import User
from models.runtime.approvals import Approval

_PREVIEW_CHARACTERS = 500


def approval_required(
    article: Article,
    version: ArticleVersion,
    approval: Approval,
    submitter: User | None,
    settings: PublishingConfig,
) -> dict[str, Any]:
    """Sent when publishing is asked for. The callback's payloads carry the digest of what is decided on."""
    site = settings.public_url.rstrip("/")
    return {
        "event": "approval_required",
        "timestamp": _time(approval.created_at),
        "article": {
            "id": article.id,
            "topic": article.topic,
            "headline": version.headline,
            "status": article.status,
            "version": version.version,
            "content_preview": version.content[:_PREVIEW_CHARACTERS],
            "word_count": len(version.content.split()),
            "resource_count": len(version.resources),
            "created_at": _time(article.created_at),
            "submitted_at": _time(approval.created_at),
        },
        "submitter": {**_person(approval.requested_by, submitter), "role": _role(submitter, article.topic)},
        "editor_notes": approval.content["editor_notes"],
        "approval": {
            "id": int(approval.id),
            "digest": approval.digest,
            "required_scope": approval.required_scope,
            "quorum": approval.quorum,
            "expires_at": _time(approval.expires_at),
        },
        "callback": {
            "approve_url": f"{site}/api/approvals/{article.id}",
            "method": "POST",
            "payload_approve": {"approved": True, "notes": "optional", "digest": approval.digest},
            "payload_reject": {
                "approved": False,
                "notes": "reason for rejection",
                "digest": approval.digest,
            },
        },
        "ui": {
            "review_url": _page(settings, f"/admin/articles/{article.id}/review")
            or f"{site}/api/approvals/{approval.id}",
            "article_preview_url": _page(settings, f"/preview/articles/{article.id}")
            or _article_url(settings, article.id),
        },
    }


def article_published(
    article: Article,
    version: ArticleVersion,
    approval: Approval,
    approvers: list[User | None],
    settings: PublishingConfig,
) -> dict[str, Any]:
    """Sent after publishing. `approvers` are the users of the approval's votes, in their order."""
    people = [_person(vote.voter, user) for vote, user in zip(approval.votes, approvers, strict=True)]
    return {
        "event": "article_published",
        "timestamp": _time(datetime.now(UTC)),
        "article": {
            **_short(article, version),
            "public_url": article_link(settings, article.id),
        },
        "approved_by": people[-1] if people else None,
        "approvals": people,
        "approval_notes": approval.notes,
    }


def article_rejected(
    article: Article,
    version: ArticleVersion,
    approval: Approval,
    decider: User | None,
    reason: str,
    settings: PublishingConfig,
) -> dict[str, Any]:
    """Sent when an article goes back to its editor: rejected, expired, changed meanwhile, or stopped."""
    return {
        "event": "article_rejected",
        "timestamp": _time(datetime.now(UTC)),
        "article": {**_short(article, version), "url": _article_url(settings, article.id)},
        "outcome": approval.status,
        "rejected_by": _person(approval.decided_by, decider) if approval.decided_by else None,
        "reason": reason,
    }


def article_link(settings: PublishingConfig, article_id: int) -> str:
    """Where people read an article: a page of the web app, or else the article itself."""
    return _page(settings, f"/articles/{article_id}") or _article_url(settings, article_id)


def _short(article: Article, version: ArticleVersion) -> dict[str, Any]:
    return {
        "id": article.id,
        "topic": article.topic,
        "headline": version.headline,
        "status": article.status,
        "version": version.version,
    }


def _person(subject: str, user: User | None) -> dict[str, Any]:
    """Somebody that only a batch knows has no id."""
    return {
        "id": user.id if user else None,
        "subject": subject,
        "email": user.email if user else "",
        "name": (user.name if user else "") or subject,
    }


def _role(user: User | None, topic: str) -> str | None:
    scopes = read_scopes(user.scopes) if user else ()
    return highest_role(scope for scope in scopes if scope.is_global or scope.topic == topic)


def _page(settings: PublishingConfig, path: str) -> str | None:
    return None if settings.ui_url is None else settings.ui_url.rstrip("/") + path


def _article_url(settings: PublishingConfig, article_id: int) -> str:
    return f"{settings.public_url.rstrip('/')}/api/tools/articles/{article_id}"


def _time(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
