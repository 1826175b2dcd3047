"""A person's approvals over HTTP: listing them, reading them, deciding on them.

`signoff approvals`, `approve` and `reject` use it, and the demo.
"""

import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict

from cluster.cli.door import Door
from cluster.cli.gated.any_kind import content_schema
from cluster.cli.gated.schemas import Schema
from cluster.cli.login import login
from cluster.cli.remembered_scopes import chosen_scopes
from cluster.cli.tokens import mint_token
from models.config import Config
from models.errors import ApprovalNotFound, ConfigInvalid
from models.runtime.approvals import ApprovalDetails, ApprovalStatus, ApprovalSummary

_PAGE = 200


class ServerAnswer(BaseModel):
    """What an endpoint answers, as far as it is needed here: a newer Signoff may say more."""

    model_config = ConfigDict(frozen=True)


class Standing(ServerAnswer):
    """Where an approval stands after a decision. `pending`: it takes more people."""

    status: ApprovalStatus
    approved_by: tuple[str, ...]
    quorum: int


class _ArticleStatus(ServerAnswer):
    status: str


class _ArticleReply(ServerAnswer):
    article: _ArticleStatus


class Inbox:
    """What one person may decide or asked for, by that door; a context manager."""

    def __init__(self, door: Door) -> None:
        self._door = door
        self.url = door.url

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._door.__exit__()

    def listed(
        self,
        *,
        statuses: Iterable[ApprovalStatus] = ("pending",),
        kind: str | None = None,
        topic: str | None = None,
    ) -> list[ApprovalSummary]:
        """The approvals in these statuses, oldest first."""
        found: dict[str, ApprovalSummary] = {}
        for status in statuses:
            asked = {"status": status, "kind": kind, "topic": topic, "limit": _PAGE}
            query = {name: value for name, value in asked.items() if value is not None}
            for offset in range(0, 1_000_000, _PAGE):
                page = self._door.ask(
                    list[ApprovalSummary], "GET", "/api/approvals", params={**query, "offset": offset}
                )
                found.update((approval.id, approval) for approval in page)
                if len(page) < _PAGE:
                    break
        return sorted(found.values(), key=lambda approval: (approval.created_at, approval.id))

    def get(self, approval_id: str) -> ApprovalDetails:
        """One approval.

        Raises:
            ApprovalNotFound: this can't be an approval's id.
            RequestRefused: there is none, or none that this person may see.
        """
        return self._door.ask(ApprovalDetails, "GET", f"/api/approvals/{_id(approval_id)}")

    def content_schema(self, kind: str) -> Schema:
        """What the contents of an approval of that kind hold, with titles; empty where nobody says."""
        return content_schema(self._door, kind)

    def decide(
        self, approval_id: str, decision: Literal["approve", "reject"], *, digest: str, notes: str | None
    ) -> Standing:
        """Decide on what has this digest.

        Raises:
            RequestRefused: nothing has changed. `changes` among its facts says what is not as it was.
        """
        body = {"decision": decision, "digest": digest, "notes": notes}
        return self._door.ask(
            Standing,
            "POST",
            f"/api/approvals/{_id(approval_id)}/decision",
            json=body,
            unsure="whether the decision was taken, `signoff approvals --all` says",
        )

    def article_status(self, article_id: int) -> str:
        """Where an article stands, as far as this person may see."""
        return self._door.ask(_ArticleReply, "GET", f"/api/tools/articles/{article_id}").article.status


def read_token(path: str) -> str:
    """The token in a file, or on stdin for `-`. The file is named, and never what is in it."""
    try:
        token = (sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8")).strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise ConfigInvalid(f"--token-file {path}: can't be read: {reason}") from error
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise ConfigInvalid(f"--token-file {path}: it must hold one token, a JWT, and nothing else")
    return token


def development_token(
    config: Config,
    user: str | None,
    scopes: str | None,
    *,
    default: str,
    decides: bool = False,
) -> str:
    """A token for `user` (by default whoever is logged in here) with `scopes`, which commas separate.

    Without `scopes`: those that the person chose last, or `default`. `decides`: to decide on approvals with.

    Raises:
        ConfigInvalid: there is no `auth.secret` to sign with, or no user. ScopeInvalid, ClusterProblem.
    """
    if config.auth.secret is None:
        raise ConfigInvalid(
            "auth.secret is not set, so no token can be made here: give --token-file PATH with one from the "
            "issuer whose keys auth.jwks names"
        )
    person = login("--user") if user is None else user
    wanted = chosen_scopes(config.data_dir, person, scopes, default=default)
    return mint_token(config.auth, user=person, scopes=wanted, now=datetime.now(UTC), decides=decides)


def _id(text: str) -> str:
    """It goes into a path."""
    if text.isascii() and text.replace("-", "").isalnum():
        return text
    raise ApprovalNotFound(f"{text!r} is no approval's id: `signoff approvals` lists them")
