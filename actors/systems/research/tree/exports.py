"""A tree as files: JSON and GraphML for programs, Markdown for people.

Called by whoever gives a tree away. Names and points' texts are outside text and stay text: no name makes a
heading, a link, a tag or an entity. What XML can't hold is left out of it.
"""

from collections.abc import Mapping
from xml.etree import ElementTree

from actors.platform.text.markdown import escaped
from models.research.trees import Tree
from models.text import cut, seen

_GRAPHML = "http://graphml.graphdrawing.org/xmlns"
_SCHEMA = f"{_GRAPHML} http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd"
_INSTANCE = "http://www.w3.org/2001/XMLSchema-instance"
# Key, of what, and of which type: GraphML's, whose `int` has 32 bits and `long` 64.
_KEYS = (
    ("name", "node", "string"),
    ("named_by", "node", "string"),
    ("position", "node", "int"),
    ("level", "node", "int"),
    ("count", "node", "int"),
    ("points", "node", "string"),
    ("kind", "edge", "string"),
    ("weight", "edge", "int"),
    ("title", "graph", "string"),
    ("nodes", "graph", "int"),
    ("leaves", "graph", "int"),
    ("depth", "graph", "int"),
    ("point_count", "graph", "int"),
    ("dropped", "graph", "int"),
    ("relations", "graph", "int"),
    ("method", "graph", "string"),
    ("embedding", "graph", "string"),
)
_LONGEST_TEXT = 300


def as_json(tree: Tree) -> str:
    """A `TreeExport` as JSON."""
    return tree.export().model_dump_json(indent=2)


def as_markdown(tree: Tree, texts: Mapping[int, str] | None = None) -> str:
    """A heading for each node, nested as they are, and a line for each of its points.

    Args:
        texts: what points say, by their ids; without one, a point is told by its number.
    """
    levels, below, meta = tree.levels, tree.points_below, tree.metadata
    said = texts or {}
    summary = f"{meta.points} points in {meta.nodes} nodes"
    blocks = [_heading(1, tree.title), summary + (f"; {meta.dropped} dropped" if meta.dropped else "")]
    for node in tree.nodes:
        blocks.append(_heading(levels[node.id] + 1, node.name, f" ({len(below[node.id])})"))
        if node.points:
            blocks.append("\n".join(_item(point, said.get(point, "")) for point in node.points))
    return "\n\n".join(blocks) + "\n"


def as_graphml(tree: Tree) -> str:
    """A directed graph in GraphML 1.0: nodes have `name`, `level`, `count` and more, edges a `kind`."""
    root = ElementTree.Element(
        "graphml", {"xmlns": _GRAPHML, "xmlns:xsi": _INSTANCE, "xsi:schemaLocation": _SCHEMA}
    )
    for name, of, type_ in _KEYS:
        ElementTree.SubElement(
            root, "key", {"id": f"{of}_{name}", "for": of, "attr.name": name, "attr.type": type_}
        )
    graph = ElementTree.SubElement(root, "graph", {"id": "tree", "edgedefault": "directed"})
    meta, levels, below = tree.metadata, tree.levels, tree.points_below
    _data(
        graph,
        "graph",
        title=tree.title,
        nodes=meta.nodes,
        leaves=meta.leaves,
        depth=meta.depth,
        point_count=meta.points,
        dropped=meta.dropped,
        relations=meta.relations,
        method=meta.making.method,
        embedding=meta.making.embedding,
    )
    for node in tree.nodes:
        element = ElementTree.SubElement(graph, "node", {"id": node.id})
        _data(
            element,
            "node",
            name=node.name,
            named_by=node.named_by,
            position=node.position,
            level=levels[node.id],
            count=len(below[node.id]),
            points=" ".join(map(str, node.points)),
        )
    for number, edge in enumerate(tree.edges):
        element = ElementTree.SubElement(
            graph, "edge", {"id": f"e{number}", "source": edge.source, "target": edge.target}
        )
        _data(element, "edge", kind=edge.kind, weight=edge.count)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _data(element: ElementTree.Element, of: str, **values: str | int | None) -> None:
    """What an element is told to be; nothing where a value is empty."""
    for name, value in values.items():
        if value is not None and value != "":
            ElementTree.SubElement(element, "data", {"key": f"{of}_{name}"}).text = seen(str(value))


def _item(point: int, text: str) -> str:
    said = escaped(cut(text, 4 * _LONGEST_TEXT), _LONGEST_TEXT)
    return f"- {said} \\[{point}\\]" if said else f"- \\[{point}\\]"


def _heading(level: int, name: str, ending: str = "") -> str:
    # The name as a whole: a `#` at its end would close the heading.
    line = escaped(name) + ending
    return f"{'#' * level} " + (f"{line[:-1]}\\#" if line.endswith("#") else line)
