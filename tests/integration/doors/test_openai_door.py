"""The door for OpenAI clients, through the `openai` package: answers, streams, models, and its schema."""

import asyncio
import time
from typing import Any

import httpx2
import openai
import pytest
import schemathesis
from hypothesis import HealthCheck
from openai.types import Model
from openai.types.chat import ChatCompletion
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from models.chat.messages import ChatMessage
from models.config import Config
from models.store.database import Database
from tests.examples import examples
from tests.fakes.assistant import ScriptedAssistant
from tests.fakes.barrier import Barrier
from tests.integration.chat.sites.chat_door_site import make_barrier, make_base, make_config
from tests.integration.doors.openai_site import HELLO, calls, make_assistant, make_rita, openai_client
from tests.integration.doors.schemathesis_runs import schemathesis_given
from tests.integration.rest import token

__all__ = ["make_assistant", "make_barrier", "make_base", "make_config", "make_rita"]  # the fixtures


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
            "took_as": None,
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
    async with httpx2.AsyncClient(base_url=base, headers=headers, trust_env=False) as client:
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

        @examples(15, suppress_health_check=list(HealthCheck), database=None)
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
