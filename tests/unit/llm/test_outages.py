"""Outages and failures told apart at the edge, over real HTTP; and a sick endpoint that is left alone."""

import asyncio
import itertools
import pickle
from typing import Any

import pytest

from actors.platform.llm.chat_model import ChatModel, TextDelta
from actors.platform.llm.client import ModelClient
from actors.platform.llm.edge import address_of
from actors.platform.search.embedder import OpenAIEmbedder
from models.config import BreakerConfig, ModelSettings
from models.errors import ModelRefused, ModelReplyInvalid, ModelTimedOut, ModelUnavailable, SignoffError
from tests.fakes.knowledge_base import embedding_settings
from tests.fakes.model.model_server import ModelServer, Rule

# What Ray Serve's `/llm` answered when vLLM's engine was killed, shortened in the middle.
DEAD_ENGINE = """Message: Internal Server Error (Request ID: b844a4cf), Internal exception: Internal Server \
Error (Request ID: b844a4cf), original: \x1b[36mray::ServeReplica:llm:LLMServer:tiny.handle()\x1b[39m (pid=1)
  File "/venv/ray/serve/_private/replica.py", line 1820, in handle_request_with_rejection
    async for result in self._replica_impl.handle_request_with_rejection(
vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue."""
BREAKER = BreakerConfig(faults=3, pause_seconds=0.2, longest_pause_seconds=0.2)
PATIENT = BreakerConfig(faults=3, pause_seconds=60, longest_pause_seconds=60)
_NUMBERS = itertools.count()


@pytest.fixture
def name() -> str:
    """A model of its own, and so a breaker of its own."""
    return f"tiny-{next(_NUMBERS)}"


def settings(server: ModelServer, name: str, **changes: Any) -> ModelSettings:
    values: dict[str, Any] = {
        "model": name,
        "api_base": server.base_url,
        "api_key": "secret-key",
        "context_window": 4096,
        "max_tokens": 100,
        "temperature": 0.2,
        "context_window_threshold": 90,
        "max_retries": 0,
        "retry_delay": 0.0,
        "timeout_seconds": 60,
    }
    return ModelSettings(**(values | changes))


def client(
    server: ModelServer, name: str, agent: str = "writer", breaker: BreakerConfig = BREAKER, **changes: Any
) -> ModelClient:
    return ModelClient(agent=agent, settings=settings(server, name, **changes), breaker=breaker)


async def ask(client: ModelClient, user: str = "hello") -> str:
    return (await client.ask_text(system="You answer.", user=user, accept=str)).value


async def refusal_of(asking: Any, kind: type[SignoffError]) -> SignoffError:
    with pytest.raises(kind) as raised:
        await asking
    return raised.value


@pytest.mark.parametrize(
    ("rule", "kind"),
    [
        (Rule(drop=True), ModelUnavailable),
        *(
            (Rule(status=status), ModelUnavailable)
            for status in (401, 403, 404, 408, 409, 429, 500, 502, 503)
        ),
        (Rule(raw="<html>Sign in</html>"), ModelUnavailable),
        (Rule(raw="{}", raw_type="application/json"), ModelUnavailable),
        (Rule(reply="half", finish_reason="abort"), ModelUnavailable),
        *((Rule(status=status), ModelRefused) for status in (400, 413, 414, 422, 431)),
        (Rule(reply="no", finish_reason="content_filter"), ModelReplyInvalid),
    ],
)
async def test_what_is_the_site_s_is_an_outage_and_what_is_the_request_s_is_a_failure(
    server: ModelServer, name: str, rule: Rule, kind: type[SignoffError]
) -> None:
    server.script(rule)
    error = await refusal_of(ask(client(server, name)), kind)
    assert error.outage == (kind is ModelUnavailable)
    if error.outage:
        assert error.facts["waits_for"] == f"model {name} at {server.base_url}"


async def test_a_dead_engine_is_told_in_one_line(server: ModelServer, name: str) -> None:
    server.script(Rule(status=500, reply=DEAD_ENGINE))
    error = await refusal_of(ask(client(server, name)), ModelUnavailable)
    last = "vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue."
    assert str(error) == f"writer: model {name} at {server.base_url}: Error code: 500 - {last}"


async def test_facts_outlive_the_way_between_processes(server: ModelServer, name: str) -> None:
    server.script(Rule(status=503, retry_after=7))
    error = await refusal_of(ask(client(server, name)), ModelUnavailable)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.facts) == (str(error), error.facts)
    assert again.facts["retry_after_seconds"] == 7.0


async def test_a_server_that_asks_for_a_longer_pause_is_not_asked_again_before_it(
    server: ModelServer, name: str
) -> None:
    server.script(Rule(status=429, retry_after=30))
    error = await refusal_of(ask(client(server, name, max_retries=3, retry_delay=0.01)), ModelUnavailable)
    assert error.facts["retry_after_seconds"] == 30.0
    assert len(server.calls()) == 1


async def test_a_sick_endpoint_is_left_alone_by_all_clients_of_the_process(
    server: ModelServer, name: str
) -> None:
    server.script(Rule(status=500))
    await refusal_of(ask(client(server, name, max_retries=9, breaker=PATIENT)), ModelUnavailable)
    assert len(server.calls()) == BREAKER.faults
    others = [client(server, name, agent=f"agent {n}") for n in range(20)]
    errors = await asyncio.gather(*(refusal_of(ask(other), ModelUnavailable) for other in others))
    chat = ChatModel(agent="chat", settings=settings(server, name), breaker=BREAKER)
    errors.append(await refusal_of(anext(chat.stream([{"role": "user", "content": "x"}])), ModelUnavailable))
    assert len(server.calls()) == BREAKER.faults
    for error in errors:
        assert "it is away since " in str(error)
        assert 0 < error.facts["retry_after_seconds"] <= PATIENT.longest_pause_seconds
        assert error.facts["away_since"]


@pytest.mark.heavy
async def test_when_it_wakes_one_call_goes_first_and_the_rest_follow(server: ModelServer, name: str) -> None:
    server.script(*[Rule(status=500, times=1)] * BREAKER.faults, Rule(hold=True, reply="well again", times=1))
    await refusal_of(ask(client(server, name, max_retries=9)), ModelUnavailable)
    first: asyncio.Task[str] | None = None
    async with asyncio.timeout(10):
        while len(server.calls()) == BREAKER.faults:
            if first is None or first.done():
                first = asyncio.create_task(ask(client(server, name)))
            await asyncio.wait({first}, timeout=0.02)
    for _ in range(20):
        await refusal_of(ask(client(server, name)), ModelUnavailable)
    assert len(server.calls()) == BREAKER.faults + 1
    server.release()
    assert first is not None
    assert await first == "well again"
    await asyncio.gather(*(ask(client(server, name)) for _ in range(20)))


async def test_a_request_that_is_slow_twice_while_others_are_answered_is_its_own_fault(
    server: ModelServer, name: str
) -> None:
    server.script(Rule(contains="the long one", hold=True))
    asked = client(server, name, timeout_seconds=1.0, max_retries=1)
    slow = asyncio.create_task(refusal_of(ask(asked, "the long one"), ModelTimedOut))
    for n in (1, 2):
        await server.wait_until(
            lambda calls, n=n: sum("the long one" in str(c.messages) for c in calls) == n  # type: ignore[misc]
        )
        await ask(client(server, name), "a short one")
    assert not (await slow).outage


async def test_an_endpoint_that_begins_to_hang_is_away_for_all_calls_that_are_under_way(
    server: ModelServer, name: str
) -> None:
    """Some were let through before the last answer came: that others were answered says nothing of them."""
    server.script(Rule(contains="the last answer", reply="well"), Rule(hold=True))
    asking = [
        asyncio.create_task(
            refusal_of(ask(client(server, name, timeout_seconds=1.0), f"topic {n}"), ModelUnavailable)
        )
        for n in range(5)
    ]
    await server.await_calls(5, state="held")
    assert await ask(client(server, name), "the last answer") == "well"
    asking.append(
        asyncio.create_task(
            refusal_of(ask(client(server, name, timeout_seconds=1.0), "the newest"), ModelUnavailable)
        )
    )
    assert all(error.outage for error in await asyncio.gather(*asking))


async def test_a_request_that_was_late_once_and_answered_since_has_no_past(
    server: ModelServer, name: str
) -> None:
    server.script(Rule(hold=True, times=1), Rule(reply="well", times=1), Rule(contains="topic", hold=True))
    asked = client(server, name, timeout_seconds=1.0)
    await refusal_of(ask(asked, "topic"), ModelUnavailable)
    assert await ask(asked, "topic") == "well"
    again = asyncio.create_task(refusal_of(ask(asked, "topic"), ModelUnavailable))
    await server.wait_until(lambda calls: len(calls) == 3)
    await ask(client(server, name), "another")
    assert (await again).outage


async def test_requests_that_are_all_slow_are_an_outage(server: ModelServer, name: str) -> None:
    server.script(Rule(hold=True))
    slow = [
        ask(client(server, name, breaker=PATIENT, timeout_seconds=0.2), f"topic {n}")
        for n in range(PATIENT.faults)
    ]
    for error in await asyncio.gather(*(refusal_of(each, ModelUnavailable) for each in slow)):
        assert error.outage
    await refusal_of(ask(client(server, name, breaker=PATIENT), "the next"), ModelUnavailable)
    assert len(server.calls()) == PATIENT.faults


async def test_a_stream_that_breaks_off_counts_against_the_endpoint(server: ModelServer, name: str) -> None:
    """As Serve's do when a replica dies: the stream just ends."""
    server.script(
        Rule(raw='data: {"choices": [{"delta": {"content": "half a"}}]}\n\n', raw_type="text/event-stream")
    )
    chat = ChatModel(
        agent="chat",
        settings=settings(server, name),
        breaker=BreakerConfig(faults=1, pause_seconds=5, longest_pause_seconds=5),
    )
    stream = chat.stream([{"role": "user", "content": "x"}])
    assert await anext(stream) == TextDelta("half a")
    with pytest.raises(ModelUnavailable, match="the stream ended before the reply did"):
        await anext(stream)
    await refusal_of(ask(client(server, name)), ModelUnavailable)
    assert len(server.calls()) == 1


async def test_embeddings_have_a_breaker_too(server: ModelServer, name: str) -> None:
    server.script(Rule(status=401))
    settings = embedding_settings(api_base=server.base_url, model_name=name)
    made = [OpenAIEmbedder(settings=settings, breaker=BREAKER) for _ in range(2)]
    for n in range(BREAKER.faults):
        error = await refusal_of(made[n % 2].embed([f"text {n}"]), ModelUnavailable)
        assert error.facts["waits_for"] == f"embedding model {name} at {server.base_url}"
    for embedder in made:
        error = await refusal_of(embedder.embed(["more"]), ModelUnavailable)
        assert error.facts["retry_after_seconds"] > 0
    assert len(server.calls()) == BREAKER.faults


def test_an_address_is_told_without_its_password() -> None:
    assert address_of("https://me:secret@models.example:8443/v1?key=x") == "https://models.example:8443/v1"
