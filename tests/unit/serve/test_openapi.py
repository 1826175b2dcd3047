"""What clients read in the OpenAPI description: unions by `kind` or `type`."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from actors.platform import systems
from actors.platform.systems import load
from serve.api import make_app

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def schemas() -> dict[str, Any]:
    """The description's schemas."""
    made = make_app(load(ROOT / "configs/local.yaml", root=ROOT), "postgresql://nowhere").openapi()
    found: dict[str, Any] = made["components"]["schemas"]
    return found


@pytest.mark.parametrize(
    ("union", "tag", "value", "member", "record"),
    [
        ("ApprovalDetails", "kind", "publish_article", "content", "Publication"),
        ("Task", "kind", "research_article", "result", "DraftingResult"),
        ("Task", "kind", "editorial", "result", "EditorialResult"),
        ("Event", "type", "approval.requested", "data", "ApprovalRequested"),
    ],
)
def test_what_is_json_in_the_database_has_a_record_by_its_kind(
    schemas: dict[str, Any], union: str, tag: str, value: str, member: str, record: str
) -> None:
    discriminator = schemas[union]["discriminator"]
    assert discriminator["propertyName"] == tag
    variant = schemas[discriminator["mapping"][value].rpartition("/")[2]]
    assert variant["properties"][tag] == {"type": "string", "const": value}
    assert f"#/components/schemas/{record}" in json.dumps(variant["properties"][member])
    assert schemas[record]["properties"]


def test_every_kind_of_task_and_type_of_event_is_in_its_union(schemas: dict[str, Any]) -> None:
    tasks = {kind.name for kind in systems.kinds().values() if kind.word}
    assert schemas["Task"]["discriminator"]["mapping"].keys() == tasks
    told = {event.type for event in systems.events()}
    assert schemas["Event"]["discriminator"]["mapping"].keys() == told


def test_every_reference_leads_to_a_schema(schemas: dict[str, Any]) -> None:
    for name in re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(schemas)):
        assert name in schemas
