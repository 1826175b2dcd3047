"""A tree as files: read again it is the same, and names that mean ill stay text."""

import io
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from actors.systems.research.tree.exports import as_graphml, as_json, as_markdown
from models.research.trees import NodeRelation, Tree, TreeExport, TreeMaking, TreeNode
from models.text import one_line
from tests.unit.research.drawn_trees import HOSTILE, trees

NAMESPACE = "{http://graphml.graphdrawing.org/xmlns}"


@given(trees())
def test_json_is_read_again_as_it_was(tree: Tree) -> None:
    read = TreeExport.model_validate_json(as_json(tree))
    assert read == tree.export()
    assert (read.nodes, read.edges, read.metadata) == (tree.nodes, tree.edges, tree.metadata)


@given(trees())
def test_graphml_is_read_again_as_it_was(tree: Tree) -> None:
    read: Any = networkx.read_graphml(io.BytesIO(as_graphml(tree).encode()), force_multigraph=True)
    levels, below, meta = tree.levels, tree.points_below, tree.metadata
    assert read.is_directed()
    assert dict(read.nodes(data=True)) == {
        node.id: {
            "name": node.name,
            "named_by": node.named_by,
            "position": node.position,
            "level": levels[node.id],
            "count": len(below[node.id]),
        }
        | ({"points": " ".join(map(str, node.points))} if node.points else {})
        for node in tree.nodes
    }
    assert sorted((*pair, data["kind"], data["weight"]) for *pair, data in read.edges(data=True)) == sorted(
        (edge.source, edge.target, edge.kind, edge.count) for edge in tree.edges
    )
    told = {key: value for key, value in read.graph.items() if not key.endswith("_default")}
    assert told == {
        "title": tree.title,
        "nodes": meta.nodes,
        "leaves": meta.leaves,
        "depth": meta.depth,
        "point_count": meta.points,
        "dropped": meta.dropped,
        "relations": meta.relations,
        "method": meta.making.method,
    } | ({"embedding": meta.making.embedding} if meta.making.embedding else {})


def test_graphml_leaves_out_what_xml_cannot_hold() -> None:
    tree = Tree(title="t", making=TreeMaking(embedding="mini\0\x1b\ufffeLM"))
    read: Any = networkx.parse_graphml(as_graphml(tree))
    assert read.graph["embedding"] == "mini  LM"


@given(trees())
def test_graphml_keeps_to_its_schema(tree: Tree) -> None:
    """Keys first, then one graph; each element has what it must, and data are of keys that there are."""
    root = ElementTree.fromstring(as_graphml(tree))
    assert root.tag == f"{NAMESPACE}graphml"
    tags = [child.tag.removeprefix(NAMESPACE) for child in root]
    assert tags == ["key"] * (len(tags) - 1) + ["graph"]
    keys = {child.attrib["id"]: child.attrib for child in root[:-1]}
    assert len(keys) == len(tags) - 1
    assert {key["attr.type"] for key in keys.values()} <= {
        "boolean",
        "int",
        "long",
        "float",
        "double",
        "string",
    }
    graph = root[-1]
    assert graph.attrib["edgedefault"] == "directed"
    ids = [child.attrib["id"] for child in graph if "id" in child.attrib]
    assert len(set(ids)) == len(ids)
    for element in (graph, *graph):
        of = element.tag.removeprefix(NAMESPACE)
        for data in element:
            if data.tag == f"{NAMESPACE}data":
                assert keys[data.attrib["key"]]["for"] == of
    # What is no data stands after what is.
    kinds = [child.tag.removeprefix(NAMESPACE) for child in graph]
    assert kinds == sorted(kinds, key=["data", "node", "edge"].index)


@given(trees(), st.data())
def test_markdown_has_a_heading_for_each_node_and_nothing_else_is_markup(
    tree: Tree, data: st.DataObject
) -> None:
    points = [point for node in tree.nodes for point in node.points]
    texts = {point: data.draw(HOSTILE) for point in points if data.draw(st.booleans())}
    parsed = MarkdownIt("commonmark").parse(as_markdown(tree, texts))
    levels, below = tree.levels, tree.points_below
    headings = [
        (int(token.tag[1:]), _shown(following))
        for token, following in pairwise(parsed)
        if token.type == "heading_open"
    ]
    names = [(levels[node.id] + 1, f"{node.name} ({len(below[node.id])})") for node in tree.nodes]
    assert [level for level, _ in headings] == [1, *(level for level, _ in names)]
    for (_, shown), name in zip(headings, [tree.title, *(name for _, name in names)], strict=True):
        assert shown.replace(" ", "") == name.replace(" ", "")  # addresses are broken by spaces
    items = [_shown(token) for token in parsed if token.type == "inline" and token.level == 3]
    assert len(items) == len(points)
    for item, point in zip(items, points, strict=True):
        assert item.endswith(f"[{point}]")
    inner = {child.type for token in parsed for child in token.children or ()}
    assert inner <= {"text"}
    assert {token.type.removesuffix("_open").removesuffix("_close") for token in parsed} <= {
        "heading",
        "inline",
        "paragraph",
        "bullet_list",
        "list_item",
    }


def _shown(token: Any) -> str:
    return "".join(child.content for child in token.children or ())


def test_a_tree_reads_as_nested_headings_with_points() -> None:
    tree = Tree(
        title="What of #",
        nodes=(
            TreeNode(id="a", position=0, name="<b>Rates</b>", points=(1,)),
            TreeNode(id="b", parent="a", position=0, name="# Inflation", points=(2, 3)),
        ),
        relations=(NodeRelation(source="b", target="a", points=(3,)),),
        dropped=(4,),
    )
    assert as_markdown(tree, {1: "Rates\nrose.", 2: "[x](http://x.example)"}) == (
        "# What of \\#\n\n3 points in 2 nodes; 1 dropped\n\n"
        "## < b>Rates< /b> (3)\n\n- Rates rose. \\[1\\]\n\n"
        "### \\# Inflation (2)\n\n- \\[x\\](http: //x.example) \\[2\\]\n- \\[3\\]\n"
    )


@pytest.mark.parametrize("text", ["\0\x1b[2Jx", "a\u202eb", "x" * 100_000, "\ufffe\uffff"])
def test_texts_that_no_file_could_hold_are_cleaned(text: str) -> None:
    tree = Tree(title="t", nodes=(TreeNode(id="a", position=0, name="A", points=(1,)),))
    markdown = as_markdown(tree, {1: text})
    assert one_line(markdown) == " ".join(markdown.split())
    assert len(markdown) < 1_000
