"""Operations attacked through their doors: by others, by agents, twice at once, and after a grant is gone."""

import asyncio
import contextlib
import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import httpx2
import pytest
from websockets.exceptions import ConnectionClosedError

from cluster.cli.tokens import mint_token
from models.config import Config
from models.errors import PermissionMissing
from models.store.database import Database
from models.store.people import users
from tests.integration.operations.operations_desk import QUESTION, OperationsDesk, operations_config
from tests.integration.operations.test_doors import SOON, socket, waiting
from tests.integration.rest import client, served

_READS = ("", "/results", "/history", "/compare?left=1&right=1", "/export?format=json")
_WRITES: dict[str, dict[str, Any]] = {
    "/plan": {"approved": True},
    "/results": {"approved": True},
    "/agent": {"answer": "retry"},
    "/clarification": {"request_id": "1", "answer": "OK"},
    "/cancel": {"reason": "no"},
}


_NONE: dict[str, Any] | None = None
# What contradicts the plan that waits tells nothing of it, either.
_DOORS = (
    *((path, _NONE) for path in _READS),
    *_WRITES.items(),
    ("/plan", {"approved": True, "plan_id": "other"}),
    ("/plan", {"approved": True, "modified_plan": {"skip_agents": ["crm"]}, "digest": "0" * 64}),
    ("/results", {"approved": False, "revision_type": "analysis_only", "feedback": "again"}),
    ("/agent", {"answer": "answer", "given": {"code": 1}}),
)
_STRANGERS = (("eli", "equity:analyst"), ("rob", "equity:reader"), ("ed", "macro:editor"))


async def begun(ann: httpx2.AsyncClient, **more: Any) -> int:
    """An operation of Ann's."""
    answer = await ann.post("/api/operations", json={"query": QUESTION, "topic": "macro"} | more)
    assert answer.status_code in (200, 201), answer.text
    return int(answer.json()["operation_id"])


async def at(
    caller: httpx2.AsyncClient, number: int, path: str, body: dict[str, Any] | None
) -> httpx2.Response:
    """What a door of an operation answers; without a body it is read."""
    where = f"/api/operations/{number}{path}"
    return await (caller.get(where) if body is None else caller.post(where, json=body))


async def test_nobody_but_its_analysts_and_no_agent_gets_through_any_door(
    configure: Callable[..., Config], database: Database
) -> None:
    config = operations_config(configure)
    desk = OperationsDesk(config, database)
    with served(config, database.url) as base:
        async with desk.running(), client(config, base, "ann", "macro:analyst") as ann:
            number = await begun(ann)
            gate = await waiting(ann, number, "operation_plan")
            for who, scope in _STRANGERS:
                async with client(config, base, who, scope) as other:
                    for path, body in _DOORS:
                        there = await at(other, number, path, body)
                        nowhere = await at(other, 9999, path, body)
                        decides = body is not None and path != "/cancel"
                        # Who is an analyst nowhere reads and cancels none; else it is as if it weren't there.
                        expected = 404 if decides or scope.endswith("analyst") else 403
                        assert there.status_code == expected, (who, path, there.text)
                        assert there.text == nowhere.text.replace("9999", str(number)), (who, path)
                    listed = await other.get("/api/operations")
                    assert not listed.json().get("operations")
                    decision = {"decision": "approve", "digest": gate["digest"]}
                    for approval in (gate["approval_id"], "9999"):
                        decided = await other.post(f"/api/approvals/{approval}/decision", json=decision)
                        assert decided.status_code == 404, (who, decided.text)
            now = datetime.now(UTC)
            minted = mint_token(config.auth, user="ann", scopes=("macro:analyst",), now=now, decides=False)
            headers = {"Authorization": f"Bearer {minted}"}
            async with httpx2.AsyncClient(base_url=base, headers=headers, trust_env=False) as agent:
                for path, body in _WRITES.items():
                    if path == "/cancel":
                        continue
                    refused = await agent.post(f"/api/operations/{number}{path}", json=body)
                    assert refused.status_code == 403, (path, refused.text)
            assert (await waiting(ann, number, "operation_plan"))["digest"] == gate["digest"]
            assert sum((await desk.calls()).values()) == 0


async def test_who_may_not_decide_is_told_so_before_what_was_sent_is_looked_at(
    configure: Callable[..., Config], database: Database
) -> None:
    approval = operations_config(configure).operations.approval.model_dump() | {"role": "admin"}
    desk = OperationsDesk(operations_config(configure, **{"operations.approval": approval}), database)
    async with desk.running():
        number = await desk.start()
        await desk.gate(number, "operation_plan")
        for tool, given in (
            ("decide_operation_plan", {"approved": True, "plan_id": "other"}),
            ("decide_operation_results", {"approved": True}),
            ("decide_operation_agent", {"answer": "retry"}),
        ):
            with pytest.raises(PermissionMissing, match="deciding on this takes the scope macro:admin"):
                await desk.call(tool, number, **given)


async def test_of_two_decisions_at_once_one_wins(
    configure: Callable[..., Config], database: Database
) -> None:
    config = operations_config(configure)
    desk = OperationsDesk(config, database)
    with served(config, database.url) as base:
        async with (
            desk.running(),
            client(config, base, "ann", "macro:analyst") as ann,
            client(config, base, "bob", "macro:analyst") as bob,
        ):
            number = await begun(ann, request_id="same")
            # The same request_id of another person is another operation.
            assert await begun(bob, request_id="same") != number
            assert await begun(ann, request_id="same") == number
            gate = await waiting(ann, number, "operation_plan")
            where, said = f"/api/operations/{number}/plan", {"digest": gate["digest"]}
            answers = await asyncio.gather(
                ann.post(where, json={"approved": True, **said}),
                bob.post(where, json={"approved": False, "feedback": "without mail", **said}),
                ann.post(where, json={"approved": True, "modified_plan": {"skip_agents": ["crm"]}, **said}),
            )
            assert sorted(answer.status_code for answer in answers) == [200, 409, 409]


async def test_results_are_not_told_to_whoever_has_lost_the_right_meanwhile(
    configure: Callable[..., Config], database: Database
) -> None:
    config = operations_config(configure)
    desk = OperationsDesk(config, database)
    with served(config, database.url) as base:
        async with desk.running(), client(config, base, "ann", "macro:analyst") as ann:
            number = await begun(ann)
            gate = await waiting(ann, number, "operation_plan")
            crm = desk.servers["crm"]
            crm.held.clear()
            async with socket(base, config, number) as opened:
                answer = {"approved": True, "digest": gate["digest"]}
                await ann.post(f"/api/operations/{number}/plan", json=answer)
                async with asyncio.timeout(SOON):
                    while not crm.calls:  # noqa: ASYNC110  # the fake tells nobody
                        await asyncio.sleep(0.01)
                async with database.transaction() as connection:
                    await users.revoke(connection, "ann", "macro:analyst", reason="left", revoked_by="eve")
                crm.held.set()
                seen: list[str] = []
                async with asyncio.timeout(SOON):
                    with contextlib.suppress(ConnectionClosedError):
                        async for text in opened:
                            seen.append(json.loads(text)["type"])
                assert opened.close_code == 4404
            assert "comprehensive_results_ready" not in seen, seen
            assert "final_results_approval_request" not in seen, seen
            assert (await ann.get(f"/api/operations/{number}/results")).status_code in (403, 404)


@pytest.mark.parametrize("body", [b"", b"[]", b"null", b'{"approved": 1}', b"{" * 3000, b"\xff\xfe", b'"x"'])
async def test_malformed_bodies_are_refused_and_change_nothing(
    configure: Callable[..., Config], database: Database, body: bytes
) -> None:
    config = operations_config(configure)
    desk = OperationsDesk(config, database)
    with served(config, database.url) as base:
        async with desk.running(), client(config, base, "ann", "macro:analyst") as ann:
            number = await begun(ann)
            gate = await waiting(ann, number, "operation_plan")
            for path in ("", *(f"/{number}{path}" for path in _WRITES if path != "/cancel")):
                headers = {"Content-Type": "application/json"}
                for sent in (body, body * 200_000 if body else b'{"x": "' + b"a" * 3_000_000 + b'"}'):
                    answer = await ann.post(f"/api/operations{path}", content=sent, headers=headers)
                    assert 400 <= answer.status_code < 500, (path, answer.status_code, answer.text[:200])
            assert (await waiting(ann, number, "operation_plan"))["digest"] == gate["digest"]
