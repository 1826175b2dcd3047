"""What a person makes of a tree at its gate: which edit can't be made is said by its place."""

from typing import Any

import pytest

from actors.systems.research.gate_changes import changed_content
from models.errors import InputInvalid
from models.research.gate_decisions import Modifications
from models.research.results import TreeReview
from models.research.trees import Tree, TreeNode
from models.runtime.approvals import Approval
from tests.fakes.pending import pending
from tests.unit.outside.search_config import configured


def shown() -> Approval:
    """An approval that shows two nodes."""
    nodes = (
        TreeNode(id="a", position=0, name="Mills", points=(1,)),
        TreeNode(id="b", position=1, name="Ice", points=(2,)),
    )
    review = TreeReview(question="Who runs them?", tree=Tree(title="Mills", nodes=nodes), examples={})
    return pending("research_tree", review.model_dump(mode="json"))


def changed(*edits: dict[str, Any]) -> dict[str, Any]:
    """What somebody makes of it."""
    changes = Modifications.model_validate({"tree_edits": edits})
    return changed_content(shown(), changes, by="bob", config=configured())


def test_all_edits_are_made_in_their_order() -> None:
    made = changed(
        {"edit": "rename", "node": "a", "name": "Wheels"},
        {"edit": "merge", "into": "a", "nodes": ["b"]},
    )
    [node] = made["tree"]["nodes"]
    assert (node["name"], node["points"]) == ("Wheels", [1, 2])


def test_an_edit_that_can_t_be_made_is_named_by_its_place() -> None:
    with pytest.raises(InputInvalid, match=r"^modifications\.tree_edits\.1: "):
        changed(
            {"edit": "rename", "node": "a", "name": "Wheels"},
            {"edit": "drop", "node": "nobody"},
        )


def test_a_tree_without_a_node_is_rejected_and_not_approved() -> None:
    with pytest.raises(InputInvalid, match="no category would be left: reject the tree instead"):
        changed({"edit": "drop", "node": "a"}, {"edit": "drop", "node": "b"})
