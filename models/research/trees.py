"""A tree of knowledge: named nodes, the points in each, and what joins them. Seed 002, FR5.

`actors.systems.research.tree` makes it, lets it grow and edits it; what a person approves is the tree as it
then is. There is no root node: what lies at the top has no parent. A node's id stays when it is renamed,
moved or given points. A point is in one node, or was dropped by a person: it is kept as such, and does not
come back.
"""

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from models.knowledge.points import PointKind, Score, Words
from models.record import Record
from models.text import one_line

MOST_LEVELS = 5
MOST_CHILDREN = 12
# Characters of a node's name.
MOST_NAME = 80
MOST_TITLE = 300
# Spaces, and what has no shape by itself: joiners, and marks that want a letter.
_UNSEEN = frozenset({"Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co", "Cn", "Mn", "Me"})

NamedBy = Literal["code", "model", "person"]
NodeId = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,63}$")]


def plain_name(text: str) -> str:
    """A name as it can be shown, on one line; empty where nothing of it would be seen."""
    line = one_line(text)
    return line if any(unicodedata.category(character) not in _UNSEEN for character in line) else ""


def name_key(name: str) -> str:
    """What two siblings may not have in common: their names but for case and width."""
    return unicodedata.normalize("NFKC", name).casefold()


def _named(name: str) -> str:
    if not name or plain_name(name) != name:
        raise ValueError("a name is one line of text that is seen: clean it with plain_name")
    return name


def _ascending(points: tuple[int, ...]) -> tuple[int, ...]:
    if any(first >= second for first, second in pairwise(points)):
        raise ValueError("the ids of points ascend, each once")
    return points


NodeName = Annotated[str, Field(max_length=MOST_NAME), AfterValidator(_named)]
PointIds = Annotated[tuple[int, ...], AfterValidator(_ascending)]


class TreePoint(Record):
    """A point as a tree is made of it. `text` is its statement, label or name.

    `categories` are labels that it has. `entity` is whom a point of the kind `entity` names, `subject`
    and `object` are whom a relationship joins: any keys, the same for the same one.
    """

    id: int
    text: Words
    kind: PointKind
    score: Score
    categories: tuple[str, ...] = ()
    entity: str | None = None
    subject: str | None = None
    object: str | None = None


class TreeNode(Record):
    """A node; `parent` is None at the top, `position` its place among its siblings, from 0.

    `points` are those of the node itself, without those of the nodes below it.
    """

    id: NodeId
    parent: NodeId | None = None
    position: Annotated[int, Field(ge=0)]
    name: NodeName
    named_by: NamedBy = "code"
    points: PointIds = ()


class NodeRelation(Record):
    """That relationships join what one node names to what another does; `points` are these relationships."""

    source: NodeId
    target: NodeId
    points: Annotated[PointIds, Field(min_length=1)]


class TreeEdge(Record):
    """An edge: `child` leads from a parent to its child, `related` is a relation of nodes.

    `count` is how many points are in the child and below it, or how many relationships there are.
    """

    kind: Literal["child", "related"]
    source: NodeId
    target: NodeId
    count: int


class TreeShape(Record):
    """How a tree may be laid out. A leaf has at most `leaf_points` of different meaning."""

    levels: Annotated[int, Field(ge=1, le=MOST_LEVELS)] = MOST_LEVELS
    children: Annotated[int, Field(ge=2, le=MOST_CHILDREN)] = MOST_CHILDREN
    leaf_points: Annotated[int, Field(ge=2)] = 10


class TreeMaking(Record):
    """How a tree was made: by which method, in which shape, from whose embeddings."""

    method: str = "ward"
    shape: TreeShape = TreeShape()
    embedding: str | None = None


class TreeMetadata(Record):
    """What a tree comes to. `points` are in nodes; `dropped` were taken out by a person."""

    nodes: int
    leaves: int
    depth: int
    points: int
    dropped: int
    relations: int
    named_by: Mapping[NamedBy, int]
    making: TreeMaking


class TreeExport(Record):
    """A tree as programs read it."""

    id: int | None
    title: str
    nodes: tuple[TreeNode, ...]
    edges: tuple[TreeEdge, ...]
    metadata: TreeMetadata


class Tree(Record):
    """A tree. Nodes lie as they are read: each before those below it, and siblings by their positions.

    `id` is the database's, once it is kept there.
    """

    id: int | None = None
    title: Annotated[str, Field(max_length=MOST_TITLE), AfterValidator(_named)]
    nodes: tuple[TreeNode, ...] = ()
    relations: tuple[NodeRelation, ...] = ()
    dropped: PointIds = ()
    making: TreeMaking = TreeMaking()

    @model_validator(mode="after")
    def _is_a_tree(self) -> "Tree":
        _check_nodes(self.nodes)
        counted = Counter(point for node in self.nodes for point in node.points)
        counted.update(self.dropped)
        if twice := [point for point, count in counted.items() if count > 1]:
            raise ValueError(f"point {min(twice)} is in two nodes, or in one and dropped")
        pairs = [(relation.source, relation.target) for relation in self.relations]
        known = {node.id for node in self.nodes}
        if len(set(pairs)) < len(pairs):
            raise ValueError("two relations join the same nodes")
        if any(source == target or not {source, target} <= known for source, target in pairs):
            raise ValueError("a relation joins two nodes of the tree")
        return self

    @property
    def children(self) -> Mapping[str | None, tuple[TreeNode, ...]]:
        """Nodes by their parent, in their order; those at the top by None."""
        found: dict[str | None, list[TreeNode]] = defaultdict(list)
        for node in self.nodes:
            found[node.parent].append(node)
        return {parent: tuple(nodes) for parent, nodes in found.items()}

    @property
    def levels(self) -> Mapping[str, int]:
        """The level of each node; those at the top have 1."""
        found: dict[str, int] = {}
        for node in self.nodes:
            found[node.id] = 1 if node.parent is None else found[node.parent] + 1
        return found

    @property
    def points_below(self) -> Mapping[str, tuple[int, ...]]:
        """The points in each node and in all nodes below it, ascending."""
        found = {node.id: list(node.points) for node in self.nodes}
        for node in reversed(self.nodes):
            if node.parent is not None:
                found[node.parent] += found[node.id]
        return {id_: tuple(sorted(points)) for id_, points in found.items()}

    @property
    def edges(self) -> tuple[TreeEdge, ...]:
        """From parents to children, in the order of the nodes; then relations."""
        below = self.points_below
        return tuple(
            TreeEdge(kind="child", source=node.parent, target=node.id, count=len(below[node.id]))
            for node in self.nodes
            if node.parent is not None
        ) + tuple(
            TreeEdge(kind="related", source=each.source, target=each.target, count=len(each.points))
            for each in self.relations
        )

    @property
    def metadata(self) -> TreeMetadata:
        """Its counts, and how it was made."""
        parents = {node.parent for node in self.nodes}
        return TreeMetadata(
            nodes=len(self.nodes),
            leaves=sum(node.id not in parents for node in self.nodes),
            depth=max(self.levels.values(), default=0),
            points=sum(len(node.points) for node in self.nodes),
            dropped=len(self.dropped),
            relations=len(self.relations),
            named_by=dict(sorted(Counter(node.named_by for node in self.nodes).items())),
            making=self.making,
        )

    def export(self) -> TreeExport:
        """Nodes, edges and metadata, as programs read them."""
        return TreeExport(
            id=self.id, title=self.title, nodes=self.nodes, edges=self.edges, metadata=self.metadata
        )


class TreeSummary(Record):
    """A tree in a list. `workflow_id` is the research that it was first made in, where it was one."""

    id: int
    title: str
    nodes: int
    workflow_id: int | None
    grown_at: datetime


def arranged(nodes: Iterable[TreeNode]) -> tuple[TreeNode, ...]:
    """Nodes as a tree has them, with positions from 0. Those of one position lie as they come.

    Raises:
        ValueError: a node's parent is not there, or nodes lie below each other in a circle.
    """
    children: dict[str | None, list[TreeNode]] = defaultdict(list)
    for node in nodes:
        children[node.parent].append(node)
    found: list[TreeNode] = []
    waiting: list[TreeNode] = []
    total = sum(len(some) for some in children.values())

    def put(parent: str | None) -> None:
        siblings = sorted(children[parent], key=lambda node: node.position)
        placed = [node.model_copy(update={"position": place}) for place, node in enumerate(siblings)]
        waiting.extend(reversed(placed))

    put(None)
    while waiting:
        found.append(waiting.pop())
        put(found[-1].id)
    if len(found) != total:
        raise ValueError("a node's parent is not there, or nodes lie below each other in a circle")
    return tuple(found)


def _check_nodes(nodes: Sequence[TreeNode]) -> None:
    seen: set[str] = set()
    above: list[str] = []
    names: dict[str | None, set[str]] = defaultdict(set)
    for node in nodes:
        while above and above[-1] != node.parent:
            above.pop()
        if node.id in seen:
            raise ValueError(f"two nodes have the id {node.id}")
        if node.parent is not None and not above:
            raise ValueError(f"node {node.id} does not lie below its parent {node.parent}")
        siblings = names[node.parent]
        if node.position != len(siblings):
            raise ValueError(f"node {node.id} has position {node.position} and lies at {len(siblings)}")
        siblings.add(name_key(node.name))
        if len(siblings) != node.position + 1:
            raise ValueError(f"node {node.id} has the name of a sibling: {node.name}")
        if len(siblings) > MOST_CHILDREN:
            raise ValueError(f"more than {MOST_CHILDREN} nodes lie below {node.parent or 'the top'}")
        seen.add(node.id)
        above.append(node.id)
        if len(above) > MOST_LEVELS:
            raise ValueError(f"node {node.id} lies at level {len(above)}, and there are {MOST_LEVELS}")
