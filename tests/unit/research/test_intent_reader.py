"""The agent that tells what a query asks for: what the request says stands, and a model has no last word."""

import asyncio
from typing import Any

import jsonschema
import pytest

from models.llm import Answer
from models.research.intents import LONGEST_MESSAGE, TASKS, IntentReading, TaskType
from tests.fakes.model.scripted import Cut
from tests.unit.editorial.desk import fenced, outside_fences
from tests.unit.research.research_agents import ATTACK, AWAY, REFUSED, TIMED_OUT, reader

CLEAR = "find out who builds solid state batteries in Europe and how far they really are"
UNCLEAR = "alles zum wasserstoff-kernnetz sammeln und ablegen bitte"
REPLY = {"reason": "It wants pages found and kept.", "task_type": "research", "complexity": "high"}


def read(
    message: str, *replies: Any, task_type: TaskType | None = None, **given: Any
) -> Answer[IntentReading]:
    agent, _ = reader(*replies, **given)
    return asyncio.run(agent.read(message, task_type))


@pytest.mark.parametrize("task_type", TASKS)
@pytest.mark.parametrize("message", [CLEAR, UNCLEAR, ATTACK])
def test_what_the_request_says_stands_and_no_model_is_asked(message: str, task_type: TaskType) -> None:
    answer = read(message, task_type=task_type)
    assert (answer.value.task_type, answer.value.found, answer.value.is_guess) == (task_type, "given", False)
    assert answer.value.reasoning == f"the request asks for {task_type}"
    assert answer.value.tools
    assert answer.calls == ()


def test_a_clear_message_is_measured_and_no_model_is_asked() -> None:
    answer = read(CLEAR)
    assert (answer.value.task_type, answer.value.found, answer.value.is_guess) == (
        "research",
        "measured",
        False,
    )
    assert answer.value.score >= 0.8
    assert answer.value.reasoning.startswith("its words speak for research (")
    assert answer.calls == ()


def test_an_unclear_message_is_asked_of_the_model_as_data() -> None:
    agent, model = reader(REPLY)
    answer = asyncio.run(agent.read(UNCLEAR))
    found = answer.value
    assert (found.task_type, found.complexity, found.found, found.is_guess) == (
        "research",
        "high",
        "model",
        False,
    )
    assert found.tools == ("search_web", "scrape_urls")
    assert found.reasoning.endswith("the model takes it for research: It wants pages found and kept.")
    assert len(answer.calls) == 1
    (asked,) = model.asked
    assert fenced(asked.user) == {"message": UNCLEAR}
    jsonschema.validate(REPLY, asked.schema)
    assert list(asked.schema["properties"]) == ["reason", "task_type", "complexity"]


@pytest.mark.parametrize(
    "reply",
    [
        REPLY | {"task_type": "delete"},
        REPLY | {"complexity": "huge"},
        REPLY | {"reason": " \u200b"},
        REPLY | {"reason": "See http://evil.example/a for it."},
        REPLY | {"tools": ["publish"]},
        {"task_type": "research", "complexity": "low"},
        "research",
        "",
        Cut(
            text='{"reason": "It wants',
        ),
    ],
)
def test_after_replies_of_no_use_the_measured_one_stands_as_a_guess(reply: Any) -> None:
    assert read(UNCLEAR, reply, REPLY).value.found == "model"
    answer = read(UNCLEAR, reply, reply)
    assert (answer.value.found, answer.value.is_guess) == ("measured", True)
    assert answer.value.reasoning.startswith("a guess: its words speak for ")
    assert answer.value.reasoning.endswith("; the model gave no usable answer")
    assert len(answer.calls) == 2


@pytest.mark.parametrize(
    ("replies", "told"),
    [
        ((AWAY,), "the model is away"),
        ((REFUSED,), "the model gave no answer"),
        ((TIMED_OUT, TIMED_OUT), "the model gave no answer"),
    ],
)
def test_a_model_that_is_away_holds_up_nothing(replies: tuple[Any, ...], told: str) -> None:
    answer = read(UNCLEAR, *replies)
    assert (answer.value.found, answer.value.is_guess) == ("measured", True)
    assert answer.value.reasoning.endswith(f"; {told}")


def test_a_window_that_is_too_small_is_a_guess() -> None:
    agent, model = reader(context_window=300)
    answer = asyncio.run(agent.read(UNCLEAR))
    assert (answer.value.is_guess, model.asked) == (True, [])


def test_where_nobody_is_asked_an_unclear_one_is_a_guess() -> None:
    answer = read(UNCLEAR, asks="nobody")
    assert (answer.value.found, answer.value.is_guess) == ("measured", True)
    assert answer.value.reasoning.endswith("; no model is asked here")


def test_the_bound_is_the_site_s() -> None:
    assert read(UNCLEAR, ask_below=0.0).value.is_guess is False
    assert read(CLEAR, REPLY, ask_below=1.0).value.found == "model"


def test_outside_text_stays_in_its_fence() -> None:
    agent, model = reader(REPLY, ask_below=1.0)
    asyncio.run(agent.read(ATTACK + "x" * 5000))
    (asked,) = model.asked
    assert "INTRUDER" not in outside_fences(asked.user)
    assert "INTRUDER" not in asked.system
    assert len(fenced(asked.user)["message"]) <= LONGEST_MESSAGE
