"""Webhook payloads have the fields of seed 000 §8.3, whatever else they say."""

from datetime import UTC, datetime
from typing import Any

from actors.platform.systems import load
from models.config import PublishingConfig
from models.config.publishing import ApprovalPolicy
from models.content.articles import Article, ArticleVersion
from models.content.publication import publication_content
from models.people.users import User
from models.runtime.approvals import Approval, Vote, content_digest
from models.webhooks.payloads import approval_required, article_published, article_rejected

NOW = datetime(2026, 1, 15, 10, 30, tzinfo=UTC)
SETTINGS = load("configs/local.yaml").publishing
EVE = User(
    id=45,
    subject="eve",
    name="Eve",
    email="eve@example.com",
    scopes=("macro:editor", "equity:admin"),
    revoked=(),
    seen_at=NOW,
)

REQUIRED = {
    "event": "approval_required",
    "timestamp": "2026-01-15T10:30:00Z",
    "article": {
        "id": 123,
        "topic": "macro",
        "headline": "Q4 Outlook",
        "status": "pending_approval",
        "content_preview": "word " * 100,
        "word_count": 300,
        "resource_count": 0,
        "created_at": "2026-01-15T10:30:00Z",
        "submitted_at": "2026-01-15T10:30:00Z",
    },
    "submitter": {"id": 45, "email": "eve@example.com", "name": "Eve", "role": "editor"},
    "editor_notes": "Ready.",
    "callback": {"approve_url": "http://127.0.0.1:8000/api/approvals/123", "method": "POST"},
    "ui": {"review_url": "http://127.0.0.1:8000/api/approvals/7"},
}


def article(**more: Any) -> Article:
    """An article that waits."""
    return Article(
        **{
            "id": 123,
            "topic": "macro",
            "status": "pending_approval",
            "version": 3,
            "published_version": None,
            "author": "ann",
            "approval_id": "7",
            "workflow_id": "w",
            "drafted_by": None,
            "created_at": NOW,
            "updated_at": NOW,
            "submitted_at": NOW,
            "submitted_by": "ann",
            "published_at": None,
            **more,
        }
    )


VERSION = ArticleVersion(
    written="prose",
    article_id=123,
    version=3,
    headline="Q4 Outlook",
    keywords=None,
    content="word " * 300,
    editor_report=None,
    written_by="ann",
    written_at=NOW,
    resources=(),
)


def approval(**more: Any) -> Approval:
    """The request about it."""
    content = publication_content(article(), VERSION, "Ready.")
    return Approval(
        **{
            "id": "7",
            "workflow_id": "w",
            "gate": "publication",
            "kind": "publish_article",
            "about": "article:123",
            "title": "Q4 Outlook",
            "content": content,
            "digest": content_digest(content),
            "requested_by": "eve",
            "required_scope": "macro:editor",
            "four_eyes": True,
            "quorum": 1,
            "votes": (),
            "void_reason": None,
            "status": "pending",
            "decided_by": None,
            "notes": None,
            "created_at": NOW,
            "expires_at": NOW,
            "decided_at": None,
            **more,
        }
    )


def holds(whole: dict[str, Any], part: dict[str, Any], path: str = "") -> None:
    """Every member of `part` is in `whole`, at every depth."""
    for key, value in part.items():
        if isinstance(value, dict):
            holds(whole[key], value, f"{path}{key}.")
        else:
            assert (f"{path}{key}", whole[key]) == (f"{path}{key}", value)


def test_approval_required_has_the_seed_s_fields_and_the_digest_of_what_is_decided() -> None:
    asked = approval()
    payload = approval_required(article(), VERSION, asked, EVE, SETTINGS)
    holds(payload, REQUIRED)
    assert payload["callback"]["payload_approve"] == {
        "approved": True,
        "notes": "optional",
        "digest": asked.digest,
    }
    assert payload["callback"]["payload_reject"]["approved"] is False


def test_article_published_names_who_approved() -> None:
    vote = Vote(voter="eve", decision="approve", notes="Great", at=NOW)
    settled = approval(status="approved", votes=(vote,), decided_by="eve", notes="Great")
    payload = article_published(article(status="published"), VERSION, settled, [EVE], SETTINGS)
    holds(
        payload,
        {
            "event": "article_published",
            "article": {
                "id": 123,
                "topic": "macro",
                "headline": "Q4 Outlook",
                "status": "published",
                "public_url": "http://127.0.0.1:8000/api/tools/articles/123",
            },
            "approved_by": {"id": 45, "email": "eve@example.com", "name": "Eve"},
            "approval_notes": "Great",
        },
    )


def test_article_rejected_says_why_and_by_whom_if_by_anyone() -> None:
    rejected = approval(status="rejected", decided_by="eve", notes="No")
    payload = article_rejected(article(status="editor"), VERSION, rejected, EVE, "rejected: No", SETTINGS)
    holds(payload, {"event": "article_rejected", "outcome": "rejected", "reason": "rejected: No"})
    assert payload["rejected_by"]["name"] == "Eve"
    expired = article_rejected(article(), VERSION, approval(status="expired"), None, "late", SETTINGS)
    assert expired["rejected_by"] is None


def test_links_go_to_a_web_app_where_there_is_one() -> None:
    settings = PublishingConfig(
        topics=SETTINGS.topics,
        approval=ApprovalPolicy(role="editor", quorum=1, four_eyes=True, expires_in_seconds=60.0),
        public_url="https://api.example.com/",
        ui_url="https://app.example.com",
        prompts_dir=SETTINGS.prompts_dir,
    )
    payload = approval_required(article(), VERSION, approval(), None, settings)
    assert payload["ui"] == {
        "review_url": "https://app.example.com/admin/articles/123/review",
        "article_preview_url": "https://app.example.com/preview/articles/123",
    }
    assert payload["callback"]["approve_url"] == "https://api.example.com/api/approvals/123"
    # Whoever only a batch knows has no id, but a name.
    assert payload["submitter"] == {"id": None, "subject": "eve", "email": "", "name": "eve", "role": None}
