"""Scopes: what is one, what is not, and the order of roles."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.scopes import ROLES, Scope, ScopeInvalid, parse_scope


def test_roles_are_ordered() -> None:
    assert ROLES == ("reader", "editor", "analyst", "admin")
    ranks = [Scope(topic="macro", role=role).rank for role in ROLES]
    assert ranks == sorted(ranks)


def test_a_topic_scope() -> None:
    scope = parse_scope("macro:analyst")
    assert (scope.topic, scope.role, scope.is_global) == ("macro", "analyst", False)


def test_a_global_scope() -> None:
    assert parse_scope("global:reader").is_global


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no colon"),
        ("macro", "no colon"),
        (":admin", "topic"),
        ("macro:", "role"),
        ("macro:root", "role"),
        ("macro:Admin", "role"),
        ("macro:admin ", "role"),
        (" macro:admin", "topic"),
        ("Macro:admin", "topic"),
        ("macro:admin:admin", "role"),
        ("a b:admin", "topic"),
        ("*:admin", "topic"),
        ("macro:admin\n", "role"),
        ("macro\n:admin", "topic"),
        ("x" * 65 + ":admin", "topic"),
    ],
)
def test_what_is_not_a_scope_is_refused_with_its_reason(text: str, told: str) -> None:
    with pytest.raises(ScopeInvalid, match=told) as caught:
        parse_scope(text)
    assert repr(text) in str(caught.value)
    assert caught.value.http_status == 422


@given(st.from_regex(r"[a-z0-9][a-z0-9_-]{0,63}", fullmatch=True), st.sampled_from(ROLES))
def test_a_scope_reads_back_as_it_was_written(topic: str, role: str) -> None:
    assert str(parse_scope(f"{topic}:{role}")) == f"{topic}:{role}"


@given(st.text())
def test_whatever_is_accepted_is_written_the_same(text: str) -> None:
    try:
        scope = parse_scope(text)
    except ScopeInvalid:
        return
    assert str(scope) == text
