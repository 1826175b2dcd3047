"""What the chat says by itself: whole in each language, and in the language of whoever asks."""

import jinja2
import pytest
from jinja2 import meta

from actors.platform.text.lexicon import lexicon
from actors.systems.chat.turn.messages import language_of_turn, site_text
from models.chat.messages import ChatMessage
from models.errors import PromptInvalid
from tests.unit.chat.routing.routers import turn

ENGLISH = lexicon("en", "messages")


def _values(source: str) -> set[str]:
    """The names of what a template is given."""
    return meta.find_undeclared_variables(jinja2.Environment(autoescape=False).parse(source))


@pytest.mark.parametrize("language", ["de", "pl"])
def test_a_language_says_all_that_english_says(language: str) -> None:
    assert list(lexicon(language, "messages")) == list(ENGLISH)


@pytest.mark.parametrize("language", ["de", "pl"])
def test_a_text_is_given_the_same_values_in_every_language(language: str) -> None:
    for name, source in lexicon(language, "messages").items():
        assert _values(source) == _values(ENGLISH[name]), name


def test_what_a_language_lacks_is_said_in_english() -> None:
    assert site_text("asked_too_late", "pl").startswith("Nic nie zrobiono")
    assert site_text("asked_too_late", "de").startswith("Es ist nichts geschehen")
    assert site_text("asked_too_late", "cs") == site_text("asked_too_late", "en")
    with pytest.raises(PromptInvalid, match="has no such_a_thing: add it"):
        site_text("such_a_thing", "en")


@pytest.mark.parametrize(
    ("message", "before", "language"),
    [
        ("Która to była decyzja?", "", "pl"),
        ("Wann wurde das entschieden?", "What about rates?", "de"),
        ("12", "Czy możesz opublikować artykuł?", "pl"),
        ("ok", "", "en"),
        ("What about rates?", "Czy możesz opublikować artykuł?", "en"),
    ],
)
def test_the_language_is_that_of_the_message_or_of_what_was_said_before(
    message: str, before: str, language: str
) -> None:
    history = (ChatMessage(role="user", content=before), ChatMessage(role="assistant", content="Und dann?"))
    asked = turn(message).model_copy(update={"history": history if before else ()})
    assert language_of_turn(asked) == language
