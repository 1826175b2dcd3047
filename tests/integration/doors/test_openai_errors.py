"""The door for OpenAI clients, through the `openai` package: refusals, failures, clients that leave."""

import asyncio
import time
from collections.abc import AsyncGenerator
from typing import Any

import httpx2
import openai
import pytest

from models.chat.messages import Piece, Routed, Turn
from models.config import Config
from models.errors import ModelUnavailable
from tests.fakes.assistant import ScriptedAssistant
from tests.fakes.barrier import Barrier
from tests.integration.chat.sites.chat_door_site import Configure, make_barrier, make_base, make_config
from tests.integration.doors.openai_site import HELLO, make_assistant, make_rita, openai_client
from tests.integration.rest import served, token

__all__ = ["make_assistant", "make_barrier", "make_base", "make_config", "make_rita"]  # the fixtures


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
    async with httpx2.AsyncClient(base_url=base, headers=headers, trust_env=False) as client:
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
