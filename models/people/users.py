"""Users: who is calling, with what scopes, and what they like. Seed 000 §4.1.

A `UserContext` is made once per request, from the verified token and the database.
"""

from datetime import datetime
from typing import Annotated

from pydantic import BeforeValidator, PlainSerializer

from models.errors import PermissionMissing
from models.people.lookalikes import fault_of
from models.people.scopes import ROLES, Role, Scope, check_permission, highest_role, parse_scope
from models.record import Record

EVERY_SCOPE = "*"
MAX_SUBJECT = 255
# What the site itself is called in records: nobody's token may say so.
INTERNAL_NAMES = frozenset(
    (
        "batch",
        "edit_articles",
        "scrape_urls",
        "extract_knowledge",
        "index_knowledge_base",
        "signoff",
        "system",
    )
)

# In JSON a scope is its text, as everywhere that people see it.
ScopeText = Annotated[
    Scope,
    BeforeValidator(lambda value: parse_scope(value) if isinstance(value, str) else value),
    PlainSerializer(str, return_type=str, when_used="json"),
]


class Identity(Record):
    """What a verified token says. `subject` is its `sub`, the user's name in every record.

    `client` is whom the token was made for (`azp`, or `client_id`), '' where it does not say; `issued_at` is
    absent where it does not say. `decides`: it is a person's own, and may decide on approvals.
    """

    subject: str
    name: str
    email: str
    scopes: tuple[ScopeText, ...]
    issued_at: datetime | None
    expires_at: datetime
    client: str = ""
    decides: bool = False


class UserContext(Record):
    """The caller (seed 000 §4.1): `scopes` are those of the token that are not taken away.

    `decides`: the token is one that approvals are decided with (`auth.decide`).
    """

    user_id: int
    subject: str
    name: str
    email: str
    scopes: tuple[ScopeText, ...]
    role: Role | None
    selected_chat_tonality_id: int | None = None
    selected_content_tonality_id: int | None = None
    chat_tonality_text: str | None = None
    content_tonality_text: str | None = None
    expires_at: datetime | None = None
    decides: bool = False

    def has(self, role: Role, topic: str | None = None, *, global_admin_override: bool = True) -> bool:
        """Whether the caller reaches `role` on `topic`; see `check_permission`."""
        return check_permission(self.scopes, role, topic, global_admin_override=global_admin_override)

    def require(self, role: Role, topic: str | None = None, *, global_admin_override: bool = True) -> None:
        """Raise PermissionMissing unless the caller reaches `role` on `topic`."""
        if not self.has(role, topic, global_admin_override=global_admin_override):
            wanted = f"{topic or '{topic}'}:{role}"
            raise PermissionMissing(f"this takes the scope {wanted}", scope=wanted)

    def on(self, topic: str) -> "UserContext":
        """The same person with nothing but what they have on one topic: they see what its own people see."""
        scopes = tuple(Scope(topic=topic, role=role) for role in ROLES if self.has(role, topic))[-1:]
        return self.model_copy(update={"scopes": scopes, "role": highest_role(scopes)})

    def require_global(self, role: Role) -> None:
        """Raise PermissionMissing unless the caller has `role`, or one above it, on all topics."""
        if not check_permission([scope for scope in self.scopes if scope.is_global], role):
            raise PermissionMissing(f"this takes the scope global:{role}", scope=f"global:{role}")


class User(Record):
    """A row of `users`, as an admin sees it: the scopes they are known to have, and what was revoked."""

    id: int
    subject: str
    name: str
    email: str
    scopes: tuple[str, ...]
    revoked: tuple[str, ...]
    seen_at: datetime | None


class Revocation(Record):
    """A scope taken away from a user, `*` for all of them, whatever their token says."""

    user_id: int
    subject: str
    scope: str
    reason: str
    revoked_by: str
    revoked_at: datetime


def is_subject(text: str) -> bool:
    """Whether `text` can name a person: 1 to 255 printable characters, without spaces at its ends.

    Two names that look alike are one person to whoever reads an approval, so what can't be seen is refused,
    and what is another way to write the same; `models.people.lookalikes.fault_of` says which it is.
    """
    fits = 0 < len(text) <= MAX_SUBJECT and text.isprintable() and text == text.strip()
    return fits and fault_of(text) is None


def is_internal(text: str) -> bool:
    """Whether records call something of the site's own so, however it is capitalised."""
    return text.casefold() in INTERNAL_NAMES


def effective(
    scopes: tuple[Scope, ...], revoked: frozenset[str], listed: tuple[Scope, ...] | None = None
) -> tuple[Scope, ...]:
    """The scopes that are left. A revocation takes that very scope: `macro:reader` leaves `macro:admin`.

    Args:
        listed: what a source of grants says the person has; a scope below one of these is left. None: there
            is no such source.
    """
    if EVERY_SCOPE in revoked:
        return ()
    left = tuple(scope for scope in scopes if str(scope) not in revoked)
    return left if listed is None else tuple(scope for scope in left if _within(scope, listed))


def _within(scope: Scope, listed: tuple[Scope, ...]) -> bool:
    if scope.is_global:
        return check_permission([each for each in listed if each.is_global], scope.role)
    return check_permission(listed, scope.role, scope.topic)
