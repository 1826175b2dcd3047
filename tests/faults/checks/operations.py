"""An operation calls nobody before its plan is approved, reads nothing anew unasked, and ends as decided.

Pure functions over the servers' own log, what people said, and the rows that there are in the end.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from models.runtime.approvals import content_digest
from models.runtime.workflows import Workflow
from tests.faults.ledger import Move, Operated
from tests.faults.people.work import Said
from tests.faults.site.books import BOOKS, SEARCH, BookCall

_PLAN, _RESULTS = "operation_plan", "operation_results"
_STAGES = {_PLAN: "plan_approval", _RESULTS: "final_approval"}
_BECOMES = {"approve": "approved", "modify": "approved", "reject": "rejected"}
_AGENT_OF = {book: agent for agent, book in BOOKS.items()}
# Agents that run side by side may each be about to make a call when their claim ends.
_AT_ONCE = len(BOOKS)


@dataclass(frozen=True)
class OperationTrail:
    """An operation and all that there is of it in the end.

    Args:
        approvals: in order: id, kind, status, `content` as it was decided, decided_by, and `at`, when it was.
        history: in order: iteration, stage, agent, result, user_feedback and by.
        iterations: what each came to: its results, None where it came to none.
        calls: what was read of servers, by their own log.
        moves: of its workflow.
        keys: of its documents.
    """

    number: int
    workflow: Workflow
    approvals: Sequence[Mapping[str, Any]]
    history: Sequence[Mapping[str, Any]]
    iterations: Mapping[int, Mapping[str, Any] | None]
    calls: Sequence[BookCall]
    moves: Sequence[Move]
    keys: Sequence[str]

    @property
    def name(self) -> str:
        """How it is told of."""
        return f"operation {self.number}"

    @property
    def crashes(self) -> int:
        """How often a claim ended with steps in flight, which the next claim may have begun again."""
        lost = ("running", "parked", "queued")
        return sum(move.before == "running" and move.after in lost for move in self.moves)

    @property
    def claims(self) -> int:
        """How often a runner took it."""
        return sum(move.after == "running" for move in self.moves)

    @property
    def readings(self) -> list[Mapping[str, Any]]:
        """The entries of its history that tell what an agent has read."""
        return [one for one in self.history if "task_digest" in one["result"]]

    @property
    def asked(self) -> list[str]:
        """The agents whose reading ended with a question of their server, as often as one did."""
        return [one["agent"] for one in self.history if one["result"].get("server_question")]


def calls_were_approved(one: OperationTrail) -> Iterator[str]:
    """No call comes before a plan with its agent and its tool was approved.

    Nor, but for those that a dead or sleeping runner was at, while none stands: after results were approved,
    or another plan was wanted.
    """
    late = []
    for call in one.calls:
        agent = _AGENT_OF[call.book]
        before = [a for a in one.approvals if a["at"] is not None and a["at"] <= call.at]
        plans = [a for a in before if a["kind"] == _PLAN and a["status"] == "approved"]
        if not any(_allows(a["content"]["plan"], agent, call.book) for a in plans):
            yield f"{one.name}: {call.book} was called for {call.query!r}, and no approved plan has that"
        elif _standing(before) is None:
            late.append(call)
    if len(late) > one.crashes * _AT_ONCE:
        yield f"{one.name}: {[(c.book, c.query) for c in late]} were called after its plan was done with"


def _allows(plan: Mapping[str, Any], agent: str, book: str) -> bool:
    steps = {step["agent"]: step for step in plan["steps"] if step["agent"] in plan["agent_sequence"]}
    tools = steps[agent]["tools"] if agent in steps else ()
    return any((tool["server"], tool["tool"]) == (book, SEARCH) for tool in tools)


def _standing(decided: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The plan that stands after some decisions."""
    stands = None
    for approval in sorted(decided, key=lambda a: a["at"]):
        if approval["kind"] == _PLAN and approval["status"] == "approved":
            stands = approval
        elif approval["kind"] == _RESULTS:
            revision = (approval["answer"] or {}).get("revision_type", "full_replan")
            if approval["status"] == "approved" or revision == "full_replan":
                stands = None
    return stands


def calls_were_told(one: OperationTrail) -> Iterator[str]:
    """Each call that an agent tells of was answered, and none was made again but after a crash.

    What was called before its server asked something is called again with the answer.
    """
    answered = Counter((call.book, call.query) for call in one.calls if call.answered)
    told: Counter[tuple[str, str]] = Counter()
    got: Counter[tuple[str, str]] = Counter()
    for entry in one.readings:
        for use in entry["result"]["metadata"]["tool_calls"]:
            key = use["server"], use["arguments"]["query"]
            told[key] += 1
            got[key] += use["status"] == "answered"
    for key, times in got.items():
        if answered[key] < times:
            yield f"{one.name} tells {times} times of what {key} answered {answered[key]} times"
    # What is in flight when it is cancelled is not told of.
    more = one.crashes + (one.workflow.status != "succeeded")
    asked = Counter(one.asked)
    for key, times in answered.items():
        if times > told[key] + more + asked[_AGENT_OF[key[0]]]:
            crashes = f"{told[key]} readings and {one.crashes} crashes"
            yield f"{one.name}: {key} was called {times} times for {crashes}"


def read_for_a_reason(one: OperationTrail) -> Iterator[str]:
    """An agent reads again only if it is named, its task is another, or a person had it try again."""
    last: dict[str, str] = {}
    may: set[str] = set()
    for entry in one.history:
        agent, result = entry["agent"], entry["result"]
        if entry["stage"] == "final_approval" and result["status"] == "rejected":
            full = result["revision_type"] == "full_replan"
            may |= set(BOOKS if full else result["target_agents"])
        elif "asked" in result:
            again = "rejected" if result["asked"] == "review" else "approved"
            may |= {agent} if result["status"] == again else set()
        elif "task_digest" in result:
            if last.get(agent) == result["task_digest"] and agent not in may:
                yield f"{one.name}: {agent} read the same again in iteration {entry['iteration']}"
            last[agent] = result["task_digest"]
            may.discard(agent)
    told = Counter([*(entry["agent"] for entry in one.readings), *one.asked])
    kept = Counter(key.split("/")[1] for key in one.keys if key.startswith("read/"))
    if told != kept and one.workflow.status == "succeeded":
        yield f"{one.name} tells of the readings {dict(told)}, and has kept {dict(kept)}"


def decisions_are_told(one: OperationTrail, said: Sequence[Said]) -> Iterator[str]:
    """What was answered with 200 is in the history once, as it was said, and nothing of what was refused.

    Args:
        said: what people said of it.
    """
    kinds = {approval["id"]: approval["kind"] for approval in one.approvals}
    over = one.workflow.status == "succeeded"
    told = _told(one)
    for each in said:
        found = [entry for entry in told if entry["user_feedback"] == each.feedback]
        name, kind = f"{one.name}: what {each.who} said of {kinds[each.approval_id]}", kinds[each.approval_id]
        if len(found) > 1:
            yield f"{name} is in its history {len(found)} times"
        if each.status == 200 and over and not found:
            yield f"{name} was taken, and is not in its history"
        if each.status not in (200, None) and found:
            yield f"{name} was answered with {each.status}, and is in its history"
        for entry in found:
            result = entry["result"]
            if entry["by"] != each.who or _status(result) != _BECOMES[each.decision]:
                yield f"{name} ({each.decision}) is told as {entry['by']}'s {_status(result)}"
            if entry["stage"] != _STAGES.get(kind, "agent_execution"):
                yield f"{name} is told at {entry['stage']}"
            if kind == _PLAN and result["modified"] != (each.decision == "modify"):
                yield f"{name} ({each.decision}) is told as modified: {result['modified']}"
            if kind == _RESULTS and each.decision == "reject" and _revised(result) != _revised(each.changes):
                yield f"{name} ({_revised(each.changes)}) is told as {_revised(result)}"
    decided = [approval for approval in one.approvals if approval["status"] in _BECOMES.values()]
    if len(told) > len(decided) or (over and len(told) < len(decided)):
        yield f"{one.name}: {len(decided)} decisions, and its history tells of {len(told)}"


def _told(one: OperationTrail) -> list[Mapping[str, Any]]:
    """The entries of its history that tell of decisions: of a write the last one, which has its outcome."""
    told = [entry for entry in one.history if entry["by"] and "sending" not in entry["result"]]
    last = {e["result"]["write"]["approval_id"]: e for e in told if "write" in e["result"]}
    return [entry for entry in told if "write" not in entry["result"] or entry in last.values()]


def _status(result: Mapping[str, Any]) -> str:
    """What a decision is told as."""
    if "write" in result:
        return "rejected" if result["write"]["status"] == "refused" else "approved"
    return str(result["status"])


def _revised(said: Mapping[str, Any]) -> tuple[str, list[str]]:
    return said["revision_type"], list(said.get("target_agents", ()))


def ended_as_decided(one: OperationTrail) -> Iterator[str]:
    """With the results that were approved, word for word; or at the gate at which nobody answered in time.

    Nothing is asked of one that was cancelled.
    """
    if one.workflow.status != "succeeded":
        return
    result, last = one.workflow.result or {}, one.approvals[-1]
    if (result["outcome"] == "expired") != (last["status"] == "expired"):
        yield f"{one.name} came to {result['outcome']}, and its last gate is {last['status']}"
    if result["outcome"] == "expired":
        return
    if (last["kind"], last["status"], last["id"]) != (_RESULTS, "approved", result["approval_id"]):
        yield f"{one.name} ended with {result['approval_id']}; last was {last['kind']} {last['status']}"
        return
    digest = content_digest(one.iterations.get(result["iteration"]) or {})
    if digest != content_digest(last["content"]):
        yield f"{one.name} keeps other results than were approved"
    if not any(a["kind"] == _PLAN and a["status"] == "approved" for a in one.approvals):
        yield f"{one.name} was completed, and nobody approved a plan"
    plans = [a["content"]["plan"] for a in one.approvals if (a["kind"], a["status"]) == (_PLAN, "approved")]
    if plans and last["content"]["plan"] != plans[-1]:
        yield f"{one.name}: the plan of its results is not the one that was approved last"


def written_while_running(rows: Sequence[Operated]) -> Iterator[str]:
    """Rows are written while it runs, and none of its history is changed or lost."""
    for row in rows:
        name = f"{row.table} of operation {row.operation}"
        if row.status != "running":
            yield f"{name}: {row.did} while it was {row.status}"
        if row.did == "DELETE" or (row.did == "UPDATE" and row.table == "operation_history"):
            yield f"{name}: what was told was changed ({row.did})"


def called_after_its_cancel(
    one: OperationTrail, cancelled_at: float, *, hears_within: float
) -> Iterator[str]:
    """Once a cancel was answered no server is called, but for what its runners were at.

    Args:
        cancelled_at: when the answer came.
        hears_within: seconds until whoever runs it has heard of it, or has lost its lease.
    """
    late = [call for call in one.calls if call.at > cancelled_at + hears_within]
    if len(late) > one.claims * _AT_ONCE:
        yield f"{one.name}: {[(c.book, c.query) for c in late]} were called after its cancel was answered"
