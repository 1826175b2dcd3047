"""Every pattern of ours takes time linear in the text, whoever wrote that."""

import re
import time
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from actors.platform.llm.client import strip_fence, strip_thinking
from actors.platform.text.bearing import bears_on
from actors.platform.text.lexicon import WHOLE, pattern_in, phrase_pattern
from actors.platform.text.lexicon import pattern as lexicon_pattern
from actors.platform.text.markdown import unlinked
from actors.platform.text.normal_form import words
from actors.platform.text.numbers.amounts import _after as amount_tail
from actors.platform.text.relevance import best_passages
from actors.systems.chat.routing.topics import _pattern as topic_pattern
from actors.systems.chat.turn.article_numbers import articles_named
from actors.systems.market.series_in_text import pattern_of as series_pattern
from actors.systems.operations.recognition.clauses import parting
from actors.systems.operations.recognition.status_words import finder as status_finder
from actors.systems.operations.recognition.status_words import pattern_of
from models.redaction.spellings import Spellings
from serve.openai.background import _any_of as background_pattern
from serve.openai.transcript import _labels as labels_pattern
from tests.fakes.pumping import calls_in, modules_of, only_matched, patterns_in, slowness

_PACKAGES = ("models", "actors", "serve", "pipelines", "cluster")

# Patterns that are made from the site's own words while we run: what makes them, and one as it makes it.
_MADE: dict[str, re.Pattern[Any]] = {
    "actors.systems.chat.routing.topics._pattern": topic_pattern(
        ("inflation*", "rate hike*", "gross domestic product")
    ),  # type: ignore[dict-item]
    "actors.systems.market.series_in_text.pattern_of": series_pattern(
        ("interest rate|", "jobless claim|", "cpi")
    ),
    "actors.systems.market.series_in_text.shares_in": re.compile(
        r"(?<![\w$.])AAPL(?!\w)", re.IGNORECASE | re.ASCII
    ),
    "actors.systems.market.series_in_text._capitalised": re.compile(r"(?<!\w)APPLE(?!\w)"),
    "actors.systems.operations.recognition.clauses.parting": parting(),
    "actors.systems.operations.recognition.authorship._names": re.compile(r"(?<!\w)(?:Anna|Lind)(?!\w)"),
    "actors.systems.operations.recognition.status_words.finder": status_finder("takes_back"),
    "actors.systems.operations.recognition.status_words.pattern_of": pattern_of("thanks_for"),
    "actors.platform.text.lexicon.phrase_pattern": phrase_pattern(
        "de",
        *(("voices", key) for key in ("speech", "disputes", "denies", "negation", "corrections", "errors")),
    ),
    # Every form that it is asked for is tried in one.
    "actors.platform.text.lexicon.pattern_in": pattern_in("de", "quoting", "takes_back", r"{}\b"),
    "actors.platform.text.numbers.amounts._after": amount_tail(),
    # Modules hold what it makes by a name, and there each is tried.
    "actors.platform.text.lexicon.pattern": lexicon_pattern("walls", "login", WHOLE),
    "models.redaction.spellings.pattern": Spellings("of the 'key\\\" ä").pattern,
    "serve.openai.background._any_of": background_pattern(("follow up*", "only", "chat history", "标题")),
    "serve.openai.transcript._labels": labels_pattern(("user message", "user", "用户")),
    "actors.platform.web.providers.local._passage": re.compile(
        r"\b(?:rates|inflation|federal)", re.IGNORECASE
    ),
}


@pytest.fixture(scope="module")
def modules() -> list[ModuleType]:
    """All of ours; not as tests are collected, which every worker does."""
    return list(modules_of(_PACKAGES))


@pytest.mark.slow
def test_every_pattern_takes_linear_time(modules: list[ModuleType]) -> None:
    found: dict[str, re.Pattern[Any]] = dict(_MADE)
    for module in modules:
        found.update(calls_in(module)[0])
        found.update(patterns_in(module))
    matched = {name for module in modules for name in only_matched(module)}
    # One pattern under several names is tried once.
    tried = {pattern: name for name, pattern in found.items()}
    slow = {name: slowness(pattern, searched=name not in matched) for pattern, name in tried.items()}
    assert {name: why for name, why in slow.items() if why} == {}
    assert len(slow) > 400


def test_patterns_that_are_made_while_we_run_are_among_those_tried(modules: list[ModuleType]) -> None:
    assert {place for module in modules for place in calls_in(module)[1]} == set(_MADE)


def test_the_trial_finds_what_is_slow() -> None:
    slow = (r"(?:\s*(?:,|&)\s*)+[0-9]", r"(a+)+$", r"\s+\[", r"<t>.*?</t>", r"\w+@", r"(?:a|aa)+b")
    assert [source for source in slow if slowness(re.compile(source, re.DOTALL)) is None] == []
    quick = (r"\s\[", r"[a-z]+", r"(?<!\s)\s+\[", r"<t>", r"(?:a|b)*")
    assert [source for source in quick if slowness(re.compile(source))] == []


@pytest.mark.parametrize("unit", [", ", " , and ", " and", ",", " ", "#", "article ", "1 ", "1, ", "\u0142"])
def test_a_message_of_any_kind_is_read_at_once(unit: str) -> None:
    begun = time.process_time()
    assert articles_named("article 12" + unit * (20_000 // len(unit)) + "!")[:1] in ((12,), (1,), (121,), ())
    assert time.process_time() - begun < 1


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (strip_thinking, "<think>a" * 50_000),
        (strip_thinking, "<think>" * 25_000 + "</think>" * 25_000),
        (strip_fence, "```json\n{" + " " * 400_000 + "`"),
        (unlinked, "www." * 10 + "w" * 90_000 + "." * 90_000),
        (unlinked, "htt" * 30_000 + "ps://" * 30_000),
    ],
    ids=["never closed", "closed late", "blank", "links in links", "schemes in schemes"],
)
def test_a_text_of_any_kind_is_read_at_once(read: Callable[[str], str], text: str) -> None:
    begun = time.process_time()
    read(text)
    assert time.process_time() - begun < 1


_QUESTION = " ".join(f"q{number:04}word" for number in range(1000))
_SPREAD = " ".join(f"{number:05}" + "x" * (number % 60) for number in range(300))


@pytest.mark.parametrize("question", [_QUESTION, _SPREAD], ids=["many words", "many lengths"])
@pytest.mark.parametrize(
    "text",
    [
        " ".join(f"t{number:05}" for number in range(15_000)),
        ". ".join(f"t{number:05}" for number in range(12_500)),
        "a. " * 33_000,
        " ".join("z" * (number % 90) + str(number) for number in range(2_000)),
    ],
    ids=["one sentence", "short sentences", "no words", "long words"],
)
def test_what_bears_on_a_question_is_found_at_once(question: str, text: str) -> None:
    begun = time.process_time()
    bears_on(question, text)
    best_passages(text, question, 2000)
    assert time.process_time() - begun < 1


@pytest.mark.parametrize(
    "text",
    [
        "a" + "\u0316\u0301" * 50_000,
        "\u0f73" * 100_000,
        "\u1fb7" * 100_000,
        "\uac01" * 100_000,
        "\u0345" * 100_000,
    ],
    ids=["accents out of order", "accents of two", "accented letters", "syllables", "one accent"],
)
def test_words_are_read_at_once_whatever_they_carry(text: str) -> None:
    begun = time.process_time()
    words(text)
    assert time.process_time() - begun < 1
