"""What was approved is what a person made of what was shown, change by change.

Pure, and by its own means: nothing of the product is asked what a change comes to.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.faults.people.work import Said


def made(said: Said, approval: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with the content of an approval that somebody has changed, and was told so.

    Args:
        said: what he said.
        approval: its row: id, kind and content, and `asked` where that was changed.
    """
    content, asked = approval["content"], approval.get("asked") or approval["content"]
    match approval["kind"]:
        case "research_urls":
            wanted: Any = [u for u in asked["urls"] if u["number"] not in said.changes["remove_urls"]]
            found: Any = content["urls"]
        case "research_unreadable":
            wanted, found = _given(said.changes["instead"]), _given(content["instead"])
        case "research_tree":
            wanted, found = _edited(asked["tree"], said.changes["tree_edits"]), _edited(content["tree"], ())
        case "operation_plan":
            wanted, found = _plan(asked["plan"], said.changes), _plan(content["plan"], {})
        case "operation_question":
            given = said.changes.get("given")
            wanted, found = (given, given is None), (content["given"], content["declined"])
        case _:
            wanted, found = "no change", "one"
    if wanted != found:
        yield f"approval {approval['id']}: {said.who} made {wanted} of it, and approved is {found}"


def _given(instead: Sequence[Mapping[str, Any]]) -> list[tuple[int, str | None, str | None]]:
    return [(one["number"], one.get("url"), (one.get("pasted") or {}).get("text")) for one in instead]


def _plan(plan: Mapping[str, Any], edit: Mapping[str, Any]) -> tuple[list[str], bool, dict[str, str], Any]:
    """Who runs, whether at once, what each is told and may call, after an edit."""
    skipped, said = edit.get("skip_agents", ()), edit.get("instructions", {})
    agents = [agent for agent in edit.get("agent_sequence", plan["agent_sequence"]) if agent not in skipped]
    steps = {step["agent"]: step for step in plan["steps"]}
    told = {agent: said.get(agent, steps[agent]["instructions"]) for agent in agents}
    tools = {agent: steps[agent]["tools"] for agent in agents}
    return agents, edit.get("side_by_side", plan["side_by_side"]), told, tools


def _edited(tree: Mapping[str, Any], edits: Sequence[Mapping[str, Any]]) -> tuple[dict[str, Any], set[int]]:
    """Name, parent and points of each node after some edits, and the points that were dropped."""
    nodes = {node["id"]: [node["name"], node["parent"], set(node["points"])] for node in tree["nodes"]}
    dropped = set(tree["dropped"])
    for edit in edits:
        match edit["edit"]:
            case "rename":
                nodes[edit["node"]][0] = edit["name"]
            case "move":
                nodes[edit["node"]][1] = edit["under"]
            case "merge":
                for merged in edit["nodes"]:
                    nodes[edit["into"]][2] |= nodes.pop(merged)[2]
            case "drop":
                dropped |= nodes.pop(edit["node"])[2]
    return nodes, dropped
