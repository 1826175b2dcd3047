"""A tree of knowledge is kept as it was approved, once, and grows without losing what others made of it.

Pure functions over what Postgres' ledger noted of trees and researches, and the rows of approvals.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.faults.checks.deep import ANEW, Deep
from tests.faults.ledger import TreeVersion, Write

_Tree = Mapping[str, Any]


def kept_as_approved(
    researches: Sequence[Deep], versions: Sequence[TreeVersion], writes: Sequence[Write]
) -> Iterator[str]:
    """What is wrong with the trees of some researches.

    Args:
        versions: of these trees, without the one that was there before anybody asked.
        writes: of these researches.
    """
    by = {write.xact: write.research for write in writes if _keeps(write)}
    of = {one.number: one for one in researches}
    kept: list[tuple[int, int]] = []
    for version in versions:
        one = of.get(by.get(version.xact, 0))
        if one is None or version.now is None:
            yield f"tree {version.tree} was changed by no research, to {version.now}"
            continue
        name = f"tree {version.tree}, kept by research {one.number}"
        kept.append((one.number, version.tree))
        gates = [a for a in one.approvals if a["kind"] == "research_tree"]
        if not gates or gates[-1]["status"] != "approved":
            yield f"{name}: nobody has approved it"
            continue
        yield from (f"{name}: {odd}" for odd in _other(gates[-1]["content"]["tree"], version.now))
        if version.was is not None:
            shown = (gates[-1].get("asked") or gates[-1]["content"])["tree"]
            yield from (f"{name}: {odd}" for odd in _lost(version.was, shown))
    for one in researches:
        tree = (one.workflow.result or {}).get("tree_id")
        mine = [number for research, number in kept if research == one.number]
        if one.workflow.status == "succeeded" and mine != ([] if tree is None else [tree]):
            yield f"research {one.number} tells of the tree {tree}, and kept {mine}"
        yield from _asked_again(one, writes)


def _keeps(write: Write) -> bool:
    now = write.now or {}
    return write.table == "research_tasks" and (now.get("step"), now.get("status")) == ("build_tree", "done")


def _asked_again(one: Deep, writes: Sequence[Write]) -> Iterator[str]:
    """A gate of categories comes once more each time that others changed the tree, and never else."""
    gates = [a["status"] for a in one.approvals if a["kind"] == "research_tree"]
    anew = sum(
        write.research == one.number and write.table == "agent_messages" and ANEW in write.now["content"]
        for write in writes
        if write.now
    )
    # One that was stopped may have been so before it asked again.
    allowed = {anew + 1} if one.workflow.status == "succeeded" else {anew, anew + 1}
    if gates and len(gates) not in allowed:
        yield f"research {one.number}: others changed its tree {anew} times, and it asked {len(gates)} times"
    if any(status != "approved" for status in gates[:-1]):
        yield f"research {one.number}: it asked again after {gates}"


def _other(approved: _Tree, kept: _Tree) -> Iterator[str]:
    """What is kept is what was approved: names, parents, places and points, and all else."""
    before, after = _nodes(approved), _nodes(kept)
    for node in before.keys() | after.keys():
        if before.get(node) != after.get(node):
            yield f"node {node} was approved as {before.get(node)}, and is {after.get(node)}"
    rest = [{key: tree[key] for key in tree if key not in ("id", "nodes")} for tree in (approved, kept)]
    if rest[0] != rest[1]:
        yield f"approved was {rest[0]}, and there is {rest[1]}"


def _lost(was: _Tree, shown: _Tree) -> Iterator[str]:
    """What a person was shown had grown from what there was: no name, place or point of it was lost."""
    now = _nodes(shown)
    for node, (name, parent, _, points) in _nodes(was).items():
        if node not in now:
            yield f"node {node} ({name}) was lost"
        elif now[node][:2] != (name, parent) or not set(points) <= set(now[node][3]):
            yield f"node {node} was {(name, parent, points)}, and came to {now[node]}"
    if not set(was["dropped"]) <= set(shown["dropped"]):
        yield f"{was['dropped']} were dropped, and came back: {shown['dropped']}"


def _nodes(tree: _Tree) -> dict[str, tuple[str, str | None, int, list[int]]]:
    return {
        node["id"]: (node["name"], node["parent"], node["position"], node["points"]) for node in tree["nodes"]
    }
