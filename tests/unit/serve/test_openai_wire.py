"""OpenAI's shapes: what is read, what is refused by name, what is written, and where `stop` cuts."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from pydantic import ValidationError

from models.chat.messages import ChatMessage, Done, Usage
from models.people.scopes import parse_scope
from models.people.users import UserContext
from serve.openai.errors import error_of
from serve.openai.request import CompletionRequest
from serve.openai.wire import Cut, Writing

CALLER = UserContext(
    user_id=1, subject="rita", name="", email="", scopes=(parse_scope("macro:reader"),), role="reader"
)
DONE = Done(
    response="Rates hold. More.",
    agent_type="article_query",
    topic="macro",
    status="completed",
    tools_used=("search_articles",),
    usage=Usage(prompt_tokens=7, completion_tokens=3),
)


def asked(**more: Any) -> CompletionRequest:
    """A request."""
    return CompletionRequest.model_validate(
        {"model": "signoff", "messages": [{"role": "user", "content": "Hello"}], **more}
    )


def chunks(told: str) -> list[dict[str, Any]]:
    """The chunks of a stream that is whole."""
    *lines, last = (line.removeprefix("data: ") for line in told.strip().split("\n\n"))
    assert last == "[DONE]"
    return [json.loads(line) for line in lines]


def test_messages_become_a_turn() -> None:
    turn = asked(
        messages=[
            {"role": "system", "content": "Be short."},
            {"role": "user", "content": [{"type": "text", "text": "One"}, {"type": "text", "text": "two"}]},
            {"role": "assistant", "content": None, "refusal": None, "tool_calls": None, "audio": None},
            {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
            {"role": "developer", "content": "In Polish.", "name": "x"},
            {"role": "user", "content": "Three"},
        ],
        max_completion_tokens=9,
        temperature=1,
    ).turn(CALLER, topic="macro", request_id="r", beside=None, aside=False)
    assert turn.message == "Three"
    assert turn.history == (
        ChatMessage(role="user", content="One\ntwo"),
        ChatMessage(role="assistant", content="No."),
    )
    assert turn.instructions == "Be short.\n\nIn Polish."
    assert (turn.caller, turn.topic, turn.request_id) == (CALLER, "macro", "r")
    assert (turn.max_tokens, turn.temperature, turn.conversation_id) == (9, 1.0, None)


def test_only_the_newest_messages_are_told_of() -> None:
    messages = [{"role": "user", "content": str(number)} for number in range(300)]
    turn = asked(messages=messages).turn(CALLER, topic=None, request_id=None, beside=None, aside=False)
    assert [turn.history[0].content, turn.history[-1].content, turn.message] == ["99", "298", "299"]
    assert turn.instructions is None


def test_what_changes_nothing_here_is_accepted() -> None:
    asked(
        n=1, seed=3, top_p=0.5, presence_penalty=0, frequency_penalty=-2.0, user="u", metadata={"a": "b"},
        logprobs=False, top_logprobs=None, tools=[], functions=None, tool_choice="none", store=False,
        response_format={"type": "text"}, parallel_tool_calls=True, reasoning_effort="low", stop=None,
        service_tier="auto", modalities=["text"], logit_bias={},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("wrong", "field", "remedy"),
    [
        ({"tools": [{"type": "function"}]}, "tools", "leave it out"),
        ({"functions": [{}]}, "functions", "leave it out"),
        ({"tool_choice": "required"}, "tool_choice", "send none"),
        ({"function_call": {"name": "f"}}, "function_call", "send none"),
        ({"web_search_options": {"a": 1}}, "web_search_options", "leave it out"),
        ({"response_format": {"type": "json_object"}}, "response_format", "leave it out"),
        ({"n": 2}, "n", "must be 1"),
        ({"n": "1"}, "n", ""),
        ({"n": True}, "n", ""),
        ({"logprobs": True}, "logprobs", "leave it out"),
        ({"modalities": ["text", "audio"]}, "modalities", "nothing else"),
        ({"audio": {"voice": "x"}}, "audio", "leave it out"),
        ({"store": True}, "store", "POST /api/chat"),
        ({"stream": "yes"}, "stream", ""),
        ({"stop": ["a", "b", "c", "d", "e"]}, "stop", ""),
        ({"stop": ""}, "stop", ""),
        ({"stop": 7}, "stop", ""),
        ({"max_tokens": 0}, "max_tokens", ""),
        ({"temperature": 2.1}, "temperature", ""),
        ({"temperature": float("nan")}, "temperature", ""),
        ({"top_q": 1}, "top_q", ""),
        ({"messages": []}, "messages", ""),
        ({"messages": None}, "messages", ""),
        ({"messages": [{"role": "assistant", "content": "x"}]}, "messages", "the user's"),
        ({"messages": [{"role": "user", "content": " \n"}]}, "messages", "say something"),
        ({"messages": [{"role": "user", "content": "x" * 20_001}]}, "messages", "send less"),
        ({"messages": [{"role": "user"}]}, "messages", "say something"),
        (
            {"messages": [{"role": "system", "content": "x" * 20_001}, {"role": "user", "content": "x"}]},
            "messages",
            "send less",
        ),
        ({"messages": [{"role": "user", "content": "x" * 9999}] * 101}, "messages", "send less"),
        ({"max_tokens": 5, "max_completion_tokens": 5}, "", "send one of them"),
        ({"stream_options": {"include_usage": True}}, "", "stream true"),
    ],
)
def test_what_is_not_done_is_refused_by_name(wrong: dict[str, Any], field: str, remedy: str) -> None:
    with pytest.raises(ValidationError) as refused:
        asked(**wrong)
    fault = refused.value.errors()[0]
    assert ".".join(str(step) for step in fault["loc"][:1]) == field
    assert remedy in fault["msg"]


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ({"role": "tool", "content": "x", "tool_call_id": "1"}, "client's tools"),
        ({"role": "robot", "content": "x"}, "'system', 'developer', 'user' or 'assistant'"),
        ({"role": "assistant", "content": None, "tool_calls": [{}]}, "client's tools"),
        ({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}, "'image_url'"),
        ({"role": "user", "content": [{"type": "input_audio"}]}, "'input_audio'"),
        ({"role": "user", "content": "a\x00"}, "NUL"),
        ({"role": "user", "content": 5}, "list"),
        ({"role": "user", "content": [5]}, "dictionary"),
        ("hello", "dictionary"),
    ],
)
def test_messages_that_are_not_read_are_refused_by_place(message: Any, told: str) -> None:
    with pytest.raises(ValidationError) as refused:
        asked(messages=[{"role": "user", "content": "a"}, message, {"role": "user", "content": "b"}])
    [fault] = refused.value.errors()
    assert fault["loc"][:2] == ("messages", 1)
    assert told in fault["msg"]


def test_a_whole_answer_has_openai_s_shape() -> None:
    told = Writing(asked(stop=". ")).whole(DONE).model_dump(mode="json")
    read = ChatCompletion.model_validate(told)
    assert read.id.startswith("chatcmpl-")
    [choice] = read.choices
    assert (choice.message.content, choice.message.refusal, choice.finish_reason) == (
        "Rates hold",
        None,
        "stop",
    )
    assert read.usage is not None
    assert read.usage.total_tokens == 10
    assert told["signoff"] == {
        "agent_type": "article_query",
        "tools_used": ["search_articles"],
        "task_id": None,
        "workflow_state": None,
        "status": "completed",
        "topic": "macro",
        "took_as": None,
    }


@pytest.mark.parametrize("usage", [True, False])
def test_a_streamed_answer_has_openai_s_shape(usage: bool) -> None:
    options = {"include_usage": usage}
    writing = Writing(asked(stream=True, stream_options=options, stop=["Mo", "M!"]))
    told = writing.begins()
    for piece in ("Rates ", "hold. M", "", "ass"):
        told += writing.goes_on(piece)
    told += writing.ends(DONE.model_copy(update={"status": "limited"}))
    found = chunks(told)
    read = [ChatCompletionChunk.model_validate(chunk) for chunk in found]
    assert {chunk.id for chunk in read} == {writing.id}
    if usage:
        last = found.pop()
        assert (last["choices"], last["usage"]["total_tokens"]) == ([], 10)
    assert all(("usage" in chunk, chunk.get("usage")) == (usage, None) for chunk in found)
    choices = [chunk["choices"][0] for chunk in found]
    assert choices[0]["delta"] == {"role": "assistant", "content": "", "refusal": None}
    assert [choice["delta"] for choice in choices[1:]] == [
        {"content": "Rates "}, {"content": "hold. "}, {"content": "Mass"}, {},
    ]  # fmt: skip
    assert [choice["finish_reason"] for choice in choices] == [None] * 4 + ["length"]
    assert ["signoff" in chunk for chunk in found] == [False] * 4 + [True]


LETTERS = st.text("ab", max_size=30)
STOPS = st.lists(st.text("ab", min_size=1, max_size=4), max_size=4)


def cut_at_once(text: str, stops: list[str]) -> str:
    """The rule, said another way: the text before the stop that is whole first."""
    for end in range(len(text) + 1):
        if fitting := [stop for stop in stops if text[:end].endswith(stop)]:
            return text[: end - max(map(len, fitting))]
    return text


@given(LETTERS, STOPS, st.lists(st.integers(0, 30), max_size=6))
def test_a_stop_cuts_at_the_same_place_however_the_text_comes(
    text: str, stops: list[str], places: list[int]
) -> None:
    cut = Cut(stops)
    ends = [*sorted(places), len(text)]
    starts = [0, *ends[:-1]]
    told = "".join(cut.feed(text[a:b]) for a, b in zip(starts, ends, strict=True)) + cut.rest()
    assert told == cut_at_once(text, stops)


def test_nothing_is_held_back_but_what_may_become_a_stop() -> None:
    assert Cut([]).feed("text") == "text"
    cut = Cut(["<end>", "d!"])
    assert [cut.feed(piece) for piece in ("a b", "c<", "en", "x", "d")] == ["a b", "c", "", "<enx", ""]
    assert cut.rest() == "d"
    assert (cut.feed("!more"), cut.feed("more"), cut.rest()) == ("", "", "")


@pytest.mark.parametrize(
    ("name", "status", "type_", "code"),
    [
        ("Unauthenticated", 401, "invalid_request_error", "invalid_api_key"),
        ("RateLimited", 429, "rate_limit_error", "rate_limit_exceeded"),
        ("ModelNotFound", 404, "invalid_request_error", "model_not_found"),
        ("FeatureOff", 503, "server_error", "feature_off"),
        ("HttpError", 405, "invalid_request_error", "method_not_supported"),
        ("HttpError", 418, "invalid_request_error", None),
    ],
)
def test_problems_become_openai_s_errors(name: str, status: int, type_: str, code: str | None) -> None:
    problem = {"type": f"urn:signoff:problem:{name}", "status": status, "detail": "why", "title": "t"}
    error = error_of(problem).error
    assert (error.message, error.type, error.code, error.param) == ("why", type_, code, None)
