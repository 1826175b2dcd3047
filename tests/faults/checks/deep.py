"""A deep research reads what was let in and nothing else, loses nothing that it found, and ends as decided.

Pure functions over what Postgres' ledger noted, the rows that there are in the end, and the log of the site
whose pages are read.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from models.runtime.workflows import Workflow
from tests.faults.ledger import Write

_ROBOTS = "/robots.txt"
# What is told once is told for good.
_FOR_GOOD = {"agent_messages", "workflow_tools", "research_sentences", "knowledge_trees"}
_GATES = {"await_user_review", "await_unreadable_review", "await_category_review", "await_final_review"}
# What is told, again and again, where others have changed the tree that it grows.
ANEW = "was changed by others meanwhile"
_GOES_ON = {"done", "nothing_read", "nothing_extracted", "nothing_written"}
_PASTED = "the text that was pasted"
_NO = {"rejected", "expired"}
# Where the addresses are that a gate lets in.
ADDRESSES = {"research_urls": "urls", "research_unreadable": "instead"}
# The gates whose no ends it, by what they are asked for.
_ENDING = {"research_urls": "urls", "research_tree": "tree", "research_result": "result"}


@dataclass(frozen=True)
class Deep:
    """A research and its rows in the end.

    Args:
        approvals: in order: kind, status, `content` as it was approved, `asked` where that was changed,
            decided_by, and `at`, when it was decided.
        candidates: number, url, user_approval, source_id, fault and metadata.
        tasks: step and status.
        trees: those that were first made in it.
        grows: the tree that it grows; None: it makes one of its own.
    """

    number: int
    workflow: Workflow
    approvals: Sequence[Mapping[str, Any]]
    candidates: Sequence[Mapping[str, Any]]
    tasks: Sequence[Mapping[str, Any]]
    sentences: int
    trees: Sequence[int]
    grows: int | None = None

    @property
    def let_in(self) -> dict[str, float]:
        """The addresses that somebody has approved, or given in place of others, each with its time."""
        return let_in(self.approvals)


def let_in(approvals: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """The addresses that some approvals let in, each with the time of the first of them.

    Args:
        approvals: kind, status, content as it was decided, and `at`, when it was.
    """
    found: dict[str, float] = {}
    for one in approvals:
        key = ADDRESSES.get(one["kind"])
        if key is not None and one["status"] == "approved":
            given = {url["url"] for url in one["content"].get(key, ()) if url.get("url")}
            found |= {url: min(one["at"], found.get(url, one["at"])) for url in given}
    return found


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


def nothing_was_fetched(one: Deep, writes: Sequence[Write]) -> Iterator[str]:
    """One that works on what its project holds finds no page, asks for none, and reads none."""
    name = f"research {one.number}, which reads no page,"
    if one.candidates:
        yield f"{name} has {[c['url'] for c in one.candidates]}"
    if asked := sorted({a["kind"] for a in one.approvals} & ADDRESSES.keys()):
        yield f"{name} asked for {asked}"
    if tools := [w.now["tool_name"] for w in writes if w.table == "workflow_tools" and w.now]:
        yield f"{name} used {tools}"


def read_after_its_stop(
    hits: Sequence[tuple[str, float]], pages: Collection[str], stopped_at: float, claims: int
) -> Iterator[str]:
    """Of pages that are read one after the other, no other one is asked for once a stop was answered.

    Args:
        pages: their paths.
        claims: how often a runner took it to read them: each may have been about to ask for one.
    """
    late = [path for path, at in hits if path in pages and at > stopped_at]
    if len(late) > claims:
        yield f"{late} were asked for after their research was stopped"


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
    if before != (None, None) and before != after and not (before[0] is None and _is_pasted(now)):
        yield f"{was['url']} came to {before}, and then to {after}"
    if after != (None, None) and now["user_approval"] != "approved":
        yield f"{was['url']} came to {after}, and is {now['user_approval']}"


def _is_pasted(now: Mapping[str, Any]) -> bool:
    """Whether what came of an address is of a text that was pasted in its place."""
    return bool(now["metadata"].get("pasted_by")) or (now["reason"] or "").startswith(_PASTED)


def _key(table: str, row: Mapping[str, Any]) -> str | None:
    """What a row is the only one of, in its research."""
    match table:
        case "agent_messages":
            return None if ANEW in row["content"] else f"the message of {row['step']}"
        case "workflow_tools":
            # A text that nothing could be read in may be given again.
            if row["tool_name"] == "save_to_database" and row["error_message"]:
                return None
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
    no = next((a for a in one.approvals if a["status"] in _NO and a["kind"] in _ENDING), None)
    came_to = result.get("outcome"), result.get("ended_at")
    if no is not None and came_to != (no["status"], _ENDING[no["kind"]]):
        yield f"{name} came to {came_to}, and {no['kind']} was {no['status']}"
    if no is None and (came_to[0] not in _GOES_ON or came_to[1] is not None):
        yield f"{name} came to {came_to}, and nobody said no"
    yield from (f"{name}: {odd}" for odd in _pages(one, result, writes))
    if one.sentences != result.get("sentences"):
        yield f"{name} tells of {result.get('sentences')} sentences, and has {one.sentences}"
    tree = [] if result.get("tree_id") is None else [result["tree_id"]]
    if list(one.trees) != tree and (one.grows is None or one.trees or tree != [one.grows]):
        yield f"{name} tells of the trees {tree}, has {list(one.trees)}, and was to grow {one.grows}"
    messages = [w.now for w in writes if w.table == "agent_messages" and w.now]
    said = sorted(message["step"] for message in messages if ANEW not in message["content"])
    done = [t["step"] for t in one.tasks if t["status"] == "done" and t["step"] not in _GATES]
    if said != sorted(["classify_intent", *done]):
        yield f"{name}: its agents told of {said}, done are {done}"
    if left := [t["step"] for t in one.tasks if t["status"] not in ("done", "skipped")]:
        yield f"{name} is over, and {left} are not"


def _pages(one: Deep, result: Mapping[str, Any], writes: Sequence[Write]) -> Iterator[str]:
    approved = [c for c in one.candidates if c["user_approval"] == "approved"]
    if {c["url"] for c in approved} != one.let_in.keys():
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
