"""The door for OpenAI clients, through the `openai` package: answers, streams, errors, clients that leave."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import openai
import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from openai import AsyncOpenAI
from openai.types import Model
from openai.types.chat import ChatCompletion
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from models.chat import ChatMessage, Piece, Routed, Turn
from models.config import Config
from models.errors import ModelUnavailable, PromptTooLong
from models.store.database import Database
from tests.fakes.assistant import ScriptedAssistant
from tests.fakes.barrier import Barrier
from tests.integration.rest import served, token
from tests.integration.test_rest import schemathesis_given

Configure = Callable[..., Config]
HELLO = [{"role": "user", "content": "Hello"}]


@pytest.fixture
def config(configure: Configure) -> Config:
    """The configuration of the app."""
    return configure()


@pytest.fixture
def barrier() -> Iterator[Barrier]:
    """What the assistant reports to."""
    with Barrier() as made:
        yield made


@pytest.fixture
def assistant(barrier: Barrier) -> ScriptedAssistant:
    """Who answers."""
    return ScriptedAssistant(
        barrier.address,
        {
            "break": ZeroDivisionError("secret detail"),
            "too long": PromptTooLong("the conversation is too long: begin a new one"),
            "research": {"status": "processing", "task_id": "t" * 32, "agent_type": "analyst"},
            "limits": {"status": "limited"},
            "cut short": {"status": "interrupted"},
        },
    )


@pytest.fixture
def base(config: Config, database_url: str, assistant: ScriptedAssistant) -> Iterator[str]:
    """The base URL of the app."""
    with served(config, database_url, assistant=assistant) as url:
        yield url


@asynccontextmanager
async def openai_client(base: str, key: str) -> AsyncIterator[Any]:
    """The openai package, as somebody would use it; it asks once. Its types would take each literal apart."""
    async with AsyncOpenAI(api_key=key, base_url=f"{base}/v1", max_retries=0, timeout=30) as made:
        yield made


@pytest.fixture
async def rita(config: Config, base: str) -> AsyncIterator[Any]:
    """Rita, who reads about macro."""
    async with openai_client(base, token(config, "rita", "macro:reader")) as made:
        yield made


async def calls(database: Database) -> list[dict[str, Any]]:
    """The model calls that are recorded."""
    async with database.connection() as connection:
        return await (await connection.execute("SELECT * FROM model_calls")).fetchall()


async def test_an_answer_comes_whole(rita: Any, assistant: ScriptedAssistant, database: Database) -> None:
    answer: ChatCompletion = await rita.chat.completions.create(
        model="signoff",
        messages=[
            {"role": "system", "content": ""},
            {"role": "user", "content": "Before"},
            {"role": "assistant", "content": "Indeed"},
            *HELLO,
        ],
        max_tokens=50,
        temperature=0.2,
        user="rita",
        extra_headers={"Idempotency-Key": "k-1"},
    )
    ChatCompletion.model_validate(answer.model_dump())
    assert (answer.model, answer.object) == ("signoff", "chat.completion")
    assert abs(answer.created - time.time()) < 60
    [choice] = answer.choices
    assert (choice.message.role, choice.message.content) == ("assistant", "You said Hello")
    assert (choice.finish_reason, choice.message.refusal) == ("stop", None)
    assert answer.usage is not None
    assert answer.usage.model_dump(exclude_none=True) == {
        "prompt_tokens": 7,
        "completion_tokens": 3,
        "total_tokens": 10,
    }
    assert answer.model_extra == {
        "signoff": {
            "agent_type": "article_query",
            "tools_used": ["search_articles"],
            "task_id": None,
            "workflow_state": None,
            "status": "completed",
            "topic": "macro",
        }
    }
    [turn] = assistant.turns
    assert (turn.caller.subject, turn.topic, turn.request_id) == ("rita", None, "k-1")
    assert turn.history == (
        ChatMessage(role="user", content="Before"),
        ChatMessage(role="assistant", content="Indeed"),
    )
    assert (turn.max_tokens, turn.temperature, turn.conversation_id) == (50, 0.2, None)
    [call] = await calls(database)
    assert (call["message_id"], call["workflow_id"], call["prompt_tokens"]) == (None, None, 7)
    async with database.connection() as connection:
        assert await (await connection.execute("SELECT id FROM conversations")).fetchall() == []


async def test_an_answer_comes_in_chunks_as_it_is_made(
    rita: Any, barrier: Barrier, database: Database
) -> None:
    barrier.hold("middle", "end")
    stream = await rita.chat.completions.create(
        model="signoff-macro", messages=HELLO, stream=True, stream_options={"include_usage": True}
    )
    chunks = [await anext(stream), await anext(stream)]
    assert barrier.runs("Hello", "end") == 0
    assert [chunk.choices[0].delta.role for chunk in chunks] == ["assistant", None]
    assert [chunk.choices[0].delta.content for chunk in chunks] == ["", "You said "]
    barrier.release("middle")
    chunks.append(await anext(stream))
    assert chunks[2].choices[0].delta.content == "Hello"
    barrier.release()
    *more, usage = [chunk async for chunk in stream]
    [last] = more
    assert (last.choices[0].finish_reason, last.choices[0].delta.content) == ("stop", None)
    assert last.model_extra["signoff"]["tools_used"] == ["search_articles"]
    assert (usage.choices, usage.usage.total_tokens) == ([], 10)
    assert {chunk.model for chunk in chunks} == {"signoff-macro"}
    assert len(await calls(database)) == 1


async def test_the_wire_is_event_stream_with_its_end(config: Config, base: str) -> None:
    headers = {"Authorization": f"Bearer {token(config, 'rita', 'macro:reader')}"}
    body = {"model": "signoff", "messages": HELLO, "stream": True}
    async with httpx.AsyncClient(base_url=base, headers=headers, trust_env=False) as client:
        answer = await client.post("/v1/chat/completions", json=body)
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.text.endswith("}\n\ndata: [DONE]\n\n")
    assert answer.text.count("data: ") == 5


@pytest.mark.parametrize("stream", [False, True])
async def test_a_stop_cuts_the_text_and_the_rest_is_told_all_the_same(rita: Any, stream: bool) -> None:
    asked = {"model": "signoff", "messages": [{"role": "user", "content": "research"}]}
    answer = await rita.chat.completions.create(**asked, stop=["aid res", "x"], stream=stream)
    if stream:
        chunks = [chunk async for chunk in answer]
        text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
        facts = chunks[-1].model_extra["signoff"]
    else:
        text, facts = answer.choices[0].message.content, answer.model_extra["signoff"]
    assert text == "You s"
    assert (facts["task_id"], facts["status"], facts["agent_type"]) == ("t" * 32, "processing", "analyst")


async def test_an_answer_that_ran_out_of_its_budget_has_its_length_as_reason(rita: Any) -> None:
    messages = [{"role": "user", "content": "limits"}]
    answer = await rita.chat.completions.create(model="signoff", messages=messages)
    assert answer.choices[0].finish_reason == "length"


async def test_the_models_are_the_topics_that_the_caller_may_read(
    config: Config, base: str, rita: Any, assistant: ScriptedAssistant
) -> None:
    found = [model async for model in rita.models.list()]
    assert [model.id for model in found] == ["signoff", "signoff-macro"]
    Model.model_validate(found[0].model_dump())
    assert (await rita.models.retrieve("signoff-macro")).id == "signoff-macro"
    await rita.chat.completions.create(model="signoff-macro", messages=HELLO)
    assert [turn.topic for turn in assistant.turns] == ["macro"]
    for model in ("signoff-equity", "signoff-none", "gpt-5", "Signoff"):
        for call in (
            rita.chat.completions.create(model=model, messages=HELLO),
            rita.models.retrieve(model),
        ):
            with pytest.raises(openai.NotFoundError) as refused:
                await call
            assert (refused.value.code, refused.value.param) == ("model_not_found", "model")
            assert "use one of signoff, signoff-macro" in refused.value.message
    assert len(assistant.turns) == 1
    async with openai_client(base, token(config, "root", "global:reader")) as root:
        every = [model.id async for model in root.models.list()]
    assert every == ["signoff", *(f"signoff-{topic}" for topic in config.publishing.topics)]


async def test_the_token_is_the_key(config: Config, base: str) -> None:
    for key in ("", "sk-123", token(config, "rita", "macro:reader") + "x"):
        async with openai_client(base, key or "none") as nobody:
            for call in (
                nobody.models.list(),
                nobody.chat.completions.create(model="signoff", messages=HELLO, stream=True),
            ):
                with pytest.raises(openai.AuthenticationError) as refused:
                    await call
                assert (refused.value.code, refused.value.type) == (
                    "invalid_api_key",
                    "invalid_request_error",
                )
                assert "invalid_token" in refused.value.response.headers["www-authenticate"]


MALFORMED: list[tuple[dict[str, Any], str | None, str]] = [
    ({"tools": [{"type": "function", "function": {"name": "f"}}]}, "tools", "invalid_value"),
    ({"n": 3}, "n", "invalid_value"),
    ({"messages": [{"role": "tool", "content": "x"}, *HELLO]}, "messages[0].role", "invalid_value"),
    (
        {"messages": [{"role": "user", "content": [{"type": "image_url"}]}]},
        "messages[0].content[0].type",
        "invalid_value",
    ),
    ({"extra_body": {"top_q": 1}}, "top_q", "unknown_parameter"),
    ({"extra_body": {"messages": 7}}, "messages", "invalid_value"),
    ({"extra_headers": {"Idempotency-Key": "k" * 201}}, "idempotency-key", "invalid_value"),
    ({"max_tokens": 1, "max_completion_tokens": 1}, None, "invalid_value"),
]


async def test_a_malformed_request_is_400_and_names_the_member(
    rita: Any, assistant: ScriptedAssistant
) -> None:
    for wrong, param, code in MALFORMED:
        with pytest.raises(openai.BadRequestError) as refused:
            await rita.chat.completions.create(**{"model": "signoff", "messages": HELLO, **wrong})
        error = refused.value
        assert (error.param, error.code, error.type) == (param, code, "invalid_request_error")
        assert (param or "body") in error.message
    assert assistant.turns == []


async def test_whatever_is_wrong_under_v1_has_openai_s_shape(config: Config, base: str) -> None:
    headers = {
        "Authorization": f"Bearer {token(config, 'rita', 'macro:reader')}",
        "Content-Type": "application/json",
    }
    chat = "/v1/chat/completions"
    half = b'{"model":"signoff","messages":[{"role":"user","content":"\\ud800"}]}'
    wrong: list[tuple[str, str, dict[str, Any], int, str]] = [
        ("GET", "/v1", {}, 404, "unknown_url"),
        ("POST", "/v1/completions", {"content": b"{}"}, 404, "unknown_url"),
        ("GET", chat, {}, 405, "method_not_supported"),
        ("POST", chat, {"content": b"{"}, 400, "invalid_json"),
        ("POST", chat, {"content": b"[]"}, 400, "invalid_value"),
        ("POST", chat, {"content": b""}, 400, "missing_required_parameter"),
        ("POST", chat, {"content": b"\xff"}, 400, "invalid_json"),
        ("POST", chat, {"content": half}, 400, "invalid_value"),
        ("POST", chat, {"content": b"[" * 100_000}, 400, "invalid_json"),
        ("POST", chat, {"content": b" " * (33 * 1024 * 1024)}, 413, "request_too_large"),
    ]
    async with httpx.AsyncClient(base_url=base, headers=headers, trust_env=False) as client:
        for method, path, body, status, code in wrong:
            answer = await client.request(method, path, **body)
            assert (path, body.get("content", b"")[:9], answer.status_code) == (
                path,
                body.get("content", b"")[:9],
                status,
            )
            assert answer.headers["content-type"] == "application/json"
            [(name, error)] = answer.json().items()
            assert (name, set(error)) == ("error", {"message", "type", "param", "code"})
            assert (error["type"], error["code"]) == ("invalid_request_error", code)
        assert "type" in (await client.get("/v2")).json()


async def test_asking_too_often_is_429_together_with_the_chat(
    configure: Configure, database_url: str, assistant: ScriptedAssistant
) -> None:
    config = configure({"tools.rate_limits": {"chat": {"calls": 2, "per_seconds": 60}}})
    with served(config, database_url, assistant=assistant) as base:
        key = token(config, "rita", "macro:reader")
        async with openai_client(base, key) as rita:
            await rita.post("/../api/chat", body={"message": "Hi"}, cast_to=object)
            await rita.chat.completions.create(model="signoff", messages=HELLO)
            with pytest.raises(openai.RateLimitError) as refused:
                await rita.chat.completions.create(model="signoff", messages=HELLO, stream=True)
            assert refused.value.code == "rate_limit_exceeded"
            assert 1 <= int(refused.value.response.headers["retry-after"]) <= 31
            await rita.models.list()


async def test_a_chat_that_is_switched_off_or_has_nobody_says_so(
    configure: Configure, database_url: str, assistant: ScriptedAssistant
) -> None:
    off = configure({"features.enable_new_agent_system": False})
    for config, who, code in (
        (off, assistant, "feature_off"),
        (configure(), None, "model_unavailable"),
    ):
        with served(config, database_url, assistant=who) as base:
            async with openai_client(base, token(config, "rita", "macro:reader")) as rita:
                with pytest.raises(openai.InternalServerError) as refused:
                    await rita.chat.completions.create(model="signoff", messages=HELLO, stream=True)
                assert (refused.value.status_code, refused.value.code) == (503, code)
    assert assistant.turns == []


class Failing:
    """An assistant that says who answers, and fails before it has said anything."""

    async def answer(self, turn: Turn) -> AsyncGenerator[Piece, None]:
        """No text."""
        yield Routed(agent_type="article_query", intent="read", topic=None, reason="scripted")
        if turn.message == "Hello":
            raise ModelUnavailable("the model is away: try again")
        raise ZeroDivisionError("secret detail")


async def test_what_fails_before_the_first_chunk_is_an_error_over_http(
    config: Config, database_url: str
) -> None:
    with served(config, database_url, assistant=Failing()) as base:
        async with openai_client(base, token(config, "rita", "macro:reader")) as rita:
            for stream in (True, False):
                with pytest.raises(openai.InternalServerError) as away:
                    await rita.chat.completions.create(model="signoff", messages=HELLO, stream=stream)
                assert (away.value.status_code, away.value.code) == (503, "model_unavailable")
                assert "the model is away: try again" in away.value.message
                with pytest.raises(openai.InternalServerError) as failed:
                    await rita.chat.completions.create(
                        model="signoff", messages=[{"role": "user", "content": "x"}], stream=stream
                    )
                assert (failed.value.status_code, "secret" in str(failed.value.body)) == (500, False)


async def test_an_answer_that_the_site_cut_short_is_not_taken_for_a_whole_one(rita: Any) -> None:
    messages = [{"role": "user", "content": "cut short"}]
    with pytest.raises(openai.InternalServerError) as whole:
        await rita.chat.completions.create(model="signoff", messages=messages)
    assert (whole.value.status_code, whole.value.code) == (503, "agent_died")
    stream = await rita.chat.completions.create(model="signoff", messages=messages, stream=True)
    with pytest.raises(openai.APIError, match="send the same request again"):
        [chunk async for chunk in stream]


@pytest.mark.parametrize(("message", "code"), [("too long", "prompt_too_long"), ("break", "answer_failed")])
async def test_what_fails_in_mid_answer_is_an_event(rita: Any, message: str, code: str) -> None:
    stream = await rita.chat.completions.create(
        model="signoff", messages=[{"role": "user", "content": message}], stream=True
    )
    told = [(await anext(stream)).choices[0].delta.content for _ in range(2)]
    assert told == ["", "You said "]
    with pytest.raises(openai.APIError) as failed:
        await anext(stream)
    assert failed.value.code == code
    assert "secret" not in str(failed.value.body)


@pytest.mark.parametrize("step", ["begun", "middle"])
@pytest.mark.parametrize("stream", [True, False])
async def test_a_client_that_leaves_stops_the_assistant(
    rita: Any, barrier: Barrier, step: str, stream: bool
) -> None:
    barrier.hold(step)

    async def ask() -> None:
        answer = await rita.chat.completions.create(model="signoff", messages=HELLO, stream=stream)
        async for _ in answer:
            pass

    asking = asyncio.create_task(ask())
    await asyncio.to_thread(barrier.until, lambda: barrier.runs("Hello", step) == 1)
    left = time.monotonic()
    asking.cancel()
    await asyncio.to_thread(barrier.until, lambda: barrier.runs("Hello", "stopped") == 1, timeout=10)
    assert time.monotonic() - left < 1
    assert barrier.runs("Hello", "end") == 0


async def test_a_client_that_closes_the_stream_stops_the_assistant(rita: Any, barrier: Barrier) -> None:
    barrier.hold("middle")
    stream = await rita.chat.completions.create(model="signoff", messages=HELLO, stream=True)
    await anext(stream)
    left = time.monotonic()
    await stream.close()
    await asyncio.to_thread(barrier.until, lambda: barrier.runs("Hello", "stopped") == 1, timeout=10)
    assert time.monotonic() - left < 1


async def test_32_at_once_are_answered_each_with_its_own(
    rita: Any, barrier: Barrier, database: Database
) -> None:
    barrier.hold("middle")

    async def ask(number: int) -> str:
        stream = await rita.chat.completions.create(
            model="signoff", messages=[{"role": "user", "content": f"m{number}"}], stream=True
        )
        return "".join([chunk.choices[0].delta.content or "" async for chunk in stream])

    asking = [asyncio.create_task(ask(number)) for number in range(32)]
    await asyncio.to_thread(
        barrier.until, lambda: sum(barrier.runs(f"m{number}", "middle") for number in range(32)) == 32
    )
    barrier.release()
    assert await asyncio.gather(*asking) == [f"You said m{number}" for number in range(32)]
    assert len(await calls(database)) == 32


async def test_schemathesis_finds_nothing_undeclared(config: Config, base: str) -> None:
    schema = schemathesis.openapi.from_url(f"{base}/openapi.json").include(path_regex="^/v1/")
    headers = {"Authorization": f"Bearer {token(config, 'tester', 'global:admin')}"}
    tried = set()
    for result in schema.get_all_operations():
        operation = result.ok()

        @settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck), database=None)
        @schemathesis_given(operation)
        def probe(case: Any) -> None:
            if isinstance(case.body, dict) and "model" in case.body:
                case.body["model"] = "signoff"  # it would never find it
                if isinstance(case.body.get("messages"), list):
                    case.body["messages"] += HELLO
            answer = case.call(headers=headers)
            if answer.status_code != 429:
                case.validate_response(
                    answer,
                    checks=(
                        not_a_server_error,
                        status_code_conformance,
                        content_type_conformance,
                        response_schema_conformance,
                    ),
                )
            tried.add((case.path, answer.status_code))

        probe()
    assert {path for path, _ in tried} == {"/v1/models", "/v1/models/{model}", "/v1/chat/completions"}
    assert {("/v1/chat/completions", 200), ("/v1/chat/completions", 400)} <= tried
