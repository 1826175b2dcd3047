"""What a model is asked to name nodes by, and what is made of its answer. No model is called here.

Called by the agent that names. Only nodes that code named are asked for: a name that a person or a model gave
stays. Whatever a model answers, each node has a name that is plain, short, and no sibling's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from actors.systems.research.tree.assign_points import central
from actors.systems.research.tree.own_names import distinct
from actors.systems.research.tree.vectors import by_id
from models.record import Record
from models.research.trees import MOST_NAME, Tree, TreeNode, TreePoint, name_key, plain_name
from models.text import cut, shortened

if TYPE_CHECKING:
    import numpy

_MOST_TEXTS = 8
_LONGEST_TEXT = 240
# Of a reply, more is no name.
_LONGEST_REPLY = 2_000
# What models put around a name: marks of headings, lists and emphasis, quotation marks, a full stop.
_BEFORE = "#>*-–—•_`'\"“”„«»‘’‚ \t"
_AFTER = "*_`'\"“”„«»‘’ \t.:;,"


class NamingRequest(Record):
    """What a model is shown of a node. `texts` say what is in it, those that tell most of it first.

    `above` are the names of the nodes that it lies in, from the top; `siblings` and `below` those beside and
    under it. All is outside text.
    """

    node: str
    name: str
    texts: tuple[str, ...]
    above: tuple[str, ...]
    siblings: tuple[str, ...]
    below: tuple[str, ...]
    most_characters: int = MOST_NAME


class NameReply(Record):
    """What a model answers."""

    name: str


def naming_requests(
    tree: Tree, points: Sequence[TreePoint], vectors: numpy.ndarray
) -> tuple[NamingRequest, ...]:
    """What to ask for each node that code named and of which points are given; a node before those below it.

    Args:
        points: the tree's; vectors: a row for each.

    Raises:
        ValueError: there is not one finite vector for each point, or two points have one id.
    """
    ordered, units = by_id(points, vectors)
    row_of = {point.id: row for row, point in enumerate(ordered)}
    children, below = tree.children, tree.points_below
    above: dict[str | None, tuple[str, ...]] = {None: ()}
    found = []
    for node in tree.nodes:
        above[node.id] = (*above[node.parent], node.name)
        # A few of each child, so that the name holds for all of them.
        parts = [below[child.id] for child in children.get(node.id, ())] + [node.points]
        rows = [[row_of[point] for point in part if point in row_of] for part in parts]
        texts = _telling([central(units, some, _MOST_TEXTS) for some in rows if some], ordered)
        if node.named_by == "code" and texts:
            found.append(
                NamingRequest(
                    node=node.id,
                    name=node.name,
                    texts=texts,
                    above=above[node.parent],
                    siblings=tuple(each.name for each in children[node.parent] if each.id != node.id),
                    below=tuple(each.name for each in children.get(node.id, ())),
                )
            )
    return tuple(found)


def named(tree: Tree, replies: Mapping[str, str]) -> Tree:
    """The tree with what a model answered, by nodes. What is no name leaves a node its own.

    Replies for nodes that are not there, or that somebody has named, change nothing. An answer that a sibling
    has, or the parent, gets the node's own name in brackets, else a number.
    """
    children = tree.children
    now = {node.id: node for node in tree.nodes}
    for node in tree.nodes:
        reply = plain_reply(replies.get(node.id, ""))
        if not reply or node.named_by != "code":
            continue
        others = [now[each.id].name for each in children[node.parent] if each.id != node.id]
        taken = _keys([*others, *([now[node.parent].name] if node.parent else [])])
        name = distinct(reply, taken, node.name)
        now[node.id] = node.model_copy(update={"name": name, "named_by": "model"})
    return _with_nodes(tree, [now[node.id] for node in tree.nodes])


def plain_reply(reply: str) -> str:
    """The name in a model's reply: its first line that holds one, without marks around it; else nothing."""
    for line in cut(reply, _LONGEST_REPLY).splitlines():
        bare = plain_name(line).lstrip(_BEFORE).rstrip(_AFTER)
        if any(character.isalnum() for character in bare):
            return shortened(bare, MOST_NAME)
    return ""


def _telling(rows: Iterable[Sequence[int]], points: Sequence[TreePoint]) -> tuple[str, ...]:
    """Texts of the rows, the first of each before the second of any; each text once."""
    texts = (
        shortened(cut(points[row].text, 4 * _LONGEST_TEXT), _LONGEST_TEXT)
        for some in zip_longest(*rows)
        for row in some
        if row is not None
    )
    return tuple(dict.fromkeys(text for text in texts if plain_name(text)))[:_MOST_TEXTS]


def _keys(names: Iterable[str]) -> set[str]:
    return {name_key(name) for name in names}


def _with_nodes(tree: Tree, nodes: Sequence[TreeNode]) -> Tree:
    return Tree(
        id=tree.id,
        title=tree.title,
        nodes=tuple(nodes),
        relations=tree.relations,
        dropped=tree.dropped,
        making=tree.making,
    )
