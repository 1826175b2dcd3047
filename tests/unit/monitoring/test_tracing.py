"""Spans reach a collector over real HTTP, in one tree; without an endpoint there are none, and no import."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator

import httpx2
import pytest
from fastapi import FastAPI
from pydantic import SecretStr

from actors.platform import tracing
from models import trace_context
from models.chat.messages import Turn
from models.config import MonitoringConfig
from models.llm import ModelCall
from models.people.users import UserContext
from serve.monitoring.traced import Traced
from tests.fakes.collector import CollectedSpan, Collector

CALL = ModelCall(
    agent="writer", model="m", prompt_sha256="s", prompt_tokens=7, completion_tokens=3, latency_seconds=0.5,
    begun_at=1_700_000_000.25,
)  # fmt: skip


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as collector:
        yield collector


@pytest.fixture
def traced(collector: Collector) -> Iterator[None]:
    settings = MonitoringConfig(
        otlp_endpoint=collector.url, otlp_token=SecretStr("a token"), traced_share=1.0
    )
    tracing.begin(settings, process="api")
    yield
    tracing.end()


def app() -> FastAPI:
    app = FastAPI()

    @app.get("/things/{number}")
    async def thing(number: int) -> str | None:
        with tracing.span("tool get_thing", {"signoff.door": "rest"}):
            tracing.tell_calls([CALL, CALL.model_copy(update={"error": "no JSON: the secret plan"})])
            if number == 13:
                raise RuntimeError("the secret plan")
            return trace_context.current()

    @app.get("/metrics")
    async def metrics() -> str | None:
        return trace_context.current()

    app.add_middleware(Traced)
    return app


async def ask(path: str, **headers: str) -> httpx2.Response:
    transport = httpx2.ASGITransport(app(), raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://site") as client:
        return await client.get(path, headers=headers)


async def collected(collector: Collector) -> dict[str, list[CollectedSpan]]:
    """All spans that came, by name, once what is left was sent."""
    await asyncio.to_thread(tracing.end)
    found: dict[str, list[CollectedSpan]] = {}
    for span in collector.spans:
        found.setdefault(span.name, []).append(span)
    return found


@pytest.mark.usefixtures("traced")
async def test_a_request_its_tool_call_and_their_model_calls_are_one_tree(collector: Collector) -> None:
    told = (await ask("/things/7")).json()
    found = await collected(collector)
    [request], [tool] = found["GET /things/{number}"], found["tool get_thing"]
    calls = found["chat m"]
    assert {span.trace for span in collector.spans} == {request.trace}
    assert (request.parent, tool.parent, {call.parent for call in calls}) == ("", request.id, {tool.id})
    assert told.startswith(f"00-{tool.trace}-{tool.id}-0")
    assert request.facts == {
        "http.request.method": "GET", "http.route": "/things/{number}", "http.response.status_code": 200,
    }  # fmt: skip
    assert (request.service, request.kind) == ("signoff-api", 2)
    assert [call.failed for call in calls] == [False, True]
    assert calls[0].facts["gen_ai.usage.input_tokens"] == 7
    assert calls[0].begun == pytest.approx(CALL.begun_at, abs=1e-6)
    assert calls[0].ended - calls[0].begun == pytest.approx(0.5, abs=1e-6)
    assert collector.tokens == {"Bearer a token"}


@pytest.mark.usefixtures("traced")
async def test_an_error_is_told_by_its_kind_and_nothing_that_was_said_is_sent(collector: Collector) -> None:
    assert (await ask("/things/13")).status_code == 500
    found = await collected(collector)
    [tool] = found["tool get_thing"]
    assert tool.failed
    assert tool.facts["error.type"] == "RuntimeError"
    assert "secret" not in repr(collector.spans)


@pytest.mark.usefixtures("traced")
async def test_a_trace_that_was_begun_elsewhere_goes_on(collector: Collector) -> None:
    sent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"
    await ask("/things/7", traceparent=sent)
    [request] = (await collected(collector))["GET /things/{number}"]
    assert (request.trace, request.parent) == ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7")


@pytest.mark.usefixtures("traced")
@pytest.mark.parametrize("sent", ["", "00-0-0-0", "00-" + "0" * 32 + "-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-" + "0" * 16 + "-01", "x" * 5000,
                                  "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"])  # fmt: skip
async def test_what_is_no_trace_is_not_continued(collector: Collector, sent: str) -> None:
    await ask("/things/7", traceparent=sent)
    [request] = (await collected(collector))["GET /things/{number}"]
    assert request.parent == ""


@pytest.mark.usefixtures("traced")
async def test_what_prometheus_asks_is_not_traced(collector: Collector) -> None:
    assert (await ask("/metrics")).json() is None
    assert await collected(collector) == {}


@pytest.mark.usefixtures("traced")
async def test_a_workflow_continues_the_trace_that_its_row_holds(collector: Collector) -> None:
    with tracing.span("tool research"):
        row = trace_context.current()
    assert trace_context.current() is None
    with tracing.span("workflow research", continues=row), tracing.span("step", {"signoff.step": "draft/1"}):
        pass
    found = await collected(collector)
    [tool], [workflow], [step] = found["tool research"], found["workflow research"], found["step"]
    assert (workflow.trace, workflow.parent, step.parent) == (tool.trace, tool.id, workflow.id)


@pytest.mark.usefixtures("traced")
async def test_a_chats_turn_carries_the_request_it_came_by() -> None:
    caller = UserContext.model_construct(subject="ann")
    with tracing.span("POST /api/chat"):
        turn = Turn.model_construct(caller=caller, message="hello")
        assert turn.traceparent == trace_context.current() is not None
    assert Turn.model_construct(caller=caller, message="hello").traceparent is None


async def test_of_a_share_of_none_nothing_is_sent(collector: Collector) -> None:
    tracing.begin(MonitoringConfig(otlp_endpoint=collector.url, traced_share=0.0), process="api")
    await ask("/things/7")
    assert await collected(collector) == {}


async def test_where_the_collector_is_away_requests_are_answered_all_the_same(collector: Collector) -> None:
    gone = MonitoringConfig(otlp_endpoint="http://127.0.0.1:9/v1/traces", traced_share=1.0)
    tracing.begin(gone, process="api")
    assert (await ask("/things/7")).status_code == 200
    await asyncio.to_thread(tracing.end)


def test_without_an_endpoint_nothing_is_imported_and_nothing_is_traced() -> None:
    program = """
import sys
from actors.platform import tracing
from models import trace_context
from models.config import MonitoringConfig
tracing.begin(MonitoringConfig(traced_share=1.0), process="api")
with tracing.span("a") as span:
    span.tell({"a": 1}, name="b")
    span.failed("X")
    assert trace_context.current() is None
tracing.tell_calls([])
tracing.end()
print([name for name in sys.modules if name.startswith("opentelemetry")])
"""
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"
