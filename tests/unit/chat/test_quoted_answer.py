"""Answers of quotations: the sentences of the sources, in quotation marks, and nothing of the model's."""

import asyncio
import re
from typing import Any

from hypothesis import given

from actors.platform.llm.prompts import read_prompt
from actors.systems.chat.turn.quoted_answer import QuotedAnswer, QuotedAnswers
from actors.systems.chat.turn.sources import CitedSource
from models.config import load
from tests.fakes.model.scripted import ScriptedCompletions
from tests.integration.conftest import ROOT
from tests.unit.quoting.hostile import REPLIES, SOURCES, Embeddings, shown, stand_in, words

_LOCAL = load(ROOT / "configs/local.yaml", root=ROOT)
_MODEL = _LOCAL.chat.assistant_llm.model_copy(update={"retry_delay": 0})
CONFIG = _LOCAL.model_copy(update={"chat": _LOCAL.chat.model_copy(update={"assistant_llm": _MODEL})})
MODEL = ScriptedCompletions()
ANSWERS = QuotedAnswers(
    agent="article_query",
    config=CONFIG,
    prompt=read_prompt(CONFIG.chat.prompts_dir, "choose.md"),
    embedder=Embeddings(),
    completions=MODEL,
)
RATES = "The bank held its rate at 4.25 percent in June. Six members voted for the decision of the board."
_MARKS = re.compile(r"\A[“„«»](.*)[”“»«]\Z")


def answered(*texts: str, replies: tuple[Any, ...] = ("x", "y"), message: str = "the rate") -> QuotedAnswer:
    """What is quoted of these."""
    MODEL.script(*replies)
    sources = [
        CitedSource(number=n, title="T", url=None, text=text, about=f"article:{n}")
        for n, text in enumerate(texts, start=1)
    ]
    return asyncio.run(ANSWERS.answer(message, sources)).value


def test_the_sentence_that_answers_is_quoted_with_the_number_of_its_source() -> None:
    answer = answered("Nothing of use is said in here, or ever was.", RATES, message="Who held the rate?")
    assert answer.quotations[0] == (2, "“The bank held its rate at 4.25 percent in June.”")
    chosen = answered(RATES, replies=({"headline": 1, "sentences": [2]},))
    assert chosen.quotations == ((1, "“Six members voted for the decision of the board.”"),)


def test_a_figure_that_code_computed_is_in_nobody_s_marks() -> None:
    figure = (
        "“Policy rate”: 4.25 percent in June 2026, down 0.25 percentage points from 4.50 percent in May 2026."
    )
    MODEL.script({"headline": 1, "sentences": [1]})
    source = CitedSource(1, "T", None, f"{figure}\n\nPolicy rate", "resource:1", frozenset((figure,)))
    assert asyncio.run(ANSWERS.answer("the policy rate", [source])).value.quotations == ((1, figure),)


def test_where_nothing_can_be_quoted_no_model_is_asked() -> None:
    assert answered("rates; held; why", "# A heading", replies=()).quotations == ()


@given(SOURCES, SOURCES, REPLIES, REPLIES)
def test_every_character_is_a_source_s(first: str, second: str, reply: str, again: str) -> None:
    for number, text in answered(first, second, replies=(reply, again)).quotations:
        found = _MARKS.match(text)
        assert found is not None, text
        assert stand_in(words(shown(found[1])), (first, second)[number - 1]), text
