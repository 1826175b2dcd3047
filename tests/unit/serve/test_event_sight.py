"""Who is told of an event, and how much of it."""

from datetime import UTC, datetime
from typing import Any

import pytest

from models.people.scopes import read_scopes
from models.runtime.events import Event

NOTES = {"notes": "say less of the minister"}


def event(**more: Any) -> Event:
    """An event about an article of ann's."""
    told = {"type": "article.changes_requested", "topic": "macro", "role": "editor", "person": "ann"}
    facts = {"id": 1, "workflow_id": None, "data": NOTES, "at": datetime.now(UTC)}
    return Event.model_validate({**facts, **told, **more})


@pytest.mark.parametrize(
    ("scopes", "more", "seen"),
    [
        ([], {}, False),
        (["equity:admin"], {}, False),
        (["macro:reader"], {}, False),
        (["macro:editor"], {}, True),
        (["macro:analyst"], {}, True),
        (["global:editor"], {}, True),
        (["macro:analyst"], {"role": "admin"}, True),
        (["macro:analyst"], {"role": "admin", "person": "eve"}, False),
        (["macro:reader"], {"role": "reader"}, True),
        ([], {"role": "reader"}, False),
        ([], {"topic": None}, True),
        (["equity:reader"], {"topic": None}, True),
        (["equity:reader"], {"topic": None, "person": "eve"}, False),
    ],
)
def test_one_s_own_is_told_while_one_may_see_drafts_there(
    scopes: list[str], more: dict[str, Any], seen: bool
) -> None:
    assert event(**more).visible_to("ann", read_scopes(scopes)) is seen


def test_a_workflow_s_error_is_told_to_editors_of_all_topics() -> None:
    failed = event(
        type="workflow.failed", topic=None, role="reader", data={"error": "a draft of esg", "n": 1}
    )
    for scopes in (["global:reader"], ["esg:admin", "global:reader"], []):
        assert failed.as_told_to(read_scopes(scopes)).data == {"error": None, "n": 1}
    assert failed.as_told_to(read_scopes(["global:editor"])) == failed
    returned = event(data={"reason": "too long"})
    assert returned.as_told_to(read_scopes(["macro:editor"])) == returned


@pytest.mark.parametrize(
    ("waits_for", "name"),
    [
        ("model qwen3:8b at http://head:8000/llm/v1", "model qwen3:8b"),
        ("institutional memory (/srv/memory: No space left on device)", "institutional memory"),
        ("knowledge base: /srv/kb is of another model", "knowledge base"),
        ("agent writer", "agent writer"),
    ],
)
def test_where_a_model_is_is_told_to_editors_of_all_topics(waits_for: str, name: str) -> None:
    parked = event(type="workflow.parked", topic=None, role="reader", data={"waits_for": waits_for})
    assert parked.as_told_to(read_scopes(["global:reader"])).data == {"waits_for": name}
    assert parked.as_told_to(read_scopes(["global:editor"])) == parked
