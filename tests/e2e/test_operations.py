"""Operations on the real stack, with the sample servers: conflicts are found, and runners die at every stage.

What is revised is done over, and nothing else is.
"""

import asyncio
from typing import Any

import pytest

from tests.e2e.cluster import Cluster
from tests.e2e.story import People, Refused
from tests.samples.operations import answer_key

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(900)]

AT = "/api/operations"
QUESTION = "Why is Meridian Office Supply's invoice INV-2041 late, and where else do our systems disagree?"
ENDED = ("completed", "failed", "cancelled")
READ = ("gmail", "accounts_payable", "crm")


class OneOperation:
    """An operation, as Ann follows it over HTTP."""

    def __init__(self, people: People, number: int) -> None:
        self.people = people
        self.number = number

    @classmethod
    async def begun(cls, people: People, query: str = QUESTION) -> "OneOperation":
        """Ask for one."""
        answer = await people.request("ann", "POST", AT, {"query": query, "topic": "macro"})
        return cls(people, answer["operation_id"])

    async def get(self, what: str = "") -> Any:
        """How it stands, or a part of it."""
        return await self.people.request("ann", "GET", f"{AT}/{self.number}{what}")

    async def post(self, what: str, **body: Any) -> Any:
        """Answer."""
        return await self.people.request("ann", "POST", f"{AT}/{self.number}/{what}", body)

    async def until(self, kind: str | None = None, iteration: int = 1) -> Any:
        """How it stands once it waits at a gate of this kind, or has ended where none is named."""
        async with asyncio.timeout(600):
            while True:
                found = await self.get()
                gate = found["approval"] or {}
                if kind is None and found["status"] in ENDED:
                    return found
                if (
                    kind is not None
                    and gate.get("kind") == kind
                    and gate["content"]["iteration"] >= iteration
                ):
                    return found
                assert kind is None or found["status"] not in ENDED, found
                await asyncio.sleep(0.2)  # asked again over HTTP, as a client does


async def kill_at_each_stage(cluster: Cluster, operation: OneOperation, killed: list[str]) -> None:
    """Kill all runners once at each stage at which the operation is seen, until it ends."""
    while True:
        found = await operation.get()
        if found["status"] in ENDED:
            return
        stage = f"{found['iteration']} {found['progress']['current_stage']} {found['status']}"
        if stage not in killed:
            killed.append(stage)
            await asyncio.to_thread(cluster.kill, "RunnerActor")
        await asyncio.sleep(0.1)  # asked again over HTTP, as a client does


def readings(history: Any) -> dict[str, int]:
    """How often each agent read."""
    agents = [one["agent"] for one in history["execution_history"] if one["stage"] == "agent_execution"]
    return {agent: agents.count(agent) for agent in READ}


async def test_the_story_while_runners_die_at_every_stage(cluster: Cluster) -> None:
    people = People(cluster)
    operation = await OneOperation.begun(people)
    killed: list[str] = []
    killing = asyncio.create_task(kill_at_each_stage(cluster, operation, killed))

    shown = await operation.until("operation_plan")
    plan = shown["approval"]["content"]["plan"]
    assert plan["agent_sequence"] == [*READ, "analysis"]
    assert all(tool["digest"] for step in plan["steps"] for tool in step["tools"])
    assert readings(await operation.get("/history")) == dict.fromkeys(READ, 0)
    with pytest.raises(Refused, match="422"):
        await operation.post("plan", approved="ok", digest=shown["approval"]["digest"])
    await operation.post("plan", approved=True, digest=shown["approval"]["digest"])

    shown = await operation.until("operation_results")
    results = shown["approval"]["content"]
    assert [one["status"] for one in results["results"]] == ["completed"] * 3
    assert [one["metadata"]["service_used"] for one in results["results"]] == [
        *("gmail_mcp", "bill_com_mcp", "salesforce_mcp"),
    ]
    told = " ".join(one["explanation"] for one in results["conflicts"])
    planted = [one for one in answer_key().conflicts if "INV-2041" in one.about]
    assert planted
    assert "INV-2041" in told, told
    assert results["analysis"]["executive_summary"][1]["text"].count("2041"), results["analysis"]

    await operation.post(
        "results",
        approved=False,
        revision_type="specific_agents",
        target_agents=["crm"],
        feedback="look at INV-2077 as well",
        digest=shown["approval"]["digest"],
    )
    shown = await operation.until("operation_results", iteration=2)
    assert shown["approval"]["content"]["reused"] == ["gmail", "accounts_payable"]
    assert readings(await operation.get("/history")) == {"gmail": 1, "accounts_payable": 1, "crm": 2}
    with pytest.raises(Refused, match="409"):
        await operation.get("/export?format=json")
    await operation.post("results", approved=True, digest=shown["approval"]["digest"])
    done = await operation.until()
    await killing

    assert (done["status"], done["outcome"], done["error"]) == ("completed", "completed", None)
    assert len(killed) > 3, killed
    history = await operation.get("/history")
    assert [one["revision_type"] for one in history["final_approvals"]] == ["specific_agents", "none"]
    exported = await operation.get("/export?format=json")
    assert exported["results"]["iteration"] == 2
    compared = await operation.get("/compare?left=1&right=2")
    assert set(compared["changes"]["agents"]) <= {"crm"}
