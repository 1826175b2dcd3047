"""What a person does to a tree: nodes are renamed, merged, moved and dropped, in the order that he says.

Called by the gate on categories. All edits are applied, or none: the first that can't be says why, with its
number. No point is lost: what was in a dropped node is dropped, and the tree keeps which.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from actors.systems.research.tree.relating import remapped
from models.errors import InputInvalid
from models.research.tree_edits import DropNode, MergeNodes, MoveNode, RenameNode, TreeEdit
from models.research.trees import (
    MOST_CHILDREN,
    MOST_LEVELS,
    MOST_NAME,
    NamedBy,
    Tree,
    TreeNode,
    name_key,
    plain_name,
)
from models.text import cut, shortened


def edited(tree: Tree, edits: Sequence[TreeEdit]) -> Tree:
    """The tree after all edits.

    Raises:
        InputInvalid: an edit can't be done: `facts["edit"]` is its number, from 1.
    """
    editing = _Editing(tree)
    for number, edit in enumerate(edits, 1):
        editing.apply(number, edit)
    return editing.result()


@dataclass
class _EditedNode:
    id: str
    parent: str | None
    name: str
    named_by: NamedBy
    points: list[int]
    children: list[str] = field(default_factory=list)


class _Editing:
    """A tree under edit, and what has become of nodes that it has no more."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._nodes: dict[str, _EditedNode] = {}
        self._top: list[str] = []
        self._dropped = list(tree.dropped)
        self._merged: dict[str, str] = {}
        self._gone: dict[str, str] = {}
        self._number = 0
        for node in tree.nodes:
            self._nodes[node.id] = _EditedNode(
                node.id, node.parent, node.name, node.named_by, list(node.points)
            )
            self._siblings(node.parent).append(node.id)

    def apply(self, number: int, edit: TreeEdit) -> None:
        """Do one edit, or raise."""
        self._number = number
        match edit:
            case RenameNode():
                self._rename(self._node(edit.node), edit.name)
            case MergeNodes():
                self._merge(edit)
            case MoveNode():
                self._move(self._node(edit.node), edit.under)
            case DropNode():
                self._drop(self._node(edit.node))

    def result(self) -> Tree:
        """The tree as it is now."""
        now = {node.id: self._now(node.id) for node in self._tree.nodes}
        dropped = tuple(sorted(self._dropped))
        return Tree(
            id=self._tree.id,
            title=self._tree.title,
            nodes=tuple(self._in_order(self._top)),
            relations=remapped(self._tree.relations, now, set(dropped)),
            dropped=dropped,
            making=self._tree.making,
        )

    def _rename(self, node: _EditedNode, wanted: str) -> None:
        name = plain_name(cut(wanted, 20 * MOST_NAME))
        if not name:
            self._refuse("name: it is empty, or nothing of it can be seen: give one")
        if len(name) > MOST_NAME:
            self._refuse(f"name: it has {len(name)} characters, give at most {MOST_NAME}")
        if any(
            other != node.id and name_key(self._nodes[other].name) == name_key(name)
            for other in self._siblings(node.parent)
        ):
            self._refuse(f"name: a node beside it is named {_shown(name)}: give another, or merge the two")
        node.name, node.named_by = name, "person"

    def _merge(self, edit: MergeNodes) -> None:
        into = self._node(edit.into, "into")
        named = {into.id}
        for id_ in edit.nodes:
            self._node(id_, "nodes")
            if id_ in named:
                self._refuse(f"nodes: {id_} is named twice: name each node once")
            named.add(id_)
        for id_ in edit.nodes:
            node = self._nodes[id_]
            if id_ in self._path(into.id):
                self._refuse(f"nodes: {id_} lies above {into.id}: merge {into.id} into {id_} instead")
            self._siblings(node.parent).remove(id_)
            into.points += node.points
            into.children += node.children
            for child in node.children:
                self._nodes[child].parent = into.id
            self._merged[id_] = into.id
            self._take_out(id_, f"merged it into {into.id}")
        self._check_room(into.id)

    def _move(self, node: _EditedNode, under: str | None) -> None:
        if under is not None:
            self._node(under, "under")
            if node.id in self._path(under):
                self._refuse(f"under: {under} is {node.id}, or lies below it: move {under} out of it first")
        if under == node.parent:
            return
        self._siblings(node.parent).remove(node.id)
        self._siblings(under).append(node.id)
        node.parent = under
        self._check_room(under)

    def _drop(self, node: _EditedNode) -> None:
        self._siblings(node.parent).remove(node.id)
        for id_ in self._with_all_below(node.id):
            self._dropped += self._nodes[id_].points
            self._take_out(id_, f"dropped {'it' if id_ == node.id else node.id}")

    def _check_room(self, id_: str | None) -> None:
        """Whether what has come under a node may be there."""
        where = "the top" if id_ is None else f"{id_} ({_shown(self._nodes[id_].name)})"
        children = self._siblings(id_)
        if len(children) > MOST_CHILDREN:
            self._refuse(
                f"{len(children)} nodes would lie below {where}, and there is room for {MOST_CHILDREN}: "
                "merge or move some of them first"
            )
        named: dict[str, str] = {}
        for child in children:
            other = named.setdefault(name_key(self._nodes[child].name), child)
            if other != child:
                self._refuse(
                    f"two nodes below {where} would be named {_shown(self._nodes[child].name)}: "
                    f"rename {child} or {other} first, or merge the two"
                )
        levels = (0 if id_ is None else len(self._path(id_))) + max(map(self._height, children), default=0)
        if levels > MOST_LEVELS:
            self._refuse(
                f"nodes below {where} would lie {levels} levels deep, and {MOST_LEVELS} are allowed: "
                "move it higher, or merge nodes in it first"
            )

    def _node(self, id_: str, key: str = "node") -> _EditedNode:
        if id_ not in self._nodes:
            became = f" ({self._gone[id_]})" if id_ in self._gone else ""
            self._refuse(f"{key}: the tree has no node {_shown(id_)}{became}: name one that it has")
        return self._nodes[id_]

    def _refuse(self, reason: str) -> NoReturn:
        raise InputInvalid(f"edit {self._number}: {reason}; no edit was applied", edit=self._number)

    def _siblings(self, parent: str | None) -> list[str]:
        return self._top if parent is None else self._nodes[parent].children

    def _path(self, id_: str) -> list[str]:
        """A node, and those that it lies in."""
        found = [id_]
        while (parent := self._nodes[found[-1]].parent) is not None:
            found.append(parent)
        return found

    def _height(self, id_: str) -> int:
        return 1 + max(map(self._height, self._nodes[id_].children), default=0)

    def _with_all_below(self, id_: str) -> list[str]:
        found = [id_]
        for each in found:
            found += self._nodes[each].children
        return found

    def _take_out(self, id_: str, how: str) -> None:
        self._gone[id_] = f"edit {self._number} {how}"
        del self._nodes[id_]

    def _now(self, id_: str) -> str | None:
        """What has become of a node."""
        while id_ in self._merged:
            id_ = self._merged[id_]
        return id_ if id_ in self._nodes else None

    def _in_order(self, siblings: Sequence[str]) -> Iterator[TreeNode]:
        for position, id_ in enumerate(siblings):
            node = self._nodes[id_]
            yield TreeNode(
                id=id_,
                parent=node.parent,
                position=position,
                name=node.name,
                named_by=node.named_by,
                points=tuple(sorted(node.points)),
            )
            yield from self._in_order(node.children)


def _shown(text: str) -> str:
    return shortened(cut(text, 200), 60)
