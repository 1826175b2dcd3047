"""Operations through the doors: REST and WebSocket, and the same answers through either."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from websockets.asyncio.client import ClientConnection, connect

from models.config import Config
from models.store.database import Database
from tests.integration.operations.operations_desk import QUESTION, OperationsDesk, operations_config
from tests.integration.rest import client, served, token

SOON = 30


@asynccontextmanager
async def socket(
    base: str,
    config: Config,
    number: int,
    after: int = 0,
    *,
    who: str = "ann",
    scopes: Sequence[str] = ("macro:analyst",),
) -> AsyncIterator[ClientConnection]:
    """Somebody's WebSocket about an operation."""
    url = f"{base.replace('http', 'ws')}/ws/operations/{number}?after={after}"
    headers = {"Authorization": f"Bearer {token(config, who, *scopes)}"}
    async with connect(url, additional_headers=headers, proxy=None) as opened:
        yield opened


async def told(opened: ClientConnection, type_: str) -> dict[str, Any]:
    """The next message of a type."""
    async with asyncio.timeout(SOON):
        while True:
            message: dict[str, Any] = json.loads(await opened.recv())
            assert message["type"] != "error" or type_ == "error", message
            if message["type"] == type_:
                return message


async def say(opened: ClientConnection, type_: str, **data: Any) -> None:
    """Answer."""
    await opened.send(json.dumps({"type": type_, "data": data}))


async def waiting(ann: httpx2.AsyncClient, number: int, kind: str) -> dict[str, Any]:
    """The gate that waits, once there is one."""
    async with asyncio.timeout(SOON):
        while True:
            found = (await ann.get(f"/api/operations/{number}")).json()
            if found["approval"] is not None and found["approval"]["kind"] == kind:
                approval: dict[str, Any] = found["approval"]
                return approval
            await asyncio.sleep(0.05)


async def test_the_story_over_rest(configure: Callable[..., Config], database: Database) -> None:
    config = operations_config(configure)
    desk = OperationsDesk(config, database)
    with served(config, database.url) as base:
        async with desk.running(), client(config, base, "ann", "macro:analyst") as ann:
            begun = await ann.post("/api/operations", json={"query": QUESTION, "topic": "macro"})
            assert begun.status_code == 201, begun.text
            number = begun.json()["operation_id"]
            gate = await waiting(ann, number, "operation_plan")
            malformed = await ann.post(f"/api/operations/{number}/plan", json={"approved": "yes"})
            assert malformed.status_code == 422
            stale = {"approved": True, "digest": "0" * 64}
            assert (await ann.post(f"/api/operations/{number}/plan", json=stale)).status_code == 409
            answer = {"approved": True, "digest": gate["digest"], "plan_id": begun.json()["plan_id"]}
            assert (await ann.post(f"/api/operations/{number}/plan", json=answer)).status_code == 200
            results = await waiting(ann, number, "operation_results")
            early = await ann.get(f"/api/operations/{number}/export?format=json")
            assert early.status_code == 409
            answer = {"approved": True, "digest": results["digest"], "export_results": True}
            decided = await ann.post(f"/api/operations/{number}/results", json=answer)
            assert decided.status_code == 200, decided.text
            await desk.stopped(number)
            for where in decided.json()["exports"]:
                exported = await ann.get(where)
                assert exported.status_code == 200, exported.text
                assert exported.content
            history = (await ann.get(f"/api/operations/{number}/history")).json()
            assert history["original_task"] == QUESTION
            listed = (await ann.get("/api/operations?mine=true")).json()
            assert [one["outcome"] for one in listed["operations"]] == ["completed"]
        async with client(config, base, "eli", "equity:analyst") as eli:
            assert (await eli.get(f"/api/operations/{number}")).status_code == 404


async def test_the_story_over_a_websocket_and_again_after_a_reconnect(
    configure: Callable[..., Config], database: Database
) -> None:
    config = operations_config(configure)
    desk = OperationsDesk(config, database)
    with served(config, database.url) as base:
        async with desk.running():
            number = await desk.start()
            async with socket(base, config, number) as opened:
                asked = await told(opened, "plan_approval_request")
                assert asked["data"]["plan"]["agent_sequence"][-1] == "analysis"
                await say(opened, "plan_approval_response", approved=True, digest="0" * 64)
                refused = await told(opened, "error")
                assert refused["data"]["status"] == 409
                await say(opened, "plan_approval_response", approved=True, digest=asked["data"]["digest"])
                assert (await told(opened, "decided"))["data"]["decision"] == "approved"
                ready = await told(opened, "comprehensive_results_ready")
                assert set(ready["data"]["results"]) == {"gmail", "accounts_payable", "crm", "analysis"}
                shown = await told(opened, "final_results_approval_request")
            async with socket(base, config, number, after=ready["id"] - 1) as opened:
                again = await told(opened, "comprehensive_results_ready")
                assert again["id"] == ready["id"]
                asked = await told(opened, "final_results_approval_request")
                assert asked["data"]["digest"] == shown["data"]["digest"]
                await say(
                    opened,
                    "final_results_approval_response",
                    approved=False,
                    revision_type="analysis_only",
                    feedback="look again",
                    digest=asked["data"]["digest"],
                )
                assert (await told(opened, "decided"))["data"]["decision"] == "rejected"
                second = await told(opened, "final_results_approval_request")
                assert second["data"]["iteration"] == 2
                await say(
                    opened,
                    "final_results_approval_response",
                    approved=True,
                    digest=second["data"]["digest"],
                )
                assert (await told(opened, "decided"))["data"]["decision"] == "approved"
            assert (await desk.stopped(number)).status == "succeeded"
