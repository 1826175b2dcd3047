"""What the chat says to people by itself, in the language of whoever asks.

The templates are in the folders of the languages (`messages.yaml`). What a language lacks is said in English.
"""

from functools import cache

from actors.platform.llm.prompts import Prompt
from actors.platform.text.language import language_told_by
from actors.platform.text.lexicon import ENGLISH, Language, lexicon
from models.chat.messages import Turn
from models.errors import PromptInvalid

_FILE = "messages"


def site_text(name: str, language: Language, **values: object) -> str:
    """A text for people, without white space around it.

    Raises:
        PromptInvalid: there is no such text, or it names what is not given.
    """
    return _template(name, language).render(**values).strip()


def language_of_turn(turn: Turn) -> Language:
    """The language of a message; of the newest before it that tells one, where it does not: `12`, `OK`."""
    said = [turn.message, *(each.content for each in reversed(turn.history) if each.role == "user")]
    return next((told for text in said if (told := language_told_by(text)) is not None), ENGLISH)


@cache
def _template(name: str, language: Language) -> Prompt:
    for spoken in (language, ENGLISH):
        if source := lexicon(spoken, _FILE).get(name):
            return Prompt(source=source, name=f"{_FILE}.yaml ({spoken}): {name}")
    raise PromptInvalid(f"configs/languages/{ENGLISH}/{_FILE}.yaml has no {name}: add it")
