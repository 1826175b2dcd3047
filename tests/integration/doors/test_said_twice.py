"""Whoever says a thing twice has not said it: through every door it is refused, and nothing happens."""

import json
from collections.abc import Callable, Iterator

import httpx2
import pytest
from websockets.asyncio.client import connect

from models.config import Config
from models.store.database import Database
from tests.fakes.assistant import ScriptedAssistant
from tests.integration.doors.mcp_client import JSON
from tests.integration.editorial.desk import Desk
from tests.integration.operations.operations_desk import OperationsDesk, operations_config
from tests.integration.operations.test_doors import say, socket, told, waiting
from tests.integration.rest import client, served, token

TWICE = "is there twice in one object: send it once"
DIGEST = "0" * 64


@pytest.fixture
def config(configure: Callable[..., Config]) -> Config:
    """The configuration of the app."""
    return configure()


@pytest.fixture
def base(config: Config, database_url: str) -> Iterator[str]:
    """The base URL of the app."""
    with served(config, database_url, assistant=ScriptedAssistant()) as url:
        yield url


def both(field: str, first: str, second: str, **rest: str) -> bytes:
    """A body that says `field` as two things, the second time with its name spelt in another way."""
    other = f'"\\u{ord(field[0]):04x}{field[1:]}"'
    members = [f'"{field}": {first}', *(f'"{k}": {json.dumps(v)}' for k, v in rest.items())]
    return f"{{{', '.join(members)}, {other}: {second}}}".encode()


async def test_no_and_yes_in_one_decision_is_neither(desk: Desk, config: Config, base: str) -> None:
    number = await desk.with_editor()
    await desk.call(await desk.person("eve", "macro:editor"), "publish_article", article_id=number)
    approval = await desk.approval(number)
    decision = f"/api/approvals/{approval.id}/decision"
    async with client(config, base, "bob", "macro:editor") as bob:
        bob.headers["Content-Type"] = "application/json"
        for path, body in (
            (decision, both("decision", '"reject"', '"approve"', digest=approval.digest, notes="n")),
            (decision, both("digest", f'"{DIGEST}"', f'"{approval.digest}"', decision="approve")),
            (f"/api/approvals/{number}", both("approved", "false", "true", digest=approval.digest)),
        ):
            answer = await bob.post(path, content=body)
            assert (answer.status_code, TWICE in answer.json()["detail"]) == (422, True), answer.text
            assert answer.headers["content-type"] == "application/problem+json"
        assert (await desk.approval(number)).status == "pending"
        wish = {"decision": "approve", "digest": approval.digest}
        assert (await bob.post(decision, json=wish)).status_code == 200


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/chat", both("message", '"no"', '"yes"')),
        ("/api/chat", b'{"message": "hi", "topic": "macro", "topic": "macro"}'),
        ("/api/tools/resources/create/text", b'{"name": "n", "topic": "macro", "text": "t", "text": "u"}'),
        ("/api/nowhere", b'[{"a": {"b": 1, "b": 2}}]'),
    ],
)
async def test_so_it_is_at_every_endpoint(config: Config, base: str, path: str, body: bytes) -> None:
    async with client(config, base, "ann", "macro:analyst") as ann:
        for kind in ("application/json", "application/problem+json", "text/plain"):
            answer = await ann.post(path, content=body, headers={"Content-Type": kind})
            assert (answer.status_code, TWICE in answer.text) == (422, True), answer.text


async def test_openai_clients_are_told_in_their_own_shape(config: Config, base: str) -> None:
    body = b'{"model": "signoff", "messages": [{"role": "system", "content": "x", "role": "user"}]}'
    async with client(config, base, "ann", "macro:reader") as ann:
        answer = await ann.post("/v1/chat/completions", content=body)
    assert (answer.status_code, TWICE in answer.json()["error"]["message"]) == (400, True)


async def test_mcp_clients_are_told_in_theirs(config: Config, base: str) -> None:
    call = b'{"name": "list_approvals", "arguments": {"status": "pending", "status": "all"}}'
    body = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": ' + call + b"}"
    async with httpx2.AsyncClient(base_url=base, trust_env=False) as http:
        answer = await http.post(
            "/mcp",
            content=body,
            headers={**JSON, "Authorization": f"Bearer {token(config, 'ann', 'macro:reader')}"},
        )
    assert (answer.status_code, TWICE in answer.json()["error"]["message"]) == (400, True)


async def test_over_sockets_nothing_is_decided_and_the_talk_goes_on(
    configure: Callable[..., Config], database: Database
) -> None:
    config = operations_config(configure)
    desk = OperationsDesk(config, database)
    with served(config, database.url) as base:
        async with desk.running(), client(config, base, "ann", "macro:analyst") as ann:
            number = await desk.start()
            gate = await waiting(ann, number, "operation_plan")
            yes = f'"approved": true, "digest": "{gate["digest"]}"'
            answer = await ann.post(
                f"/api/operations/{number}/plan", content=f'{{"approved": false, {yes}}}'.encode()
            )
            assert (answer.status_code, TWICE in answer.text) == (422, True)
            async with socket(base, config, number) as opened:
                for message in (
                    f'{{"type": "plan_approval_response", "data": {{"approved": false, {yes}}}}}',
                    f'{{"type": "ping", "type": "plan_approval_response", "data": {{{yes}}}}}',
                    f'{{"type": "plan_approval_response", "data": {{}}, "data": {{{yes}}}}}',
                    '{"type": "plan_approval_response", "type": "ping"}',
                ):
                    await opened.send(message)
                    refused = (await told(opened, "error"))["data"]
                    assert (refused["status"], TWICE in refused["detail"]) == (422, True)
                assert (await waiting(ann, number, "operation_plan"))["digest"] == gate["digest"]
                await say(opened, "plan_approval_response", approved=True, digest=gate["digest"])
                assert (await told(opened, "decided"))["data"]["decision"] == "approved"
        url = f"{base.replace('http', 'ws')}/ws/ann"
        headers = {"Authorization": f"Bearer {token(config, 'ann', 'macro:reader')}"}
        async with connect(url, additional_headers=headers, proxy=None) as own:
            await own.send('{"type": "pong", "type": "ping"}')
            assert (await told(own, "error"))["data"]["status"] == 422
