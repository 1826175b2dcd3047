"""Scopes: what is one, what is not, and the one permission rule against seed 000 §5.4 and an oracle."""

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from models.errors import PermissionMissing
from models.people.scopes import (
    ROLES,
    Scope,
    ScopeInvalid,
    check_permission,
    highest_role,
    on_topics,
    parse_scope,
    read_scopes,
)
from models.tools import ToolPermission

# Seed 000 §5.4, then the tools of §6.1 that it does not name: operation, role, topic scoped, override.
MATRIX = """
    Search articles        | reader  | Yes | Yes
    Get article            | reader  | No  | Yes
    Search resources       | reader  | No  | Yes
    Get tonalities         | reader  | No  | Yes
    Create draft article   | analyst | Yes | Yes
    Write article content  | analyst | Yes | Yes
    Create text resource   | analyst | Yes | Yes
    Create table resource  | analyst | Yes | Yes
    Attach resource        | analyst | Yes | Yes
    Web search             | analyst | No  | Yes
    Submit for review      | analyst | Yes | Yes
    Request changes        | editor  | Yes | Yes
    Publish article (HITL) | editor  | Yes | Yes
    Approve publish        | editor  | Yes | Yes
    Get topic prompts      | admin   | Yes | Yes
    Edit prompts           | admin   | Yes | No
    search_text_resources  | reader  | No  | Yes
    search_table_resources | reader  | No  | Yes
    fetch_economic_data    | analyst | No  | Yes
    review_article         | editor  | Yes | Yes
"""
ROWS = [tuple(cell.strip() for cell in line.split("|")) for line in MATRIX.strip().splitlines()]
# Who holds the row may do what takes the roles in it.
HOLDS = {
    "reader": {"reader"},
    "editor": {"reader", "editor"},
    "analyst": {"reader", "editor", "analyst"},
    "admin": {"reader", "editor", "analyst", "admin"},
}
MALFORMED = (
    "{0}", ":{0}", "{0}:macro", "macro:{0}:", "macro::{0}", "macro:{0} ", " macro:{0}", "Macro:{0}", "*:{0}",
    "macro:{0}:{0}", "macro,{0}", "macro:{0}s", "global:{0}\n", "Global:{0}", "global :{0}", "a;global:{0}",
)  # fmt: skip
TOPICS = ("macro", "equity", "credit")


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


@pytest.mark.parametrize("held", ROLES)
@pytest.mark.parametrize("where", ["on the topic", "on another topic", "on all topics", "malformed"])
@pytest.mark.parametrize(("operation", "role", "scoped", "override"), ROWS, ids=[row[0] for row in ROWS])
def test_the_permission_matrix(
    operation: str, role: str, scoped: str, override: str, where: str, held: str
) -> None:
    reaches = role in HOLDS[held]
    texts, expected = {
        "on the topic": ([f"macro:{held}"], reaches),
        "on another topic": ([f"equity:{held}"], reaches and scoped == "No"),
        "on all topics": ([f"global:{held}"], reaches and override == "Yes"),
        "malformed": ([form.format(held) for form in MALFORMED], False),
    }[where]
    granted = check_permission(
        read_scopes(texts),
        role,
        "macro" if scoped == "Yes" else None,
        global_admin_override=override == "Yes",
    )
    assert granted is expected, operation


def oracle(texts: list[str], role: str, topic: str | None, *, override: bool) -> bool:
    """The rule in another way: write out all pairs of topic and role that the texts grant, and look."""
    pairs = set()
    for held, roles in HOLDS.items():
        for place in TOPICS:
            if f"{place}:{held}" in texts or (override and f"global:{held}" in texts):
                pairs |= {(place, each) for each in roles}
    return any((place, role) in pairs for place in (TOPICS if topic is None else [topic]))


well_formed = st.builds("{}:{}".format, st.sampled_from([*TOPICS, "global"]), st.sampled_from(ROLES))
nearly = st.builds(str.format, st.sampled_from(MALFORMED), st.sampled_from(ROLES))
roles = st.sampled_from(ROLES)
places = st.sampled_from([*TOPICS, None])


@given(
    st.lists(st.one_of(well_formed, nearly, st.text(max_size=20)), max_size=8), roles, places, st.booleans()
)
@example(["global:admin"], "admin", "macro", False)  # what seed §5.3 lets through
@example(["equity:admin", "global:reader"], "editor", "macro", True)
def test_no_set_of_scopes_gets_more_or_less_than_it_grants(
    texts: list[str], role: str, topic: str | None, override: bool
) -> None:
    granted = check_permission(read_scopes(texts), role, topic, global_admin_override=override)
    assert granted == oracle(texts, role, topic, override=override)


@given(st.lists(st.one_of(nearly, st.text(), st.integers(), st.none(), st.lists(st.text()))), roles, places)
def test_what_is_malformed_grants_nothing(texts: list[object], role: str, topic: str | None) -> None:
    valid = {f"{place}:{held}" for place in (*TOPICS, "global") for held in ROLES}
    assume(not any(isinstance(text, str) and text in valid for text in texts))
    assert not check_permission(
        [scope for scope in read_scopes(texts) if scope.topic in (*TOPICS, "global")], role, topic
    )


@given(st.lists(well_formed), st.lists(well_formed), roles, places, st.booleans())
def test_a_further_scope_takes_no_permission_away(
    some: list[str], more: list[str], role: str, topic: str | None, override: bool
) -> None:
    before = check_permission(read_scopes(some), role, topic, global_admin_override=override)
    after = check_permission(read_scopes(some + more), role, topic, global_admin_override=override)
    assert after >= before


@given(st.lists(well_formed), st.lists(st.sampled_from([f"global:{role}" for role in ROLES])), roles, places)
def test_without_the_override_no_global_scope_matters(
    texts: list[str], universal: list[str], role: str, topic: str | None
) -> None:
    local = [text for text in texts if not text.startswith("global:")]
    assert check_permission(
        read_scopes(local + universal), role, topic, global_admin_override=False
    ) == check_permission(read_scopes(local), role, topic, global_admin_override=False)


@pytest.mark.parametrize("topic", ["global", "", "Macro", "macro:admin", "macro ", "*"])
def test_what_is_no_topic_is_granted_to_nobody(topic: str) -> None:
    assert not check_permission(read_scopes(["global:admin", "macro:admin"]), "reader", topic)


@given(st.lists(well_formed))
def test_the_highest_role_is_on_whatever_topic(texts: list[str]) -> None:
    held = [role for role in ROLES if any(text.endswith(f":{role}") for text in texts)]
    assert highest_role(read_scopes(texts)) == (held[-1] if held else None)


def test_a_scope_that_is_wanted_on_any_topic_is_told_with_the_topics_that_there_are() -> None:
    assert on_topics("{topic}:reader", ["macro", "equity"]) == "macro:reader or equity:reader"
    assert on_topics("macro:reader", ["macro", "equity"]) == "macro:reader"


@pytest.mark.parametrize("topic_scoped", [True, False])
def test_whoever_may_use_a_tool_nowhere_is_told_of_the_topics_that_may_be_meant(topic_scoped: bool) -> None:
    permission = ToolPermission(required_role="analyst", topic_scoped=topic_scoped)
    with pytest.raises(PermissionMissing, match="start takes the scope macro:analyst or fx:analyst") as error:
        permission.require("start", read_scopes(["macro:reader"]), None, topics=["macro", "fx"])
    assert error.value.facts["scope"] == "macro:analyst fx:analyst"
