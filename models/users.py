"""Users: who is calling, with what scopes, and what they like. Seed 000 §4.1.

A `UserContext` is made once per request, from the verified token and the database.
"""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainSerializer

from models.errors import PermissionMissing
from models.lookalikes import fault_of
from models.scopes import Role, Scope, check_permission, parse_scope

EVERY_SCOPE = "*"
MAX_SUBJECT = 255

# In JSON a scope is its text, as everywhere that people see it.
ScopeText = Annotated[
    Scope,
    BeforeValidator(lambda value: parse_scope(value) if isinstance(value, str) else value),
    PlainSerializer(str, return_type=str, when_used="json"),
]


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Identity(_Record):
    """What a verified token says. `subject` is its `sub`, the user's name in every record.

    `issued_at` is absent where the token does not say; such a token never replaces stored scopes that a
    dated one brought.
    """

    subject: str
    name: str
    email: str
    scopes: tuple[ScopeText, ...]
    issued_at: datetime | None
    expires_at: datetime


class UserContext(_Record):
    """The caller (seed 000 §4.1): `scopes` are those of the token without the revoked ones."""

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

    def has(self, role: Role, topic: str | None = None, *, global_admin_override: bool = True) -> bool:
        """Whether the caller reaches `role` on `topic`; see `check_permission`."""
        return check_permission(self.scopes, role, topic, global_admin_override=global_admin_override)

    def require(self, role: Role, topic: str | None = None, *, global_admin_override: bool = True) -> None:
        """Raise PermissionMissing unless the caller reaches `role` on `topic`."""
        if not self.has(role, topic, global_admin_override=global_admin_override):
            wanted = f"{topic or '{topic}'}:{role}"
            raise PermissionMissing(f"this takes the scope {wanted}", scope=wanted)

    def require_global(self, role: Role) -> None:
        """Raise PermissionMissing unless the caller has `role`, or one above it, on all topics."""
        if not check_permission([scope for scope in self.scopes if scope.is_global], role):
            raise PermissionMissing(f"this takes the scope global:{role}", scope=f"global:{role}")


class User(_Record):
    """A row of `users`, as an admin sees it: scopes as last seen, and what was taken away."""

    id: int
    subject: str
    name: str
    email: str
    scopes: tuple[str, ...]
    revoked: tuple[str, ...]
    seen_at: datetime | None


class Revocation(_Record):
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
    and what is another way to write the same; `models.lookalikes.fault_of` says which it is.
    """
    fits = 0 < len(text) <= MAX_SUBJECT and text.isprintable() and text == text.strip()
    return fits and fault_of(text) is None


def effective(scopes: tuple[Scope, ...], revoked: frozenset[str]) -> tuple[Scope, ...]:
    """The scopes that are left. A revocation takes that very scope: `macro:reader` leaves `macro:admin`."""
    return () if EVERY_SCOPE in revoked else tuple(scope for scope in scopes if str(scope) not in revoked)
