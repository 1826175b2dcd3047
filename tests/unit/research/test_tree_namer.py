"""The agent that names nodes: what it is shown, and that no answer of a model is worth a tree."""

import asyncio
from typing import Any

import pytest

from actors.systems.research.tree.naming import NameReply, NamingRequest
from models.errors import ModelUnavailable
from models.llm import Answer
from models.research.trees import MOST_NAME
from tests.fakes.model.scripted import Cut
from tests.unit.editorial.desk import fenced, outside_fences
from tests.unit.research.research_agents import ATTACK, AWAY, REFUSED, TIMED_OUT, namer

REQUEST = NamingRequest(
    node="n2",
    name="rate percent",
    texts=("The bank cut its rate to 5.5 percent.", "The rate stood at 5.75 percent before."),
    above=("Central banks",),
    siblings=("Inflation",),
    below=("Cuts", "Rises"),
)


def named_by(*replies: Any, request: NamingRequest = REQUEST) -> Answer[NameReply]:
    agent, _ = namer(*replies)
    return asyncio.run(agent.name(request, "en"))


def test_a_model_names_a_node_and_is_shown_what_is_in_it_and_around_it() -> None:
    agent, model = namer({"name": "Interest rates"})
    answer = asyncio.run(agent.name(REQUEST, "pl"))
    assert answer.value == NameReply(name="Interest rates")
    assert len(answer.calls) == 1
    (asked,) = model.asked
    shown = fenced(asked.user)
    assert shown["statements"].splitlines() == [f"- {text}" for text in REQUEST.texts]
    assert (shown["above"], shown["beside"], shown["below"]) == (
        "Central banks",
        "Inflation",
        "Cuts\nRises",
    )
    assert "Write it in Polish" in asked.system
    assert asked.schema["properties"]["name"]["maxLength"] == MOST_NAME
    assert "rate percent" not in asked.user


def test_what_is_not_there_is_not_told() -> None:
    agent, model = namer({"name": "Rates"})
    alone = REQUEST.model_copy(update={"above": (), "siblings": (), "below": ()})
    asyncio.run(agent.name(alone, "de"))
    assert set(fenced(model.asked[0].user)) == {"statements"}
    assert "Write it in German" in model.asked[0].system


@pytest.mark.parametrize(
    ("reply", "name"),
    [
        ("“Interest rates.”", "Interest rates"),
        ("## Interest rates\nThis name says it all.", "Interest rates"),
        ("<b>Rates</b>", "<b>Rates</b>"),
        ("Rates \u202e and \0 more", "Rates and more"),
    ],
)
def test_a_name_is_one_line_without_marks_around_it(reply: str, name: str) -> None:
    assert named_by({"name": reply}).value.name == name


def test_a_long_name_is_shortened() -> None:
    assert len(named_by({"name": "word " * 60}).value.name) <= MOST_NAME
    short = REQUEST.model_copy(update={"most_characters": 20})
    assert len(named_by({"name": "word " * 60}, request=short).value.name) <= 20


@pytest.mark.parametrize(
    "reply",
    [
        {"name": " \u200b"},
        {"name": "…"},
        {"name": "see https://evil.example/a"},
        {"name": "CENTRAL BANKS"},
        {"name": "Inflation."},
        {"title": "Rates"},
        "I can't help with that.",
        "",
        Cut(text='{"name": "Ra'),
    ],
)
def test_what_is_no_name_is_asked_for_again_and_then_leaves_the_node_its_own(reply: Any) -> None:
    assert named_by(reply, {"name": "Rates"}).value.name == "Rates"
    answer = named_by(reply, reply)
    assert answer.value.name == ""
    assert [bool(call.error) for call in answer.calls] == [True, True]


@pytest.mark.parametrize("error", [REFUSED, TIMED_OUT])
@pytest.mark.heavy
def test_a_refusal_or_a_slow_answer_leaves_the_node_its_own(error: Exception) -> None:
    assert named_by(error, error).value.name == ""


def test_what_is_away_is_raised() -> None:
    with pytest.raises(ModelUnavailable):
        named_by(AWAY)


def test_with_names_of_code_no_model_is_asked() -> None:
    agent, model = namer(names="code")
    assert asyncio.run(agent.name(REQUEST, "en")) == Answer(value=NameReply(name=""))
    assert model.asked == []


def test_outside_text_stays_in_its_fence() -> None:
    agent, model = namer({"name": "Rates"})
    several = (ATTACK, "another")
    hostile = REQUEST.model_copy(
        update={"texts": several, "above": several, "siblings": several, "below": several}
    )
    asyncio.run(agent.name(hostile, "en"))
    assert "INTRUDER" not in outside_fences(model.asked[0].user)
    assert "INTRUDER" not in model.asked[0].system
    assert "{{ 7 * 7 }}" in fenced(model.asked[0].user)["above"]
    # No text makes lines of its own, which would look like other nodes.
    assert len(fenced(model.asked[0].user)["beside"].splitlines()) == 2


def test_a_small_window_is_shown_fewer_texts_and_one_too_small_none() -> None:
    long = REQUEST.model_copy(update={"texts": tuple(f"{n} {'word ' * 60}" for n in range(8))})
    agent, model = namer({"name": "Words"}, context_window=1400)
    assert asyncio.run(agent.name(long, "en")).value.name == "Words"
    assert 1 <= len(fenced(model.asked[0].user)["statements"].splitlines()) < 8
    agent, model = namer(context_window=400)
    assert asyncio.run(agent.name(long, "en")) == Answer(value=NameReply(name=""))
    assert model.asked == []
