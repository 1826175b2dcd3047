"""What must hold of every operation, whatever people, servers and deaths did to it. Pure.

Checked on what Postgres has of it, and on what its agents were asked. What is right is worked out here from
what people decided: the graph and its steps are not asked.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from itertools import groupby, pairwise

from models.mcp.tool_answers import ServedToolCall
from models.operations.items import SourceAgent
from models.operations.plans import SOURCE_AGENTS, OperationPlan, PlanShown
from models.operations.results import AgentResult, ComprehensiveResults
from tests.integration.operations.properties.operation_facts import OperationFacts, Row, moment, subject
from tests.integration.operations.properties.staged_agents import WRITES, Ledger

_WAYS_ON = ("operation_question", "operation_review")
_STOPS = ("waiting", "succeeded")
# Of entries that tell of an agent, those that are about something else than a reading.
_NO_READING = {"asked", "sending", "write"}


def in_force(facts: OperationFacts, gates: Sequence[str]) -> OperationPlan | None:
    """The plan that agents may go by now; None where none is approved.

    A type that stops at no plan goes by its first one. Each further one is made because of what a person said
    or because a tool is not what it was, and takes a person's yes.
    """
    asked = facts.asked("operation_plan")
    since = int(asked[-1]["id"]) if asked else 0
    for one in facts.decided("operation_results"):
        answer = one["answer"] or {"revision_type": "full_replan"}
        replan = one["status"] == "rejected" and answer["revision_type"] == "full_replan"
        if replan and int(one["id"]) > since:
            return None
    if asked:
        approved = asked[-1]["status"] == "approved"
        return PlanShown.model_validate(subject(asked[-1])).plan if approved else None
    first = facts.documents.get("plan/1")
    return None if first is None or "plan" in gates else OperationPlan.model_validate(first["value"])


def check_calls(
    before: OperationFacts,
    after: OperationFacts,
    gates: Sequence[str],
    calls: Sequence[tuple[SourceAgent, ServedToolCall]],
) -> None:
    """What one process called of servers was allowed by the plan that was in force when it began."""
    plan = in_force(before, gates)
    if "plan_decided/1" not in before.documents and "plan" not in gates and "plan/1" in after.documents:
        plan = OperationPlan.model_validate(after.documents["plan/1"]["value"])
    assert plan is not None or not calls, f"{calls[0]} was called before a plan was approved"
    assert not before.ended or not calls, f"{calls[0]} was called by an operation that had ended"
    for agent, call in calls:
        assert plan is not None
        assert agent in plan.sources, f"{agent} is not in the plan, and called {call}"
        allowed = {(tool.server, tool.tool, tool.digest) for tool in plan.step(agent).tools}
        assert (call.server, call.tool, call.digest) in allowed, f"{call} is not of the plan: {allowed}"


def check(facts: OperationFacts, gates: Sequence[str], ledger: Ledger, *, query: str, tries: int) -> None:
    """All laws that can be seen at one moment. `tries` counts deaths and parkings."""
    assert facts.rows["operation"]["query"] == facts.rows["workflow"]["input"]["query"] == query
    assert facts.status not in ("failed", "parked"), facts.rows["workflow"]["error"]
    _check_reasons(facts, ledger, tries)
    _check_writes(facts, ledger)
    _check_history(facts)
    _check_results(facts, gates)
    _check_end(facts, gates)


def check_kept(before: OperationFacts, now: OperationFacts) -> None:
    """Nothing that was kept is changed or gone; what has ended is not touched any more."""
    assert now.history[: len(before.history)] == before.history, "the history was changed"
    for key, document in before.documents.items():
        assert now.documents.get(key) == document, f"document {key} was changed"
    settled = {one["id"]: one for one in before.approvals if one["status"] != "pending"}
    assert settled == {one["id"]: one for one in now.approvals if one["id"] in settled}
    for earlier, later in zip(before.iterations, now.iterations, strict=False):
        assert earlier["results"] in (None, later["results"]), "an iteration's results were changed"
    assert len(now.iterations) >= len(before.iterations), "an iteration is gone"
    assert not before.ended or now == before, "it had ended, and something was written"


def _check_writes(facts: OperationFacts, ledger: Ledger) -> None:
    """A call that writes is sent once for each yes to it, and never without; what was sent is shown."""
    allowed = Counter(
        str(one["content"]["write"]["server"])
        for one in facts.decided("operation_write")
        if one["status"] == "approved"
    )
    sent = Counter(call.server for _, call in ledger.calls if call.tool == WRITES)
    assert not sent - allowed, f"sent {sent}, and approved were {allowed}"
    # Up to what a person is shown now.
    if facts.pending is not None and facts.pending["kind"] == "operation_results":
        results = ComprehensiveResults.model_validate(facts.pending["content"])
        told = Counter(one.write.server for one in results.writes if one.status in ("done", "unknown"))
        assert not sent - told, f"sent {sent}, and the results tell of {told}"


def _check_reasons(facts: OperationFacts, ledger: Ledger, tries: int) -> None:
    """An agent reads again where a person or its task says so, and is asked again where a process died."""
    for agent in SOURCE_AGENTS:
        kept = facts.readings(agent)
        asked = [task for task in ledger.readings if task.agent == agent]
        assert len(asked) <= len(kept) + tries + 1, f"{agent} was asked {len(asked)} times for {len(kept)}"
        for (at, first), (then, second) in pairwise(kept):
            said = [
                one
                for one in facts.decided(*_WAYS_ON, "operation_results")
                if at <= moment(one["decided_at"]) <= then
            ]
            if any(_has_read_again(one, agent) for one in said) or first.voids_plan is not None:
                continue
            results = first.result, second.result
            told = f"{agent} read again without a reason: {first}"
            if any(at <= moment(one["decided_at"]) <= then for one in facts.decided("operation_plan")):
                continue  # what was asked under the plan before is not what is asked now
            assert first.server_question is None, told
            if results[0] is not None and results[1] is not None:
                assert results[0].task_digest != results[1].task_digest, told
            else:
                assert len({task.digest for task in asked}) > 1, told


def _has_read_again(approval: Row, agent: SourceAgent) -> bool:
    """Whether what was decided there has the agent read once more."""
    if approval["status"] not in ("approved", "rejected"):
        return False
    yes, shown = approval["status"] == "approved", approval["content"]
    if approval["kind"] == "operation_results":
        answer = approval["answer"] or {"revision_type": "full_replan", "target_agents": []}
        again = answer["revision_type"] == "full_replan" or agent in answer["target_agents"]
        return bool(again) and not yes
    if shown["agent"] != agent:
        return False
    if approval["kind"] == "operation_review":
        return not yes
    return bool(yes)


def _check_history(facts: OperationFacts) -> None:
    """There is an entry for each plan, decision, reading and compilation, in the order in which they came."""
    # Agents that read side by side are told of by transactions of their own, at the same time.
    groups = [list(group) for _, group in groupby(facts.history, lambda one: str(one["stage"]))]
    for earlier, later in pairwise(groups):
        last, first = max(map(_at, earlier)), min(map(_at, later))
        assert last <= first, "the history is out of order"
    iterations = [one["iteration"] for one in facts.history]
    assert iterations == sorted(iterations), f"iterations are out of order: {iterations}"
    if facts.status not in _STOPS:
        return
    made = [(one["result"], one["agent"]) for one in facts.told("plan_creation")]
    assert made == [(one["value"], "planner") for one in facts.numbered("plan")]
    work = facts.told("agent_execution")
    _check_told(facts, "operation_plan", facts.told("plan_approval"))
    _check_told(facts, "operation_results", facts.told("final_approval"))
    for kind in _WAYS_ON:
        asked = kind.removeprefix("operation_")
        _check_told(facts, kind, [one for one in work if one["result"].get("asked") == asked])
    for agent in SOURCE_AGENTS:
        told = [
            one["result"] for one in work if one["agent"] == agent and not one["result"].keys() & _NO_READING
        ]
        kept = [outcome for _, outcome in facts.readings(agent)]
        assert len(told) == len(kept), f"{agent}: {len(told)} of {len(kept)} readings are in the history"
        for entry, outcome in zip(told, kept, strict=True):
            if outcome.result is None:
                assert entry == outcome.model_dump(mode="json", exclude={"result"})
                continue
            found = outcome.result.result
            assert entry["task_digest"] == outcome.result.task_digest
            assert entry["status"] == outcome.result.status
            assert entry["items"] == (0 if found is None else len(found.items))
    compiled = [one["iteration"] for one in facts.iterations if one["results"] is not None]
    assert [one["iteration"] for one in facts.told("results_compilation")] == compiled


def _at(row: Row) -> datetime:
    return moment(row["created_at"])


def _check_told(facts: OperationFacts, kind: str, told: Sequence[Row]) -> None:
    """Each decision of a kind is told of, after it was taken and before anybody is asked again."""
    decided = facts.decided(kind)
    said = [(one["user_feedback"], one["by"], one["result"]["status"]) for one in told]
    assert said == [(one["notes"], one["decided_by"], one["status"]) for one in decided], f"{kind}: {said}"
    begins = {one["id"]: moment(one["created_at"]) for one in facts.approvals}
    order = list(begins)
    for entry, approval in zip(told, decided, strict=True):
        at, place = moment(entry["created_at"]), order.index(approval["id"])
        assert at >= moment(approval["decided_at"]), f"{kind} was told of before it was decided"
        if place + 1 < len(order):
            assert at <= begins[order[place + 1]], f"{kind} was told of late"


def _check_results(facts: OperationFacts, gates: Sequence[str]) -> None:
    """What an iteration came to is what its agents have found last; a person let each failed one go."""
    for row in facts.iterations:
        if row["results"] is None:
            continue
        results = ComprehensiveResults.model_validate(row["results"])
        at = moment(facts.documents[f"compiled/{row['iteration']}"]["created_at"])
        assert tuple(one.agent for one in results.results) == results.plan.sources, "a result is missing"
        for one in results.results:
            read = [
                outcome.result
                for then, outcome in facts.readings(one.agent)  # type: ignore[arg-type]
                if then <= at
            ]
            assert read, f"{one.agent} has a result that nobody made"
            last = read[-1]
            if last is None:
                assert one.status == "skipped", f"{one.agent} has a result that nobody made"
                assert _is_let_go(facts, one.agent), f"nobody let {one.agent} go"
                continue
            since = {"status": one.status, "writes": one.writes}
            assert one == last.model_copy(update=since), f"{one.agent}'s result is lost"
            if one.status == "completed":
                assert last.status == "completed"
                assert "agents" not in gates or _is_accepted(facts, one), f"nobody took {one.agent}'s result"
            else:
                assert one.status == "skipped", f"{one.agent} failed, and nobody was asked"
                assert _is_let_go(facts, one.agent), f"nobody let {one.agent} go"


def _is_accepted(facts: OperationFacts, result: AgentResult) -> bool:
    shown = result.model_dump(mode="json")
    return any(
        one["status"] == "approved" and one["content"]["agent_result"] == shown
        for one in facts.decided("operation_review")
    )


def _is_let_go(facts: OperationFacts, agent: str) -> bool:
    return any(
        one["status"] == "rejected" and one["content"]["agent"] == agent
        for one in facts.decided("operation_question")
    )


def _check_end(facts: OperationFacts, gates: Sequence[str]) -> None:
    """It is completed with a yes to its results where its type asks for one; else a gate has expired."""
    if facts.status != "succeeded":
        return
    assert facts.pending is None
    last = facts.decided("operation_results")[-1:]
    expired = any(one["status"] == "expired" for one in facts.approvals)
    if facts.outcome == "completed":
        assert not expired
        assert "results" not in gates or [one["status"] for one in last] == ["approved"]
        assert facts.iterations[-1]["results"] is not None, "it is completed, and came to nothing"
    else:
        assert facts.outcome == "expired"
        assert expired, "it is said to have expired, and nothing has"
