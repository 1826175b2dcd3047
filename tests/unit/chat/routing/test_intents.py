"""The examples that are shipped, how a file of them is refused, and what they do for unseen messages."""

from pathlib import Path

import numpy as np
import pytest
import yaml

from actors.platform.llm.prompts import TwoPartPrompt
from actors.platform.text.classifying.similarity import Block, Likeness
from actors.platform.text.classifying.training import CHOSEN
from actors.platform.text.classifying.weights_file import write_weights
from actors.platform.text.normal_form import normal_form
from actors.systems.chat.routing.examples import read_intents, read_voice
from actors.systems.chat.routing.weights_file import check_weights, read_weights
from benchmarks.intents.eval_intents import (
    cases_of,
    judge_client,
    read_cases,
    route_cases,
    route_unheard,
    router_of,
    share,
)
from benchmarks.intents.judge import Judge
from benchmarks.intents.unheard import unheard
from cluster.train_intents import read_corpus
from models.chat.intents import Intents
from models.chat.messages import INTENTS
from models.config import Config
from models.errors import ConfigInvalid
from tests.profile import write_yaml
from tests.unit.chat.routing.routers import PROMPT, ROOT, likeness

# What four voices left out by turns come to with three others in training, less some points.
FLOOR = 0.70
EMPTY = np.zeros(0, dtype=np.uint32)
SHIPPED = ROOT / "configs/intents.yaml"


@pytest.fixture(scope="module")
def shipped() -> Intents:
    return read_intents(SHIPPED)


def test_there_are_examples_and_topic_words_enough(shipped: Intents, config: Config) -> None:
    assert {intent for intent, examples in shipped.examples.items() if len(examples) >= 25} == set(INTENTS)
    assert set(shipped.topics) == set(config.publishing.topics)
    assert config.chat.intents_file == SHIPPED


def test_enough_messages_of_the_evaluation_are_no_examples(shipped: Intents) -> None:
    cases, _ = read_cases(shipped)
    assert len(cases) >= 200
    assert {case.language for case in cases} >= {"en", "pl", "de"}
    assert {case.intent for case in cases} == set(INTENTS)


def test_the_weights_belong_to_the_examples(shipped: Intents) -> None:
    """Red after a change of examples or voices: run `make train-intents`."""
    check_weights(shipped)


async def test_unseen_messages_are_routed_right(shipped: Intents, config: Config) -> None:
    """By the weights as shipped; `make eval-intents` tells more."""
    cases, _ = read_cases(shipped)
    outcomes = await route_cases(router_of(config, shipped, read_weights(shipped.weights)), cases)
    assert share(outcomes) >= 0.93
    sure = [outcome for outcome in outcomes if outcome.route.sure]
    assert len(sure) >= 0.6 * len(outcomes)
    assert share(sure) >= 0.95


@pytest.mark.heavy
async def test_voices_that_were_never_heard_are_routed_right(shipped: Intents, config: Config) -> None:
    """A part of `make eval-intents`, small enough for every run: four voices, by turns."""
    corpus = read_corpus(shipped)
    few = corpus.only(("dyslexic", "genz", "lawyer", "night"))
    made = unheard(few, settings=(CHOSEN,))
    outcomes = await route_unheard(config, shipped, few, made)
    assert len(outcomes) >= 1190
    assert share(outcomes) >= FLOOR
    unsure = [one for one in outcomes if one.route.score < 0.5]
    sure = [one for one in outcomes if one.route.score >= 0.9]
    assert share(sure) > 0.9 > 0.7 > share(unsure)


@pytest.mark.heavy
async def test_a_judge_decides_what_is_unsure(shipped: Intents, config: Config) -> None:
    """Over HTTP, by a judge that is always right: what is offered decides what remains wrong."""
    corpus = read_corpus(shipped)
    cases = cases_of(corpus, "night")[::10]
    truths = {case.text: str(case.intent) for case in cases}
    untrained = Likeness(
        (labels := tuple(INTENTS)), *(Block(EMPTY, EMPTY, np.zeros((0, len(labels))), 1.0),) * 2, 1.0
    )
    for accuracy, least, most in ((1.0, 1.0, 1.0), (0.5, 0.2, 0.8)):
        with Judge(truths, accuracy) as judge:
            wide = config.model_copy(
                update={
                    "chat": config.chat.model_copy(
                        update={"routing": config.chat.routing.model_copy(update={"candidates": 12})}
                    )
                }
            )
            router = router_of(wide, shipped, untrained, judge=judge_client(config, judge), sure=0.9)
            outcomes = await route_cases(router, cases)
            assert judge.asked == len(cases)
            assert least <= share(outcomes) <= most


def test_the_prompt_tells_every_intent() -> None:
    for intent in INTENTS:
        system, _ = TwoPartPrompt(source=PROMPT, name="routing.md").render(
            MESSAGE="m", BEFORE="", CANDIDATES=(intent,), PERMITTED=(intent,)
        )
        assert f"- {intent}: " in system
        assert sum(f"\n- {other}: " in system for other in INTENTS) == 1


def changed(tmp_path: Path, **sections: object) -> Path:
    raw = yaml.safe_load(SHIPPED.read_text(encoding="utf-8"))
    for name, values in sections.items():
        raw[name] |= values
    path = tmp_path / "intents.yaml"
    write_yaml(path, raw)
    return path


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        ({"examples": {"publish": []}}, "examples: lacks examples of publish: add some of each"),
        ({"examples": {"dance": ["let us dance"]}}, "examples.dance"),
        ({"examples": {"general": [True]}}, "YAML reads this as True: put it in quotes"),
        ({"examples": {"general": ["???"]}}, "examples.general: '???' has no words: leave it out"),
        (
            {"examples": {"general": ["Publish 7!"]}},
            "examples.publish: 'publish 12' is an example of general too",
        ),
        ({"topics": {"macro": ["in*flation"]}}, "with * only at their end"),
        ({"topics": {"macro": ["x*"]}}, "words of at least 2 letters"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused(
    tmp_path: Path, sections: dict[str, object], message: str
) -> None:
    with pytest.raises(ConfigInvalid) as raised:
        read_intents(changed(tmp_path, **sections))
    assert message in str(raised.value)
    assert "intents.yaml" in str(raised.value)


def test_weights_come_back_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "weights.npz"
    made = likeness()
    write_weights(path, made, "digest")
    read = read_weights(path)
    assert (read.labels, read.temperature) == (made.labels, made.temperature)
    for text in ("publish it", "what did we write", ""):
        assert np.allclose(read.scores(text), made.scores(text), atol=1e-3)


@pytest.mark.parametrize("content", [None, b"", b"no weights", b"PK\x05\x06" + bytes(18)])
def test_weights_that_cannot_be_used_are_refused(
    tmp_path: Path, shipped: Intents, content: bytes | None
) -> None:
    path = tmp_path / "weights.npz"
    if content is not None:
        path.write_bytes(content)
    for use in (
        lambda: read_weights(path),
        lambda: check_weights(shipped.model_copy(update={"weights": path})),
    ):
        with pytest.raises(ConfigInvalid, match=r"weights\.npz: can't be used .*run `make train-intents`"):
            use()


def test_weights_of_other_examples_are_refused(tmp_path: Path, shipped: Intents) -> None:
    changed_examples = shipped.model_copy(
        update={"examples": shipped.examples | {"general": ("hi there you",)}}
    )
    with pytest.raises(
        ConfigInvalid, match=r"trained on other examples than those .* run `make train-intents`"
    ):
        check_weights(changed_examples)
    voices = tmp_path / "voices"
    voices.mkdir()
    with pytest.raises(ConfigInvalid, match=r"voices: .* has no \*\.yaml"):
        check_weights(shipped.model_copy(update={"voices": voices}))
    (voices / "a.yaml").write_text("[]", encoding="utf-8")
    with pytest.raises(ConfigInvalid, match="trained on other examples"):
        check_weights(shipped.model_copy(update={"voices": voices}))


def test_a_voice_that_cannot_be_used_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    for content, fault in (
        ("- {text: hi, intent: dance, language: en}", "intent"),
        ("- {text: 12, intent: general, language: en}", "put it in quotes"),
        ("- [", "can't be read"),
    ):
        path.write_text(content, encoding="utf-8")
        with pytest.raises(ConfigInvalid, match=fault):
            read_voice(path)


@pytest.mark.parametrize(
    "message",
    [
        "tell me why article 7 got rejected",
        "on which grounds was article 31 refused?",
        "did the editors decide on my article 5",
        "is article 9 online by now?",
        "with what words was article 8 refused",
        "powód odrzucenia artykułu 4",
        "kto i kiedy odrzucił artykuł 6?",
        "czy mój artykuł 16 już opublikowano?",
        "co postanowiono w sprawie artykułu 3",
        "weshalb hat jemand Artikel 7 abgelehnt?",
        "Stand von Artikel 5?",
        "ist mein Artikel 16 inzwischen online?",
        "mit welcher Begründung wurde Artikel 4 abgelehnt",
        "can you tell why research 3 was rejected?",
    ],
)
def test_what_became_of_a_thing_is_asked_of_that_thing(shipped: Intents, message: str) -> None:
    """None of these is an example. Both intents tell of the article that a message names."""
    found = read_weights(shipped.weights).probabilities(normal_form(message))
    there = (*shipped.examples["tasks"], *shipped.examples["approvals"])
    assert normal_form(message) not in {normal_form(each) for each in there}
    assert max(found, key=lambda intent: found[intent]) in ("tasks", "approvals")


@pytest.mark.parametrize(
    ("message", "intent"),
    [
        ("publish article 16", "publish"),
        ("reject article 11", "changes"),
        ("odrzuć artykuł 12", "changes"),
        ("what is article 12 about?", "read"),
        ("why did unemployment fall?", "read"),
        ("dlaczego spadło bezrobocie?", "read"),
        ("warum sank die Arbeitslosigkeit?", "read"),
        ("can article 12 be published now?", "publish"),
    ],
)
def test_what_is_to_be_done_or_read_is_not_taken_for_it(shipped: Intents, message: str, intent: str) -> None:
    found = read_weights(shipped.weights).probabilities(normal_form(message))
    assert max(found, key=lambda each: found[each]) == intent
