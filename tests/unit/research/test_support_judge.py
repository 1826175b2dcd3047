"""The agent that takes the second look: a verdict is one of two words, and unclear is not yes."""

import asyncio
from typing import Any

import jsonschema
import pytest

from actors.systems.research.synthesis.verification import SentenceVerifier
from models.errors import ModelRefused, ModelReplyInvalid, ModelTimedOut, ModelUnavailable, PromptTooLong
from models.research.synthesis import DraftSentence, SupportQuestion, SupportVerdict
from tests.fakes.model.scripted import Cut
from tests.unit.editorial.desk import fenced, outside_fences
from tests.unit.research.research_agents import ATTACK, AWAY, REFUSED, TIMED_OUT, judge
from tests.unit.research.scripted import CUT, REASON, ScriptedWriter, drafted, points

QUESTION = SupportQuestion(
    sentence="The bank cut its rate.", quotes=(CUT, REASON), titles=("Rates in Poland",)
)
YES = {"reason": "The first quotation says so.", "verdict": "supports"}
NO = {"reason": "No quotation says when.", "verdict": "does_not_support"}


@pytest.mark.parametrize("reply", [YES, NO])
def test_a_verdict_comes_with_its_reason(reply: dict[str, str]) -> None:
    agent, model = judge(reply)
    answer = asyncio.run(agent.check(QUESTION, "pl"))
    assert answer.value == SupportVerdict.model_validate(reply)
    assert len(answer.calls) == 1
    (asked,) = model.asked
    shown = fenced(asked.user)
    assert shown["sentence"] == QUESTION.sentence
    assert shown["quotations"].splitlines() == [f"- {CUT}", f"- {REASON}"]
    assert shown["titles"] == "Rates in Poland"
    assert "sentence in Polish" in asked.system
    jsonschema.validate(reply, asked.schema)
    assert list(asked.schema["properties"]) == ["reason", "verdict"]


@pytest.mark.parametrize(
    "reply",
    [
        {"reason": "It says so.", "verdict": "partially"},
        {"reason": "It says so.", "verdict": "SUPPORTS"},
        {"reason": "It says so.", "verdict": "yes"},
        {"reason": "It says so.", "verdict": ["supports"]},
        {"reason": "It says so.", "verdict": "supports", "but": "not all"},
        {"reason": "It says so."},
        {"reason": " \u200b", "verdict": "supports"},
        {"verdict": "supports"},
        "supports",
        "",
        Cut(text='{"reason": "It says so.", "verdict": "supports"}'),
    ],
)
def test_what_is_unclear_is_no_verdict(reply: Any) -> None:
    assert asyncio.run(judge(reply, NO)[0].check(QUESTION, "en")).value.verdict == "does_not_support"
    with pytest.raises(ModelReplyInvalid) as refused:
        asyncio.run(judge(reply, reply)[0].check(QUESTION, "en"))
    assert len(refused.value.calls) == 2


@pytest.mark.parametrize(
    ("replies", "error"),
    [((AWAY,), ModelUnavailable), ((REFUSED,), ModelRefused), ((TIMED_OUT, TIMED_OUT), ModelTimedOut)],
)
def test_what_the_endpoint_does_is_raised(replies: tuple[Any, ...], error: type[Exception]) -> None:
    with pytest.raises(error):
        asyncio.run(judge(*replies)[0].check(QUESTION, "en"))


def test_quotes_that_there_is_no_room_for_are_not_cut_but_refused() -> None:
    """A quotation without its end may say what the whole does not."""
    agent, model = judge(context_window=1500)
    with pytest.raises(PromptTooLong):
        asyncio.run(agent.check(QUESTION.model_copy(update={"quotes": ("word " * 2000,)}), "en"))
    assert model.asked == []


def test_outside_text_stays_in_its_fence() -> None:
    agent, model = judge(NO)
    hostile = SupportQuestion(sentence=ATTACK, quotes=(ATTACK, CUT), titles=(ATTACK,))
    asyncio.run(agent.check(hostile, "en"))
    assert "INTRUDER" not in outside_fences(model.asked[0].user)
    assert "INTRUDER" not in model.asked[0].system
    assert len(fenced(model.asked[0].user)["quotations"].splitlines()) == 2


@pytest.mark.parametrize(
    ("replies", "outcome"),
    [((YES,), "kept"), ((NO, YES), "rewritten"), ((NO, NO), "dropped"), (("?", "?"), "unverified")],
)
async def test_behind_the_seam_verdicts_settle_a_sentence(replies: tuple[Any, ...], outcome: str) -> None:
    port = judge(*replies)[0]
    writer = ScriptedWriter(drafted(), drafted(("The bank reduced the main rate.", [1])))
    settler = SentenceVerifier(points(), writer=writer, checker=port, language="en")
    draft = DraftSentence(text="The main rate was reduced by the bank, which pleased people.", points=(1,))
    assert (await settler.settle(draft)).value.outcome == outcome


async def test_behind_the_seam_what_is_away_goes_through() -> None:
    port = judge(AWAY)[0]
    settler = SentenceVerifier(points(), writer=ScriptedWriter(drafted()), checker=port, language="en")
    with pytest.raises(ModelUnavailable):
        await settler.settle(DraftSentence(text="The main rate was reduced, to some joy.", points=(1,)))
