"""How nodes are related: by relationships that join an entity of one to an entity of another.

Called by growing. An entity is at home in the node that names it most often; whom no node names is at home
where the relationship itself is.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence

from models.research.trees import NodeRelation, TreeNode, TreePoint


def relations(
    nodes: Sequence[TreeNode], points: Collection[TreePoint], before: Sequence[NodeRelation] = ()
) -> tuple[NodeRelation, ...]:
    """The relations among nodes, in the order of the nodes.

    Args:
        before: as they were: what relationships that are not among `points` join, they join still.
    """
    places = {node.id: place for place, node in enumerate(nodes)}
    node_of = {point: node.id for node in nodes for point in node.points}
    home = _homes(points, node_of, places)
    found: dict[tuple[str, str], set[int]] = defaultdict(set)
    for point in points:
        own = node_of.get(point.id)
        if point.kind != "relationship" or own is None or point.subject is None or point.object is None:
            continue
        found[home.get(point.subject, own), home.get(point.object, own)].add(point.id)
    known = {point.id for point in points}
    for relation in before:
        found[relation.source, relation.target] |= set(relation.points) - known
    return tuple(
        NodeRelation(source=pair[0], target=pair[1], points=tuple(sorted(found[pair])))
        for pair in sorted(
            (pair for pair in found if pair[0] != pair[1] and found[pair]),
            key=lambda pair: (places[pair[0]], places[pair[1]]),
        )
    )


def remapped(
    before: Sequence[NodeRelation], now: Mapping[str, str | None], dropped: Collection[int] = ()
) -> tuple[NodeRelation, ...]:
    """Relations after an edit: `now` says which node has become of one, None where it is gone.

    Relationships that were dropped join nothing any more.
    """
    found: dict[tuple[str, str], set[int]] = defaultdict(set)
    for relation in before:
        source, target = now.get(relation.source), now.get(relation.target)
        if source is not None and target is not None and source != target:
            found[source, target] |= set(relation.points).difference(dropped)
    return tuple(
        NodeRelation(source=source, target=target, points=tuple(sorted(points)))
        for (source, target), points in found.items()
        if points
    )


def _homes(
    points: Collection[TreePoint], node_of: Mapping[int, str], places: Mapping[str, int]
) -> dict[str, str]:
    named: dict[str, Counter[str]] = defaultdict(Counter)
    for point in points:
        node = node_of.get(point.id)
        if point.kind == "entity" and point.entity is not None and node is not None:
            named[point.entity][node] += 1
    return {
        entity: min(counts, key=lambda node: (-counts[node], places[node]))
        for entity, counts in named.items()
    }
