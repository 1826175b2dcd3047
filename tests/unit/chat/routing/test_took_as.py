"""The line that says what a message was taken for: when it is said, and that it can be said of everything."""

from itertools import permutations

import pytest

from actors.platform.llm.prompts import read_prompt
from actors.platform.runtime.directory import Directory
from actors.systems.chat.agents.main_chat import MainChat
from actors.systems.chat.routing.examples import read_intents
from actors.systems.chat.routing.weights_file import read_weights
from actors.systems.chat.turn.messages import site_text
from models.chat.intents import Intents
from models.chat.messages import INTENTS, Intent, Route, Routed
from models.config import Config
from tests.unit.chat.routing import routers

PROMPTS = routers.ROOT / "configs/prompts/chat"
LANGUAGES = ("de", "en", "pl")
QUESTION = routers.turn("What is there of article 12?")


@pytest.fixture(scope="module")
def shipped() -> Intents:
    return read_intents(routers.ROOT / "configs/intents.yaml")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_intent_can_be_told_from_every_other_in_one_line(language: str) -> None:
    told = [line(language, one, other) for one, other in permutations(INTENTS, 2)]
    assert len(set(told)) == len(INTENTS) * (len(INTENTS) - 1)
    assert all("\n" not in each and len(each) < 250 for each in told)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("instead", INTENTS)
async def test_what_it_says_to_write_is_taken_so(
    language: str, shipped: Intents, instead: Intent, config: Config
) -> None:
    """By the weights as shipped, and surely."""
    told = line(language, INTENTS[INTENTS.index(instead) - 1], instead)
    words = told[told.index(": ") + 3 : -2]
    router = routers.router(
        intents=shipped, likeness=read_weights(shipped.weights), settings=config.chat.routing
    )
    route = await router.route(routers.turn(words))
    assert (route.intent, route.sure) == (instead, True), words


async def test_it_is_said_of_guesses_alone(shipped: Intents, config: Config) -> None:
    prompts = {path.stem: read_prompt(PROMPTS, path.name) for path in PROMPTS.glob("*.md")}
    directory = Directory(config=config, roles="actors.platform.systems:roles")
    agent = MainChat(config=config, directory=directory, prompts=prompts, intents=shipped)
    unsure = agent._took_as(QUESTION, route(sure=False))
    assert unsure is not None
    assert "asking for an article's publication" in unsure
    assert "“review article 12”" in unsure
    assert agent._took_as(QUESTION, route(sure=True)) is None
    assert agent._took_as(QUESTION, route(sure=False).model_copy(update={"instead": None})) is None


def line(language: str, intent: Intent, instead: Intent) -> str:
    return site_text("took_as", language, INTENT=intent, INSTEAD=instead)


def route(*, sure: bool) -> Route:
    return Route(
        intent="publish", agent_type="editor", topic=None, reason="r", score=0.5, by="best_guess",
        sure=sure, instead="review",
    )  # fmt: skip


def test_it_stands_in_what_is_told_of_the_route() -> None:
    guessed = route(sure=False).model_copy(update={"took_as": "I took this for it"})
    assert '"took_as":"I took this for it"' in Routed.of(guessed).model_dump_json()
