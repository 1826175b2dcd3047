"""A tree grows: points that it does not have come to the nodes that they are near to, or make new ones.

Called by whoever makes a tree (an empty one grows) and by whoever adds points to one. Nodes keep their ids,
names, places and points, and what a person dropped stays dropped: the same points again change nothing.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from actors.systems.research.tree.clustering import Cluster, clusters
from actors.systems.research.tree.own_names import own_names
from actors.systems.research.tree.relating import relations
from actors.systems.research.tree.vectors import by_id
from models.errors import InputInvalid
from models.record import Record
from models.research.trees import MOST_TITLE, Tree, TreeMaking, TreeNode, TreePoint, arranged, plain_name
from models.text import shortened

if TYPE_CHECKING:
    import numpy

# A point is near enough to a node when it is as near as nine of ten of the points in nodes are to theirs.
_STRAYS = 0.1
# Where that can't be told, because the tree has few points; and what is never near enough.
_NEAR, _FAR = 0.5, 0.25
_FEW = 10
_DIGITS = 12


class Growth(Record):
    """A tree that has grown. Of the points that were new, `joined` came to nodes that they are near to.

    `crowded` came to the nearest node though they are not near to it: there was no room for a new one.
    `gathered` are in the nodes `new`.
    """

    tree: Tree
    joined: int
    crowded: int
    gathered: int
    new: tuple[str, ...]


class _Places(NamedTuple):
    """Nodes that points may come to, and their middles, a row of length 1 for each."""

    nodes: list[str]
    middles: numpy.ndarray


def empty_tree(title: str, making: TreeMaking | None = None) -> Tree:
    """A tree without nodes, which is made by growing.

    Raises:
        InputInvalid: nothing of the title can be seen.
    """
    name = shortened(plain_name(title[: 10 * MOST_TITLE]), MOST_TITLE)
    if not name:
        raise InputInvalid("title: it is empty, or nothing of it can be seen: give one")
    return Tree(title=name, making=making or TreeMaking())


def grown(
    tree: Tree, points: Sequence[TreePoint], vectors: numpy.ndarray, *, below: str | None = None
) -> Growth:
    """The tree with all points that it did not have; in nodes below one, or in that one, where it is named.

    Args:
        points: old and new ones; the old ones show where their nodes lie.
        vectors: a row of any length for each of `points`.
        below: the node under which new points go: the `category_id` of seed 002 §6.2.

    Raises:
        InputInvalid: there is no such node, or no room, nor a node to come to.
        ValueError: there is not one finite vector for each point, or two points have one id.
    """
    ordered, units = by_id(points, vectors)
    levels = tree.levels
    if below is not None and below not in levels:
        raise InputInvalid(f"category_id: the tree has no node {below}, name one of its nodes or none")
    held = {point for node in tree.nodes for point in node.points}
    gone = held.union(tree.dropped)
    fresh = [row for row, point in enumerate(ordered) if point.id not in gone]
    growing = _Growing(tree, ordered, units, below)
    rest, joined = growing.join(fresh)
    made = growing.gather(rest)
    crowded = 0 if made is not None else growing.crowd(rest)
    new = made or []
    nodes = arranged([*growing.old(), *new])
    grown_tree = Tree(
        id=tree.id,
        title=tree.title,
        nodes=nodes,
        relations=relations(nodes, ordered, tree.relations),
        dropped=tree.dropped,
        making=tree.making,
    )
    return Growth(
        tree=grown_tree,
        joined=joined,
        crowded=crowded,
        gathered=len(fresh) - joined - crowded,
        new=tuple(node.id for node in new),
    )


class _Growing:
    """A tree, its points' vectors, and what comes to each of its nodes."""

    def __init__(
        self, tree: Tree, points: list[TreePoint], vectors: numpy.ndarray, below: str | None
    ) -> None:
        self._tree = tree
        self._points = points
        self._vectors = vectors
        self._below = below
        self._row = {point.id: row for row, point in enumerate(points)}
        self._coming: dict[str, list[int]] = defaultdict(list)
        self._places = self._open_nodes()

    def old(self) -> Iterator[TreeNode]:
        """The tree's nodes, with what has come to each."""
        for node in self._tree.nodes:
            coming = [self._points[row].id for row in self._coming[node.id]]
            yield node.model_copy(update={"points": tuple(sorted([*node.points, *coming]))})

    def join(self, rows: list[int]) -> tuple[list[int], int]:
        """Have points come to the nodes that they are near to: the rest, and how many came."""
        if not rows or not self._places.nodes:
            return rows, 0
        least = self._least()
        rest = []
        for row, (node, cosine) in zip(rows, self._nearest(rows), strict=True):
            if cosine >= least:
                self._coming[node].append(row)
            else:
                rest.append(row)
        return rest, len(rows) - len(rest)

    def gather(self, rows: list[int]) -> list[TreeNode] | None:
        """New nodes of points; none of no points, and None where there is no room for any."""
        shape = self._tree.making.shape
        below = self._below
        siblings = self._tree.children.get(below, ())
        levels = shape.levels - (0 if below is None else self._tree.levels[below])
        room = shape.children - len(siblings)
        if not rows:
            return []
        if levels < 1 or room < 1:
            return None
        found = clusters(self._vectors[rows], shape.model_copy(update={"levels": levels}), most=room)
        parent = next((node for node in self._tree.nodes if node.id == below), None)
        if len(found) == 1 and not found[0].parts and parent and not (siblings or parent.points):
            # An empty node is filled before it is divided.
            self._coming[parent.id] += rows
            return []
        names = [node.name for node in siblings] + ([parent.name] if parent else [])
        taken = set(self._tree.levels)
        return list(self._nodes(found, rows, below, len(siblings), names, taken))

    def crowd(self, rows: list[int]) -> int:
        """Have points come to the nearest node, near or not: how many."""
        if self._places.nodes:
            for row, (node, _) in zip(rows, self._nearest(rows), strict=True):
                self._coming[node].append(row)
        elif self._below is not None:
            self._coming[self._below] += rows
        else:
            raise InputInvalid(
                "points: the tree has no room for new nodes at its top, and none of its own points is given: "
                "name a node to grow below as category_id, or make a new tree"
            )
        return len(rows)

    def _nodes(
        self,
        found: Sequence[Cluster],
        rows: list[int],
        parent: str | None,
        position: int,
        names: Sequence[str],
        taken: set[str],
    ) -> Iterator[TreeNode]:
        groups = [[rows[row] for row in cluster.rows] for cluster in found]
        own = own_names(
            [[self._points[row] for row in group] for group in groups],
            [self._points[central(self._vectors, group, 1)[0]] for group in groups],
            names,
        )
        for cluster, group, name in zip(found, groups, own, strict=True):
            ids = tuple(self._points[row].id for row in group)
            node = node_id(ids, taken)
            taken.add(node)
            yield TreeNode(
                id=node,
                parent=parent,
                position=position,
                name=name,
                points=() if cluster.parts else ids,
            )
            position += 1
            yield from self._nodes(cluster.parts, rows, node, 0, [name], taken)

    def _open_nodes(self) -> _Places:
        import numpy

        below = _with_all_below(self._tree, self._below)
        found, middles = [], []
        for node in self._tree.nodes:
            rows = [self._row[point] for point in node.points if point in self._row]
            if node.id in below and rows and (total := self._vectors[rows].sum(axis=0)).any():
                found.append(node.id)
                middles.append(total / numpy.linalg.norm(total))
        return _Places(found, numpy.array(middles, dtype=numpy.float32))

    def _nearest(self, rows: list[int]) -> Iterator[tuple[str, float]]:
        """The nearest node of each point, and its cosine; the first of several as near."""
        for row in rows:
            cosines = self._places.middles @ self._vectors[row]
            place = int(cosines.argmax())
            yield self._places.nodes[place], float(cosines[place])

    def _least(self) -> float:
        """The cosine from which a point is near enough to a node, as the tree's own points are to theirs."""
        import numpy

        cosines: list[float] = []
        for node in self._tree.nodes:
            rows = [self._row[point] for point in node.points if point in self._row]
            if len(rows) < 2:
                continue
            own = self._vectors[rows]
            others = own.sum(axis=0) - own
            lengths = numpy.maximum(numpy.linalg.norm(others, axis=1), 1e-9)
            cosines += ((own * others).sum(axis=1) / lengths).tolist()
        return _NEAR if len(cosines) < _FEW else max(float(numpy.quantile(cosines, _STRAYS)), _FAR)


def central(vectors: numpy.ndarray, rows: Sequence[int], most: int) -> list[int]:
    """The rows whose vectors are nearest to the middle of them all, the nearest first."""
    own = vectors[list(rows)]
    order = (-(own @ own.sum(axis=0))).argsort(kind="stable")
    return [rows[place] for place in order[:most].tolist()]


def node_id(points: Sequence[int], taken: Collection[str]) -> str:
    """An id that the same points always give; longer where another node has it."""
    digest = hashlib.sha256(",".join(map(str, points)).encode()).hexdigest()
    return next(id_ for size in range(_DIGITS, 64) if (id_ := f"n{digest[:size]}") not in taken)


def _with_all_below(tree: Tree, top: str | None) -> set[str]:
    found: set[str | None] = {top}
    for node in tree.nodes:
        if node.parent in found:
            found.add(node.id)
    return {node for node in found if node is not None}
