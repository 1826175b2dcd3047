"""What people make of a gate of a research: yes, no, or yes to what they make of it; now and then nonsense.

Pure: what is drawn follows from what is shown and the chances that are given.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.faults.site.pages import MIRROR, PASTED, UNAPPROVED, UNREADABLE_TEXT

GATES = frozenset({"research_urls", "research_unreadable", "research_tree", "research_result"})
How = Literal["approve", "reject", "modify"]
_Node = Mapping[str, Any]


@dataclass(frozen=True)
class GateAnswer:
    """What somebody answers. `changes` go with a `modify`; `possible` is false for such as can't be made."""

    how: How
    changes: dict[str, Any] = field(default_factory=dict)
    possible: bool = True


def answer(kind: str, shown: Mapping[str, Any], rng: random.Random, *, careless: bool = False) -> GateAnswer:
    """What somebody makes of a gate. Nobody lets in all pages that are shown.

    Args:
        careless: it may be a change that can't be made.
    """
    if kind == "research_urls":
        return _addresses(shown, rng)
    if rng.random() < 0.1:
        return GateAnswer("reject")
    if kind == "research_unreadable":
        return _instead(shown["unreadable"], rng, careless=careless)
    if kind == "research_tree":
        return _edits(shown["tree"]["nodes"], rng, careless=careless)
    return GateAnswer("approve")


def _addresses(shown: Mapping[str, Any], rng: random.Random) -> GateAnswer:
    """A list is approved without the page that nobody wants."""
    if rng.random() < 0.15:
        return GateAnswer("reject")
    unwanted = [url["number"] for url in shown["urls"] if url["url"].endswith(f"/{UNAPPROVED}")]
    return GateAnswer("modify", {"remove_urls": unwanted})


def _instead(unreadable: Sequence[Mapping[str, Any]], rng: random.Random, *, careless: bool) -> GateAnswer:
    """For some of the pages another address, or a text; also one that no reader gets through."""
    if rng.random() < 0.2:
        return GateAnswer("approve")
    given: list[dict[str, Any]] = []
    for page in unreadable:
        number, url = page["number"], page["url"]
        match rng.choice(("url", "url", "pasted", "pasted", "unreadable", "none")):
            case "url" if not url.endswith(MIRROR):
                given.append({"number": number, "url": f"{url}{MIRROR}"})
            case "unreadable":
                given.append({"number": number, "pasted": {"text": UNREADABLE_TEXT, "title": "Endless"}})
            case "url" | "pasted":
                given.append({"number": number, "pasted": {"text": rng.choice(PASTED), "title": "Mills"}})
    if careless and rng.random() < 0.3:
        first, *others = unreadable
        nonsense: list[list[dict[str, Any]]] = [
            [{"number": first["number"], "pasted": {"text": "… — …"}}],
            [{"number": first["number"], "url": first["url"]}],
            [
                {"number": one["number"], "url": f"{first['url']}{MIRROR}"}
                for one in (first, *others[:1], first)
            ],
        ]
        return GateAnswer("modify", {"instead": rng.choice(nonsense)}, possible=False)
    return GateAnswer("modify", {"instead": given}) if given else GateAnswer("approve")


def _edits(nodes: Sequence[_Node], rng: random.Random, *, careless: bool) -> GateAnswer:
    """Names, and where there are several categories, one of them elsewhere, in another, or away."""
    if rng.random() < 0.2:
        return GateAnswer("approve")
    if careless and rng.random() < 0.15:
        drops = [{"edit": "drop", "node": node["id"]} for node in nodes if node["parent"] is None]
        nonsense = [drops, [{"edit": "drop", "node": "nowhere"}]]
        return GateAnswer("modify", {"tree_edits": rng.choice(nonsense)}, possible=False)
    parents = {node["parent"] for node in nodes}
    # One without others below it: then nothing gets too deep.
    leaf = rng.choice([node for node in nodes if node["id"] not in parents])
    # No two have the name of another.
    edits = [{"edit": "rename", "node": leaf["id"], "name": f"Named {rng.randrange(10**9)}"}]
    tops = [node for node in nodes if node["parent"] is None and node["id"] != leaf["id"]]
    match rng.choice(("rename", "merge", "merge", "move", "move", "drop")):
        case "merge" if tops:
            edits.append({"edit": "merge", "into": rng.choice(tops)["id"], "nodes": [leaf["id"]]})
        case "move" if tops:
            under = rng.choice(tops)["id"] if leaf["parent"] is None or rng.random() < 0.5 else None
            edits.append({"edit": "move", "node": leaf["id"], "under": under})
        case "drop" if tops:
            edits.append({"edit": "drop", "node": leaf["id"]})
    return GateAnswer("modify", {"tree_edits": edits})
