"""What a page says of itself to machines: the nodes of its JSON-LD (schema.org), and the kinds they are of.

Read by `page_kind`, `product_facts` and `page_facts`. It is untrusted text of any shape: what is not as
schema.org has it is passed over, and no more than a bounded part of it is looked at.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

Node: TypeAlias = Mapping[str, object]

_MOST_SCRIPTS = 40
_LONGEST_SCRIPT = 2_000_000
_MOST_NODES = 2_000
# Where the things that a page is about lie in each other. Not `itemListElement`: what is listed there is
# what other pages are about.
_INSIDE = ("@graph", "mainEntity", "mainEntityOfPage")


def nodes_of(tree: Any) -> tuple[Node, ...]:
    """The nodes that a page is about, in its order, of all its scripts.

    Args:
        tree: an lxml tree of the page.
    """
    return tuple(_nodes(tree))


def kinds_of(node: Node) -> frozenset[str]:
    """The types of a node, without their vocabulary: `Product`, `QAPage`."""
    return frozenset(
        one.rpartition("/")[2].rpartition(":")[2] for one in listed(node.get("@type")) if isinstance(one, str)
    )


def listed(value: object) -> list[object]:
    """The values of a property, which may be one, a list or none."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def text_of(value: object) -> str:
    """A property's text: the first there is, or the name of the thing that stands there; "" for none."""
    for one in listed(value):
        if isinstance(one, Mapping):
            one = one.get("name", one.get("@value"))
        if isinstance(one, bool):
            continue
        if isinstance(one, str | int | float) and str(one).strip():
            return str(one).strip()
    return ""


def _nodes(tree: Any) -> Iterator[Node]:
    left = _MOST_NODES
    for number, script in enumerate(tree.iter("script")):
        if number >= 10 * _MOST_SCRIPTS or left <= 0:
            return
        if (script.get("type") or "").strip().lower() != "application/ld+json":
            continue
        written = script.text or ""
        if not 2 < len(written) <= _LONGEST_SCRIPT:
            continue
        try:
            # Many hold line ends within texts, which JSON forbids.
            waiting = [json.loads(written, strict=False)]
        except (ValueError, RecursionError):
            continue  # broken: as if it were not there
        while waiting and left > 0:
            left -= 1
            one = waiting.pop()
            if isinstance(one, list):
                waiting.extend(reversed(one[:_MOST_NODES]))
            elif isinstance(one, dict):
                yield one
                waiting.extend(
                    one[name] for name in reversed(_INSIDE) if isinstance(one.get(name), list | dict)
                )
