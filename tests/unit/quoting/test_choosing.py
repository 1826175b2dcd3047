"""A model's choice among sentences: what it may name, and what stands where it names anything else."""

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.platform.extractive.choosing import Chooser, Chosen, choice_schema
from actors.platform.llm.prompts import read_two_part_prompt
from models.errors import ModelUnavailable
from models.llm import Answer
from tests.fakes.model.scripted import ScriptedCompletions
from tests.unit.editorial.desk import PROMPTS, agent_settings
from tests.unit.quoting.hostile import REPLIES

PROMPT = read_two_part_prompt(PROMPTS, "choose.md")
SETTINGS = agent_settings(max_retries=5)
OFFERED = [f"Sentence number {n} says something." for n in range(1, 7)]


def chosen(*replies: Any, least: int = 2, most: int = 3, **settings: Any) -> Answer[Chosen]:
    """What comes of replies."""
    told = SETTINGS
    chooser = Chooser(
        agent="writer",
        settings=told.model.model_copy(update=settings),
        breaker=told.breaker,
        prompt=PROMPT,
        completions=ScriptedCompletions(*replies),
    )
    return asyncio.run(chooser.choose("Rates", headlines=["A", "B"], offered=OFFERED, least=least, most=most))


def test_numbers_count_from_one_and_each_counts_once() -> None:
    answer = chosen({"headline": 2, "sentences": [5, 1, 5]})
    assert answer.value == Chosen(headline=1, sentences=(4, 0), by="model")
    assert len(answer.calls) == 1


@pytest.mark.parametrize(
    "bad",
    [
        {"headline": 3, "sentences": [1, 2]},
        {"headline": 1, "sentences": [1, 7]},
        {"headline": 1, "sentences": [0, 1]},
        {"headline": 1, "sentences": [1, 1]},
        {"headline": 1, "sentences": [1, 2, 3, 4]},
        {"headline": 1, "sentences": ["The rate was cut."]},
        {"headline": "The rate was cut", "sentences": [1, 2]},
        "The rate was cut.",
    ],
)
def test_what_is_no_choice_is_asked_for_once_more_and_then_code_s_order_stands(bad: Any) -> None:
    good = chosen(bad, {"headline": 1, "sentences": [2, 3]})
    assert good.value == Chosen(headline=0, sentences=(1, 2), by="model")
    answer = chosen(bad, bad)
    assert answer.value == Chosen(headline=0, sentences=(0, 1, 2), by="code")
    assert [call.error is not None for call in answer.calls] == [True, True]


def test_a_model_that_is_away_is_no_bad_answer() -> None:
    with pytest.raises(ModelUnavailable):
        chosen(ModelUnavailable("away", waits_for="model"))


@given(REPLIES, REPLIES)
def test_whatever_it_answers_some_of_what_was_offered_is_chosen(first: str, second: str) -> None:
    choice = chosen(first, second).value
    assert 0 <= choice.headline < 2
    assert 2 <= len(set(choice.sentences)) == len(choice.sentences) <= 3
    assert set(choice.sentences) <= set(range(len(OFFERED)))


@given(st.integers(1, 5), st.integers(1, 30), st.integers(1, 9))
def test_the_schema_holds_nothing_but_numbers_that_there_are(headlines: int, offered: int, most: int) -> None:
    schema = choice_schema(headlines, offered, least=1, most=most)["properties"]
    assert schema["headline"]["enum"] == list(range(1, headlines + 1))
    assert schema["sentences"]["items"]["enum"] == list(range(1, offered + 1))
    assert (schema["sentences"]["minItems"], schema["sentences"]["maxItems"]) == (1, most)


def test_a_small_window_is_shown_fewer_sentences() -> None:
    answer = chosen("x", "y", context_window=1060, max_tokens=100, least=6, most=6)
    assert answer.value.by == "code"
    assert len(answer.value.sentences) < len(OFFERED)
