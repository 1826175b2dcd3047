"""Roles and scopes: who may do what, on which topic. Pure; every door and every resume asks here.

A scope is written `{topic}:{role}` or `global:{role}`. Roles are ordered: who has one has all below it.
`check_permission` is the one rule (seed 000 §5.3).
"""

import re
from collections.abc import Iterable
from typing import Literal, get_args

from models.errors import SignoffError
from models.record import Record

Role = Literal["reader", "editor", "analyst", "admin"]
# Lowest first.
ROLES: tuple[Role, ...] = get_args(Role)
GLOBAL = "global"
_TOPIC = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}\Z")


class ScopeInvalid(SignoffError):
    """A text is not a scope."""

    http_status = 422


class Scope(Record):
    """A role on one topic, or on all of them (`topic` is `global`)."""

    topic: str
    role: Role

    def __str__(self) -> str:
        return f"{self.topic}:{self.role}"

    @property
    def is_global(self) -> bool:
        """Whether it holds for every topic."""
        return self.topic == GLOBAL

    @property
    def rank(self) -> int:
        """The role's place among the roles, 0 for the lowest."""
        return ROLES.index(self.role)


def parse_scope(text: str) -> Scope:
    """Read `{topic}:{role}` or `global:{role}`. Nothing is guessed: case and spaces count.

    Raises:
        ScopeInvalid: the message names the text, the part that is wrong and what is allowed.
    """
    topic, colon, role = text.partition(":")
    if not colon:
        raise ScopeInvalid(f"the scope {text!r} has no colon: write topic:role or global:role")
    if not _TOPIC.match(topic):
        raise ScopeInvalid(
            f"the scope {text!r} has the topic {topic!r}: use lower-case letters, digits, - and _, "
            f"or {GLOBAL} for all topics"
        )
    for known in ROLES:
        if role == known:
            return Scope(topic=topic, role=known)
    raise ScopeInvalid(f"the scope {text!r} has the role {role!r}: use one of {', '.join(reversed(ROLES))}")


def read_scopes(texts: Iterable[object]) -> tuple[Scope, ...]:
    """The scopes among `texts`, in order and without repeats. What is malformed grants nothing."""
    found: dict[Scope, None] = {}
    for text in texts:
        try:
            found[parse_scope(text if isinstance(text, str) else "")] = None
        except ScopeInvalid:
            continue
    return tuple(found)


def is_topic(text: str) -> bool:
    """Whether `text` can name a topic. `global` can't: it means all of them."""
    return text != GLOBAL and _TOPIC.match(text) is not None


def on_topics(scope: str, topics: Iterable[str]) -> str:
    """A scope `{topic}:…` that is wanted on any topic, with the topics that there are, for people."""
    return " or ".join(dict.fromkeys(scope.replace("{topic}", topic) for topic in topics)) or scope


def check_permission(
    scopes: Iterable[Scope],
    required_role: Role,
    topic: str | None = None,
    *,
    global_admin_override: bool = True,
) -> bool:
    """Whether `scopes` reach `required_role` (seed 000 §5.3).

    Args:
        topic: what the role is needed on. None: on any topic.
        global_admin_override: when false, a `global:` scope does not count at all: even `global:admin`
            needs the role on the topic itself (§6.1, `edit_prompts`). The seed's algorithm let any
            `global:` scope through its topic check here.
    """
    wanted = ROLES.index(required_role)
    if topic is not None and not is_topic(topic):
        return False
    return any(
        scope.rank >= wanted
        for scope in scopes
        if (global_admin_override if scope.is_global else topic in (None, scope.topic))
    )


def highest_role(scopes: Iterable[Scope]) -> Role | None:
    """The highest role among `scopes`, on whatever topic; None when there is none."""
    return max(scopes, key=lambda scope: scope.rank).role if (scopes := tuple(scopes)) else None
