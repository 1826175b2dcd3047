"""What the campaign's people make of gates: what they mean can be made, and their nonsense is refused."""

import random
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from actors.systems.research.gate_changes import changed_content
from models.config import load
from models.errors import InputInvalid
from models.research.gate_decisions import Modifications
from models.research.trees import Tree, TreeNode
from tests.fakes.pending import pending
from tests.faults.people import deep, gates

ROOT = Path(__file__).parents[3]
CONFIG = load(ROOT / "configs/local.yaml", root=ROOT)
TREE = Tree(
    id=3,
    title="Mills",
    nodes=(
        TreeNode(id="a", position=0, name="Mills", points=(1, 2)),
        TreeNode(id="b", position=1, name="Ice"),
        TreeNode(id="c", parent="b", position=0, name="Wheels", points=(3,)),
        TreeNode(id="d", parent="b", position=1, name="Locks", points=(4,)),
    ),
    dropped=(9,),
)
SHOWN: dict[str, dict[str, Any]] = {
    "research_unreadable": {
        "question": "How do watermills turn in winter?",
        "unreadable": [
            {"number": 3, "url": "https://example.org/login", "fault": "login", "reason": "401"},
            {"number": 6, "url": "https://example.org/gone-mirror", "fault": "not_found", "reason": "404"},
        ],
        "read": 1,
    },
    "research_tree": {
        "question": "How do watermills turn in winter?",
        "tree": TREE.model_dump(mode="json"),
        "examples": {},
    },
}


@pytest.mark.parametrize("kind", sorted(SHOWN))
def test_what_is_meant_can_be_made_and_nonsense_can_not(kind: str) -> None:
    seen = set()
    for seed in range(300):
        said = gates.answer(kind, SHOWN[kind], random.Random(seed), careless=True)
        seen.add((said.how, said.possible))
        if said.how != "modify":
            assert said.possible
            assert not said.changes
            continue
        try:
            changes = Modifications.model_validate(said.changes)
            changed_content(pending(kind, SHOWN[kind]), changes, by="bob", config=CONFIG)
        except (InputInvalid, ValidationError):
            assert not said.possible, said
        else:
            assert said.possible, said
    assert seen == {("approve", True), ("reject", True), ("modify", True), ("modify", False)}


def test_who_is_careful_means_what_can_be_made() -> None:
    drawn = [
        gates.answer("research_tree", SHOWN["research_tree"], random.Random(seed)) for seed in range(300)
    ]
    assert all(said.possible for said in drawn)


@pytest.mark.parametrize(
    ("number", "types"),
    [
        (0, {("scrape", False), ("full_pipeline", False)}),
        (1, {("full_pipeline", True), ("analyze", True), ("full_pipeline", False), ("scrape", False)}),
        (2, {("analyze", True), ("full_pipeline", True), ("analyze", False), ("scrape", False)}),
        (3, {("scrape", False), ("full_pipeline", True), ("analyze", True)}),
    ],
)
def test_each_kind_of_research_has_its_share(number: int, types: set[tuple[str, bool]]) -> None:
    drawn = [deep.asked(number, random.Random(seed)) for seed in range(200)]
    assert {(asked.task_type, asked.grows) for asked in drawn} == types
    for asked in drawn:
        body = asked.body(1, "http://site", "http://never", project=5, tree=3)
        assert ("urls" in body) == (asked.task_type != "analyze")
        assert body.get("urls", ["http://never/"])[-1].startswith("http://never/")
        assert body["config"].get("category_id") == (3 if asked.grows else None)
        # A tree is its project's.
        assert not asked.grows or body["project_id"] == 5
