"""A deep research reads what was let in and nothing else, loses nothing that it found, and ends as decided.

Pure functions over what Postgres' ledger noted, the rows that there are in the end, and the log of the site
whose pages are read.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from models.runtime.workflows import Workflow
from tests.faults.ledger import Write

_ROBOTS = "/robots.txt"
# What is told once is told for good.
_FOR_GOOD = {"agent_messages", "workflow_tools", "research_sentences", "knowledge_trees"}
_GATES = {"await_user_review", "await_unreadable_review", "await_category_review", "await_final_review"}
_GOES_ON = {"done", "nothing_read", "nothing_extracted", "nothing_written"}
# The gates whose no ends it, by what they are asked for.
_ENDING = {"research_urls": "urls", "research_tree": "tree", "research_result": "result"}


@dataclass(frozen=True)
class Deep:
    """A research and its rows in the end.

    Args:
        approvals: kind, status, and `content`, as it was approved.
        candidates: number, url, user_approval, source_id and fault.
        tasks: step and status.
    """

    number: int
    workflow: Workflow
    approvals: Sequence[Mapping[str, Any]]
    candidates: Sequence[Mapping[str, Any]]
    tasks: Sequence[Mapping[str, Any]]
    sentences: int
    trees: Sequence[int]

    @property
    def let_in(self) -> set[str]:
        """The addresses that somebody has approved."""
        lists = [a for a in self.approvals if a["kind"] == "research_urls" and a["status"] == "approved"]
        return {url["url"] for one in lists for url in one["content"]["urls"]}


def only_what_was_let_in(
    hits: Sequence[tuple[str, float]], let_in: Mapping[str, float], origin: str
) -> Iterator[str]:
    """No page is asked for that nobody approved, nor before that.

    Args:
        hits: paths that were asked for, each with its time.
        let_in: addresses that were approved in some research, each with the time of the first decision.
        origin: of the site.
    """
    for path, at in hits:
        if path == _ROBOTS:
            continue
        if (since := let_in.get(f"{origin}{path}")) is None:
            yield f"{path} was asked for, and approved by nobody"
        elif at < since:
            yield f"{path} was asked for {since - at:.2f} s before it was approved"


def written(writes: Sequence[Write]) -> Iterator[str]:
    """Rows are written while their research runs, once, and none that was found is lost."""
    told: Counter[tuple[int, str, str]] = Counter()
    for write in writes:
        name = f"{write.table} of research {write.research}"
        if write.status != "running":
            yield f"{name}: {write.did} while it was {write.status}"
        if write.did == "DELETE":
            yield f"{name}: a row was lost: {write.was}"
        elif write.did == "UPDATE" and write.table in _FOR_GOOD:
            yield f"{name}: what was told was changed: {write.was}"
        elif write.did == "INSERT" and (key := _key(write.table, write.now or {})) is not None:
            told[write.research, write.table, key] += 1
        if write.table == "url_candidates" and write.did == "UPDATE":
            yield from (f"{name}: {odd}" for odd in _candidate(write.was or {}, write.now or {}))
    for (research, table, key), times in told.items():
        if times > 1:
            yield f"{table} of research {research}: {key} is there {times} times"


def _candidate(was: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    if was["user_approval"] == "approved" != now["user_approval"]:
        yield f"{was['url']} was approved, and then {now['user_approval']}"
    before, after = (was["source_id"], was["fault"]), (now["source_id"], now["fault"])
    if before != (None, None) and before != after:
        yield f"{was['url']} came to {before}, and then to {after}"
    if after != (None, None) and now["user_approval"] != "approved":
        yield f"{was['url']} came to {after}, and is {now['user_approval']}"


def _key(table: str, row: Mapping[str, Any]) -> str | None:
    """What a row is the only one of, in its research."""
    match table:
        case "agent_messages":
            return f"the message of {row['step']}"
        case "workflow_tools":
            return f"{row['tool_name']} {json.dumps(row['input'], sort_keys=True)}"
        case "research_sentences":
            return f"sentence {row['number']}"
        case "url_candidates":
            return f"address {row['url']}"
        case "knowledge_trees":
            return "its tree"
        case _:
            return None


def ended(one: Deep, writes: Sequence[Write]) -> Iterator[str]:
    """It came to what was decided, and its rows say the same. Nothing is asked of one that was stopped.

    Args:
        writes: what was written of it.
    """
    if one.workflow.status != "succeeded":
        return
    name, result = f"research {one.number}", one.workflow.result or {}
    no = next((a for a in one.approvals if a["status"] == "rejected" and a["kind"] in _ENDING), None)
    came_to = result.get("outcome"), result.get("ended_at")
    if no is not None and came_to != ("rejected", _ENDING[no["kind"]]):
        yield f"{name} came to {came_to}, and {no['kind']} was rejected"
    if no is None and (came_to[0] not in _GOES_ON or came_to[1] is not None):
        yield f"{name} came to {came_to}, and nobody said no"
    yield from (f"{name}: {odd}" for odd in _pages(one, result, writes))
    if one.sentences != result.get("sentences"):
        yield f"{name} tells of {result.get('sentences')} sentences, and has {one.sentences}"
    tree = [] if result.get("tree_id") is None else [result["tree_id"]]
    if list(one.trees) != tree:
        yield f"{name} tells of the trees {tree}, and has {list(one.trees)}"
    said = sorted(w.now["step"] for w in writes if w.table == "agent_messages" and w.now)
    done = [t["step"] for t in one.tasks if t["status"] == "done" and t["step"] not in _GATES]
    if said != sorted(["classify_intent", *done]):
        yield f"{name}: its agents told of {said}, done are {done}"
    if left := [t["step"] for t in one.tasks if t["status"] not in ("done", "skipped")]:
        yield f"{name} is over, and {left} are not"


def _pages(one: Deep, result: Mapping[str, Any], writes: Sequence[Write]) -> Iterator[str]:
    approved = [c for c in one.candidates if c["user_approval"] == "approved"]
    if {c["url"] for c in approved} != one.let_in:
        yield f"may be read: {sorted(c['url'] for c in approved)}; was let in: {sorted(one.let_in)}"
    if open_ := [c["url"] for c in approved if (c["source_id"] is None) == (c["fault"] is None)]:
        yield f"it is over, and nothing has come of {open_}"
    uses = [w.now["input"]["url"] for w in writes if w.now and w.now.get("tool_name") == "scrape_urls"]
    if sorted(uses) != sorted(c["url"] for c in approved):
        yield f"told as read are {uses}, not those that were let in"
    read = {c["source_id"] for c in approved if c["source_id"] is not None}
    if result.get("pages") != len(read):
        yield f"it tells of {result.get('pages')} pages, and has {len(read)}"
    missing = [c["number"] for c in approved if c["source_id"] is None]
    if sorted(m["number"] for m in result.get("missing", ())) != sorted(missing):
        yield f"it tells that {result.get('missing')} is missing, and it is {missing}"
    if approved and (result.get("outcome") == "nothing_read") != (not read):
        yield f"it came to {result.get('outcome')} with {len(read)} pages"
    if result.get("outcome") == "nothing_extracted" and result.get("points"):
        yield f"it came to nothing_extracted with {result['points']} points"
