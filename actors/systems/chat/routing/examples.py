"""Reads the examples that messages are routed by: the file of intents, and the voices beside it."""

from pathlib import Path

from pydantic import ValidationError

from actors.platform.text.classifying.messages_file import read_messages
from actors.platform.text.normal_form import has_letters, normal_form
from models.chat.intents import Intents, Voiced
from models.chat.messages import INTENTS, Intent
from models.config.strict_yaml import faults, read_mapping
from models.errors import ConfigInvalid


def read_intents(path: Path) -> Intents:
    """The examples in a YAML file.

    Raises:
        ConfigInvalid: one line per fault, with the file, the key path and the reason.
    """
    raw = read_mapping(path)
    try:
        intents = Intents.model_validate(raw)
    except ValidationError as error:
        raise ConfigInvalid("\n".join(faults(lambda _: path, raw, error))) from error
    if missing := [intent for intent in INTENTS if not intents.examples.get(intent)]:
        raise ConfigInvalid(f"{path}: examples: lacks examples of {', '.join(missing)}: add some of each")
    if wrong := _contradictions(intents):
        raise ConfigInvalid("\n".join(f"{path}: examples.{fault}" for fault in wrong))
    base = path.resolve().parent
    return intents.model_copy(update={"voices": base / intents.voices, "weights": base / intents.weights})


def read_voice(path: Path) -> tuple[Voiced, ...]:
    """The messages of one voice. ConfigInvalid: one line per fault."""
    return read_messages(path, Voiced)


def _contradictions(intents: Intents) -> list[str]:
    """Examples that say nothing, or the same as one of another intent."""
    seen: dict[str, Intent] = {}
    wrong = []
    for intent, examples in intents.examples.items():
        for example in examples:
            normal = normal_form(example)
            if not has_letters(normal):
                wrong.append(f"{intent}: {example!r} has no words: leave it out")
            elif (other := seen.setdefault(normal, intent)) != intent:
                wrong.append(f"{intent}: {example!r} is an example of {other} too: keep one of them")
    return wrong
