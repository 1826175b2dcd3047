"""Bodies that are not one request, or hold a value of the wrong kind: each era refuses them in one line."""

import re

import httpx2
import pytest
from mcp_types import INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR

from tests.integration.doors.eras.asking import ERAS, HEADER, LEGACY, ask, asked
from tests.integration.doors.mcp_client import MODERN, mirrored

NO_REQUESTS = (
    (b"", PARSE_ERROR),
    (b"{", PARSE_ERROR),
    (b"\xff\xfe", PARSE_ERROR),
    (b"[" * 60_000, PARSE_ERROR),
    (b'{"jsonrpc": "2.0", "id": ' + b"1" * 5000 + b', "method": "ping"}', INVALID_REQUEST),
    (b"[]", INVALID_REQUEST),
    (b"7", INVALID_REQUEST),
    (b"null", INVALID_REQUEST),
    (b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', INVALID_REQUEST),
    (b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', INVALID_REQUEST),
    (b'{"id": 1, "method": "ping"}', INVALID_REQUEST),
    (b'{"jsonrpc": "2.0", "id": null, "method": "tools/list"}', INVALID_REQUEST),
    (b'{"jsonrpc": "2.0", "id": {"a": 1}, "method": "tools/list"}', INVALID_REQUEST),
    (b'{"jsonrpc": "2.0", "id": 1.5, "method": "tools/list"}', INVALID_REQUEST),
    (b'{"jsonrpc": "2.0", "id": true, "method": "tools/list"}', INVALID_REQUEST),
    (b'{"jsonrpc": "2.0", "id": [], "method": "tools/list"}', INVALID_REQUEST),
    (b'{"jsonrpc": "2.0", "id": 1, "method": 7}', INVALID_REQUEST),
    (b'{"jsonrpc": "2.0", "id": 1}', INVALID_REQUEST),
    (b'{"jsonrpc": "2.0", "id": 1, "result": {}}', INVALID_REQUEST),
    (b'{"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "x"}}', INVALID_REQUEST),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "result": {}}', INVALID_REQUEST),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "error": {"code": 1, "message": "x"}}', INVALID_REQUEST),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": [1]}', INVALID_REQUEST),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": null}', INVALID_REQUEST),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "method": "tools/list"}', INVALID_REQUEST),
    (
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params":'
        b' {"name": "get_article", "arguments": {"article_id": 1, "article_id": 2}}}',
        INVALID_REQUEST,
    ),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "\\ud800": 1, "\\ud800": 2}', INVALID_REQUEST),
)


@ERAS
async def test_what_is_not_one_request_is_refused_in_one_line(http: httpx2.AsyncClient, era: str) -> None:
    headers = mirrored("tools/list") if era == MODERN else HEADER
    for body, code in NO_REQUESTS:
        answer = await http.post("/mcp", headers=headers, content=body)
        error = answer.json()["error"]
        assert (body[:80], answer.status_code, error["code"]) == (body[:80], 400, code)
        # The field, and the fault or the remedy.
        assert re.fullmatch(r"[a-z]+: [^\n]{5,150}", error["message"]), error
        assert "pydantic" not in error["message"]


@ERAS
async def test_a_value_of_the_wrong_kind_is_named(http: httpx2.AsyncClient, era: str) -> None:
    status = {MODERN: 400, LEGACY: 200}[era]
    for method, params, where in (
        ("tools/call", {"name": "get_article", "arguments": [1]}, "params.arguments: "),
        ("tools/call", {"name": "get_article", "inputResponses": 7}, "params.inputResponses: "),
        ("prompts/get", {}, "params.name: "),
        ("tools/list", {"cursor": 7}, "params.cursor: "),
        ("tools/list", {"cursor": "7"}, "params.cursor: "),
        ("prompts/list", {"cursor": ""}, "params.cursor: "),
    ):
        if era == LEGACY and "inputResponses" in params:
            continue  # an era without them reads none
        found, body, _ = await ask(http, era, method, **params)
        assert (found, body["error"]["code"]) == (status, INVALID_PARAMS)
        assert where in body["error"]["message"], body
    bad, body, _ = await ask(
        http, era, "tools/call", name="get_article", arguments={"article_id": "x", "y": 1}
    )
    assert (bad, body["result"]["isError"]) == (200, True)
    if era == MODERN:
        many = {"k" * 300 + f"\ud800\n{n}": 1 for n in range(40)}
        _, body, _ = await ask(http, era, "tools/call", name="get_article", inputResponses=many)
        assert body["error"]["message"].startswith("params.inputResponses.kkk")
        assert len(body["error"]["message"]) <= 1200
        assert "\n" not in body["error"]["message"]


@ERAS
async def test_what_a_trace_is_told_of_is_text(
    http: httpx2.AsyncClient, era: str, caplog: pytest.LogCaptureFixture
) -> None:
    """What reads it stands before all else, and its errors went to clients as they were."""
    for name in ("traceparent", "tracestate", "baggage"):
        for value in ([1], 7, {"a": 1}, None):
            headers, body = asked(era, "tools/list")
            body["params"].setdefault("_meta", {})[name] = value
            answer = await http.post("/mcp", headers=headers, json=body)
            error = answer.json()["error"]
            assert (name, answer.status_code, error["code"]) == (name, 400, INVALID_PARAMS)
            assert f"params._meta.{name}: " in error["message"]
        headers, body = asked(era, "tools/list")
        body["params"].setdefault("_meta", {})[name] = "\n,=;%" * 900
        assert "result" in (await http.post("/mcp", headers=headers, json=body)).json()
    assert "Traceback" not in caplog.text
